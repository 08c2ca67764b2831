"""Whether the views of ``flights.sql`` hold what they should, computed anew in slow and obvious ways.

Nothing here uses ``MATCH_TREND``: trends are enumerated one by one in Python, counted by a closed form,
or joined by hand in Spark SQL.
"""

from __future__ import annotations

import gc
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from examples.flights import flights_table

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_EPOCH = datetime(1970, 1, 1)
_DAY = timedelta(days=1)

Rows: TypeAlias = dict[tuple[Any, ...], tuple[Any, ...]]
"""By group and start of window, or step of the funnel, the measures."""

Events: TypeAlias = dict[tuple[str, str, datetime], list["Flight"]]
"""By group, aircraft and start of window, the flights."""


class Flight(NamedTuple):
    """An event.

    Attributes:
        letter: O on time, L late, S late on a short hop, V very late, C cancelled.
        delay: Minutes; NaN when cancelled.
        distance: Miles.
        air_time: Minutes; NaN when it is not known.
    """

    aircraft: str
    carrier: str
    origin: str
    departs: datetime
    letter: str
    delay: float
    distance: int
    air_time: float


Trend: TypeAlias = tuple[Flight, ...]


@dataclass(frozen=True, slots=True)
class Enumerated:
    """What a view should hold, by enumeration.

    Attributes:
        view: Its name.
        group: The column in its GROUP BY.
        pattern: A regular expression over letters of flights.
        measures: From all trends of a group and window to the measures.
        within, slide: Of its windows.
    """

    view: str
    group: str
    pattern: str
    measures: Callable[[Sequence[Trend]], tuple[Any, ...]]
    within: timedelta = _DAY
    slide: timedelta = _DAY


@dataclass(frozen=True, slots=True)
class Check:
    """What came out for a view; it is right when there are no ``differences``."""

    view: str
    method: str
    rows: int
    differences: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """In a few words."""
        return f"{len(self.differences)} DIFFER, e.g. {self.differences[0]}" if self.differences else "all equal"


@dataclass(frozen=True, slots=True)
class Expected:
    """What a view should hold, and how that was found."""

    view: str
    method: str
    rows: Rows


def enumerated() -> list[Expected]:
    """What all views with windows but ``sudden`` should hold, without Spark."""
    gc.disable()  # it would look again and again at a million objects, all of which are needed to the end
    try:
        flights = sorted(_flights(), key=lambda flight: flight.departs)
        events: dict[tuple[str, timedelta, timedelta], Events] = {}
        found: list[Expected] = []
        for wanted in ENUMERATED:
            windows = wanted.group, wanted.within, wanted.slide
            if windows not in events:
                events[windows] = _by_window(wanted, flights)
            found.append(Expected(wanted.view, "trends enumerated", _enumerate(wanted, events[windows])))
        return [*found, Expected("bad_weeks", "closed form", _bad_weeks(flights))]
    finally:
        gc.enable()


def joined(spark: SparkSession) -> Expected:
    """What the view that is left should hold.

    Args:
        spark: A session in which the view ``flights`` is registered.
    """
    return Expected("sudden", "self-join in Spark SQL", _sudden(spark))


def looped() -> Expected:
    """What `steps_of` should give, without Spark."""
    flights = sorted(_flights(), key=lambda flight: flight.departs)
    return Expected("wrong_days", "loops over flights", _wrong_days(flights))


def steps_of(spark: SparkSession) -> list[Row]:
    """Of the funnel, for each carrier and step how many flights there are, and how many minutes they take."""
    return spark.sql(
        "SELECT carrier, step, NULL, count(*), sum(took), max(took), sum(size(evidence)) FROM wrong_days GROUP BY ALL"
    ).collect()


def check(expected: Expected, rows: Sequence[Row]) -> Check:
    """Compare all rows of a view with what it should hold."""
    found = by_group_and_window(rows)
    differences = [
        f"{key[0]}, {key[1]}: {found.get(key)} instead of {expected.rows.get(key)}"
        for key in sorted(found.keys() | expected.rows.keys())
        if not _equal(found.get(key), expected.rows.get(key))
    ]
    if len(rows) != len(found):
        differences.append(f"{len(rows) - len(found)} rows have the group and window of another")
    return Check(expected.view, expected.method, len(rows), tuple(differences))


