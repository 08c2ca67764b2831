"""What is computed of a stream, and which of its events may be needed for that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from sparkext.planner.kernel_plan.event_form import EventForm
from sparkext.planner.kernel_plan.kernel_plan import CompletionQuery, KernelPlan, Layout
from sparkext.planner.patterns.query import Window
from sparkext.udfs.streams.stored import NEVER
from sparkext.udfs.streams.windows_of_events import last_ended, waits_after_window


@dataclass(frozen=True, slots=True)
class StreamQuery:
    """One of the queries that an operator computes.

    Attributes:
        text: What is computed, for people, by which it is known again.
        needs: Names of what it needs of events, of those of a `StreamPlan`.
        banks: Numbers of the banks of its rows.
        slide: How far its windows are from each other; None if it has none.
    """

    text: str
    needs: tuple[str, ...]
    banks: tuple[int, ...]
    slide: int | None


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """What is computed of a stream.

    Attributes:
        plan: By which kernel.
        layout: Of the events, behind a hash of their keys.
        buckets: Among how many buckets keys are divided.
        meaning: Of keys, time and order, by parts that people have names for: states of another one are of no use.
        queries: In the order of ``plan.results``.
        form: In which events are stored.
        needs: Names of what all queries need of events: their classes, and columns for events of some classes.
        schema: Of an event, with the hash of its keys.
        ahead: How much later than the watermark an event that has come may be; None where that is not known.
        on_change: What becomes of the state of other queries: ``refuse``, ``list`` or ``allow``.
        begins_at: The time from which on events are those of the stream; None if it has no history.
        late_schema: Of the rows, if there is one for each late event; see `sparkext.udfs.streams.late_rows.late_rows`.
    """

    plan: KernelPlan
    layout: Layout
    buckets: int
    meaning: dict[str, str]
    queries: tuple[StreamQuery, ...]
    form: EventForm
    needs: tuple[str, ...]
    schema: pa.Schema
    ahead: int | None = 0
    on_change: str = "refuse"
    begins_at: int | None = None
    late_schema: pa.Schema | None = None

    @property
    def windows(self) -> tuple[Window, ...]:
        """All kinds of windows but an unbounded one, which only completions with a span have."""
        asked = self.plan.completions
        if asked is not None and asked.windows is not None:
            return (asked.windows,)
        return tuple(window for window in self.plan.windows if window is not None)

    @property
    def completions(self) -> CompletionQuery | None:
        """The completions that are asked for, or the first of several that are final together."""
        return None if self.plan.completions is None else self.plan.completions.queries[0]

    @property
    def is_by_event(self) -> bool:
        """Whether each row is of an event, and final once the watermark has passed that, and for how long it waits."""
        asked = self.completions
        if asked is None or (self.plan.completions is not None and self.plan.completions.windows is not None):
            return False
        return asked.has_rows and (asked.wait is not None or not asked.waits)

    @property
    def span(self) -> int | None:
        """How much less than that a completion is after the first event of its trend; None if windows say it."""
        return None if self.completions is None else self.completions.span

    @property
    def after(self) -> int:
        """How long after the end of its windows what follows on a completion may matter."""
        return 0 if self.completions is None else waits_after_window(self.completions)

    @property
    def finality(self) -> list[int | None]:
        """When rows are final: of queries with another one, some may have been written already."""
        wait = None if self.completions is None else self.completions.wait
        return [int(self.is_by_event), wait, self.after]

    @property
    def has_gaps(self) -> bool:
        """Whether all windows leave events between them out."""
        return self.span is None and all(window.slide > window.within for window in self.windows)

    def needed_from(self, watermark: int) -> int:
        """The time of the first event that rows may need which are not final at a watermark."""
        return self._first_needed(watermark, self.windows)

    def whole_from(self, watermark: int) -> int:
        """From when on all events are needed that may come, also between windows; of a plan without gaps."""
        windows = [window for window in self.windows if self.span is not None or window.slide <= window.within]
        return self._first_needed(watermark, windows)

    def _first_needed(self, watermark: int, windows: Sequence[Window]) -> int:
        if watermark == NEVER:
            return NEVER
        span = 1 if self.span is None else self.span
        if self.is_by_event and self.span is not None:
            first = watermark - self.after
        else:
            first = min((last_ended(window, watermark - self.after) + 1) * window.slide for window in windows)
        return max(NEVER, first - span + 1)
