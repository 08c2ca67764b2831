"""What becomes of the state of a bucket when it is to be of use to other queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from sparkext.udfs.streams.stored import NEVER, Header, UnusableError
from sparkext.udfs.streams.stream_plan import StreamPlan, StreamQuery

_FIRST = datetime(1970, 1, 1, tzinfo=timezone.utc)
_GONE, _NEW = "is not there any more", "is new"
_REMEDY = "Start with a new checkpoint, or with the query as it was"


def check_state(header: Header, of: StreamPlan) -> None:
    """Refuse a state that is of no use for what is to be computed.

    Raises:
        UnusableError: With what is different, and what to do.
    """
    if header.buckets != of.buckets:
        raise UnusableError(
            f"it has {header.buckets} buckets, and spark.sparkext.stream.buckets is {of.buckets}. "
            f"Set it to {header.buckets}, or start with a new checkpoint"
        )
    parts = [part for part in of.meaning if header.meaning.get(part) != of.meaning[part]]
    if parts:
        was = "; ".join(f"{part} was {header.meaning.get(part)} and is {of.meaning[part]}" for part in parts)
        raise UnusableError(f"it is that of another query: {was}. {_REMEDY}")
    if of.on_change == "refuse" and is_of_others(header, of):
        lines = "; ".join(f"{text} {what}" for text, what in _differences(header, of))
        raise UnusableError(
            f"it is that of other queries: {lines}. {_REMEDY}, or SET spark.sparkext.stream.onChange = list to see "
            "from when on the rows of each are right, and allow to go on"
        )


def is_of_others(header: Header, of: StreamPlan) -> bool:
    """Whether a state is that of other queries, or of queries that need something else."""
    return header.queries.keys() != {query.text for query in of.queries} or header.needs.keys() != set(of.needs)


@dataclass(frozen=True, slots=True)
class Adopted:
    """From when on what is there, after a change.

    Attributes:
        needs: See `Header`.
        queries: Likewise.
        whole_from: Likewise.
    """

    needs: dict[str, int]
    queries: dict[str, int]
    whole_from: int


def adopted(header: Header, of: StreamPlan, watermark: int) -> Adopted:
    """From when on there are all events that queries need, if they go on from the state of others.

    What the others did not need has been kept of no event that came before. All of these have times up to the
    watermark and its delay.

    Args:
        header: Of the state.
        of: What is to be computed.
        watermark: Of the first micro-batch of the new queries.

    Raises:
        UnusableError: It cannot be known when the last event before the change was.
    """
    fresh = NEVER if of.ahead is None else max(first_unseen(watermark, of.ahead), header.seen)
    is_known = of.ahead is not None and header.ahead is not None and header.latest < fresh
    is_new = any(name not in header.needs for name in of.needs)
    if not is_known and (is_new or header.has_gaps):
        raise UnusableError(
            f"queries need other events or columns, and the stream has more than one watermark: it is not known from "
            f"when on these are all there. {_REMEDY}"
        )
    needs = {name: header.needs.get(name, fresh) for name in of.needs}
    whole_from = max(header.whole_from, fresh) if header.has_gaps else header.whole_from
    queries = {query.text: _since(query, header, of, needs, whole_from) for query in of.queries}
    return Adopted(needs, queries, whole_from)


def first_unseen(watermark: int, ahead: int) -> int:
    """The first time of which no event has come before a micro-batch with that watermark; the first one is 0."""
    return (0 if watermark == NEVER else watermark) + ahead + 1


def _since(query: StreamQuery, header: Header, of: StreamPlan, needs: Mapping[str, int], whole_from: int) -> int:
    was = header.queries.get(query.text)
    if was is not None:
        return was
    since = max([whole_from, *(needs[name] for name in query.needs)])
    return since if header.finality == of.finality else max(since, header.until)


def change_list(header: Header, of: StreamPlan, changed: Adopted) -> str:
    """For people: each query, what has changed, and from when on its rows are right."""
    lines = [("query", "what changed", "exact for what begins at")]
    for query in of.queries:
        new = [name for name in query.needs if name not in header.needs]
        what = "goes on" if query.text in header.queries else _NEW
        if new:
            what += f", and needs what was not kept: {'; '.join(new)}"
        lines.append((query.text, what, moment_text(changed.queries[query.text])))
    texts = {query.text for query in of.queries}
    lines += [(text, _GONE, "-") for text in header.queries if text not in texts]
    return "\n".join(" | ".join(line) for line in lines)


def _differences(header: Header, of: StreamPlan) -> list[tuple[str, str]]:
    """What is different, each with what has become of it."""
    texts = {query.text for query in of.queries}
    gone = [(text, _GONE) for text in header.queries if text not in texts]
    come = [(query.text, _NEW) for query in of.queries if query.text not in header.queries]
    if gone or come:
        return [*gone, *come]
    more = [(name, "is needed, and was not") for name in of.needs if name not in header.needs]
    return more + [(name, "is not needed any more") for name in header.needs if name not in of.needs]


def moment_text(time: int) -> str:
    """A time in microseconds since 1970, for people; ``any time`` if there is none before it."""
    try:
        return "any time" if time == NEVER else f"{_FIRST + timedelta(microseconds=time):%Y-%m-%d %H:%M:%S.%f} UTC"
    except OverflowError:
        return f"{time} µs after 1970"