def by_group_and_window(rows: Iterable[Row]) -> Rows:
    """The measures of rows whose columns are the group, the window's start (or the step), its end, and these."""
    return {(row[0], row[1]): tuple(row[3:]) for row in rows}


def _flights() -> Iterator[Flight]:
    table = flights_table()
    table = table[table.tailnum.notna()]
    departures = map(datetime, *(table[part].tolist() for part in ("year", "month", "day", "hour", "minute")))
    names = ("tailnum", "carrier", "origin", "dep_delay", "distance", "air_time")
    rows = zip(*(table[name].tolist() for name in names), departures, strict=True)
    for aircraft, carrier, origin, delay, distance, air_time, departs in rows:
        late = "S" if distance < 500 else "L"
        letter = "C" if math.isnan(delay) else "V" if delay >= 60 else late if delay >= 15 else "O"
        yield Flight(aircraft, carrier, origin, departs, letter, delay, distance, air_time)


@cache
def _windows(moment: datetime, within: timedelta, slide: timedelta) -> tuple[datetime, ...]:
    """Starts of all windows that hold ``moment``."""
    last = _EPOCH + (moment - _EPOCH) // slide * slide
    starts = (last - n * slide for n in range(within // slide + 1))
    return tuple(start for start in starts if start > moment - within)


def _by_window(wanted: Enumerated, flights: Iterable[Flight]) -> Events:
    """The events of each group, aircraft and window, in the order of time."""
    within, slide = wanted.within, wanted.slide
    events: Events = defaultdict(list)
    for flight in flights:
        group = getattr(flight, wanted.group)
        for start in _windows(flight.departs, within, slide):
            events[group, flight.aircraft, start].append(flight)
    return events


@cache
def _trends_of(pattern: str, word: str) -> list[tuple[int, ...]]:
    """The sets of places in a word whose letters are a word of the pattern, by trying all sets."""
    sets = (places for size in range(1, len(word) + 1) for places in combinations(range(len(word)), size))
    return [places for places in sets if re.fullmatch(pattern, "".join(word[place] for place in places))]


def _enumerate(wanted: Enumerated, events: Events) -> Rows:
    """All trends, from all sets of events of an aircraft in a window."""
    trends: dict[tuple[str, datetime], list[Trend]] = defaultdict(list)
    for (group, _, start), row in events.items():
        for places in _trends_of(wanted.pattern, "".join(flight.letter for flight in row)):
            trend = tuple(row[place] for place in places)
            if all(a.departs < b.departs for a, b in pairwise(trend)):
                trends[group, start].append(trend)
    return {key: wanted.measures(found) for key, found in trends.items()}


def _bad_weeks(flights: Iterable[Flight]) -> Rows:
    """Of n events, C(n, k) trends have k of them, and an event is in C(n - 1, k - 1) of these."""
    events: dict[tuple[str, str, datetime], dict[datetime, list[float]]] = defaultdict(lambda: defaultdict(list))
    for flight in flights:
        if flight.letter == "V":
            for start in _windows(flight.departs, timedelta(days=7), _DAY):
                events[flight.carrier, flight.aircraft, start][flight.departs].append(flight.delay)
    totals: dict[tuple[str, datetime], list[float]] = defaultdict(lambda: [0, 0, 0])
    for (carrier, _, start), times in events.items():
        # A trend has one event of each time, so several of one time are as many ways to choose it.
        ways = {time: len(delays) for time, delays in times.items()}
        found = totals[carrier, start]
        found[0] += _choices(ways.values(), 3)
        for time, delays in times.items():
            holding = _choices([number for other, number in ways.items() if other != time], 2)
            found[1] += holding * sum(delays)
            found[2] += holding * len(delays)
    return {key: (count, total / number) for key, (count, total, number) in totals.items() if count}


def _wrong_days(flights: Iterable[Flight]) -> Rows:
    """For each flight of the funnel, the latest flight on time that it can have begun with."""
    by_aircraft: dict[str, list[Flight]] = defaultdict(list)
    for flight in flights:
        by_aircraft[flight.aircraft].append(flight)
    totals: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0, 0, 0])
    for own in by_aircraft.values():
        for place, last in enumerate(own):
            steps = {"O": 1, "L": 2, "S": 2, "V": 3}.get(last.letter, 0)
            earlier = [e for e in own[:place] if last.departs - timedelta(hours=12) < e.departs < last.departs]
            first = last if steps == 1 else None
            for start in (e for e in earlier if e.letter == "O"):
                late = any(e.letter in "LS" and e.departs > start.departs for e in earlier)
                if steps == 2 or (steps == 3 and late):
                    first = start
            if first is not None:
                minutes = (last.departs - first.departs) // timedelta(minutes=1)
                found = totals[first.carrier, ("OnTime", "Late", "VeryLate")[steps - 1]]
                found[:] = found[0] + 1, found[1] + minutes, max(found[2], minutes), found[3] + steps
    return {key: tuple(found) for key, found in totals.items()}


def _choices(ways: Iterable[int], least: int) -> int:
    """In how many ways ``least`` or more of the times can be chosen, with one of the ``ways`` of each."""
    by_size = [1]
    for number in ways:
        by_size = [a + number * b for a, b in zip([*by_size, 0], [0, *by_size], strict=True)]
    return sum(by_size[least:])


def _sudden(spark: SparkSession) -> Rows:
    rows = spark.sql(
        """
        SELECT a.carrier, date_trunc('DAY', a.departs) AS day, COUNT(*) AS chains, AVG(b.delay), MAX(b.delay)
        FROM flights AS a JOIN flights AS b
          ON a.tailnum = b.tailnum AND a.carrier = b.carrier
          AND date(a.departs) = date(b.departs) AND a.departs < b.departs
        WHERE a.kind = 'OnTime' AND b.kind = 'VeryLate'
        GROUP BY ALL
        """
    ).collect()
    return {(row[0], row[1].replace(tzinfo=None)): tuple(row[2:]) for row in rows}


def _equal(found: tuple[Any, ...] | None, expected: tuple[Any, ...] | None) -> bool:
    """Whether the measures agree; quotients of counts have six digits after the point in Spark."""
    if found is None or expected is None or len(found) != len(expected):
        return False
    return all(
        a == b or (a is not None and b is not None and not isinstance(a, datetime) and _near(float(a), float(b)))
        for a, b in zip(found, expected, strict=True)
    )


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-6)


def _of(trends: Sequence[Trend], letters: str) -> list[Flight]:
    """The flights of these letters in all trends, each once per trend that holds it."""
    return [flight for trend in trends for flight in trend if flight.letter in letters]


def _mean(flights: Sequence[Flight]) -> float | None:
    return sum(flight.delay for flight in flights) / len(flights) if flights else None


def _longest(flights: Sequence[Flight]) -> float | None:
    return max((flight.air_time for flight in flights if not math.isnan(flight.air_time)), default=None)


ENUMERATED = (
    Enumerated("late_chains", "carrier", "[LS]+", lambda t: (len(t), len(_of(t, "LS")) / len(t), _mean(_of(t, "LS")))),
    Enumerated(
        "build_up",
        "carrier",
        "O[LS]+V",
        lambda t: (len(t), _mean(_of(t, "LS")), max(flight.delay for flight in _of(t, "V"))),
    ),
    Enumerated("cut_short", "carrier", "O[LS]+C", lambda t: (len(t), _mean(_of(t, "LS")))),
    Enumerated(
        "given_up",
        "carrier",
        "O[LSV]+C",
        lambda t: (len(t), len(_of(t, "LS")), len(_of(t, "V")), min(flight.departs for flight in _of(t, "C"))),
    ),
    Enumerated("recovery", "carrier", "V[LS]*O", lambda t: (len(t), _mean(_of(t, "V")), _mean(_of(t, "O")))),
    Enumerated(
        "short_hops",
        "carrier",
        "OSS+",
        lambda t: (len(t), sum(flight.distance for flight in _of(t, "S")) / len(t), _longest(_of(t, "S"))),
    ),
    Enumerated("airport_late", "origin", "[LSV]+", lambda t: (len(t), len(_of(t, "LSV")), _mean(_of(t, "V")))),
    Enumerated(
        "airport_recovery",
        "origin",
        "V[LS]*O",
        lambda t: (len(t), _mean(_of(t, "V"))),
        timedelta(hours=36),
        timedelta(hours=12),
    ),
)
