"""What a pool reads: the relation as it is now, and what is known of its events."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property

from pyspark.sql import SparkSession

from sparkext import settings
from sparkext.binding.bound_query import BoundQuery
from sparkext.execution import job_names
from sparkext.execution.sample import TaskCounters, sample
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.relation_files import SourceVersion, is_read_when_planned, not_followed
from sparkext.planner.costs.statistics import ExpectedEvents, ObservedStatistics, expectations, longest_window
from sparkext.planner.patterns.query import EventClass
from sparkext.planner.sharing.template import Template
from sparkext.settings import Confs
from sparkext.sql.quoting import one_line
from sparkext.workload.planning import PlanSettings
from sparkext.workload.remarks import say_seen

log = logging.getLogger(__name__)

LARGE_BYTES = 64 << 20
"""Size of a source from which on it matters whether one key has most of it, and how long the texts of keys are."""

MANY_LANES = 16
"""Live windows of a query from which on its own forms may pay."""


class PoolSource:
    """The relation that all queries of a pool read.

    Attributes:
        spark: The session.
        frame: As Spark has analysed it last.
        version: Of its files, and of what else its rows depend on.
        lessons: How often something new has been learned of its events.
    """

    def __init__(self, spark: SparkSession, frame: AnalysedFrame) -> None:
        self.spark = spark
        self.frame = frame
        self.version = SourceVersion()
        self.lessons = 0
        self._sampled: list[ObservedStatistics] = []
        self._counted: list[ObservedStatistics] = []

    def follow(self, frame: AnalysedFrame, version: SourceVersion) -> bool:
        """Take the relation as it is now; whether it gives other rows than before.

        Args:
            frame: As Spark has analysed it now.
            version: Of the relation.
        """
        self.frame = frame
        if version == self.version:
            return False
        has_other_files = version.files != self.version.files
        self.version = version
        for one in version.files if has_other_files else ():
            if not one.is_current:
                log.warning(
                    "Files of %s have changed since Spark looked for them, and Spark will not look again by itself. "
                    "For results of the files as they are now, REFRESH TABLE, or make the view or data frame anew.",
                    one_line(", ".join(one.paths)),
                )
        return True

    def has_files_of(self, other: PoolSource) -> bool:
        """Whether another source has files, or directories, that this one has, too."""
        own, its = ({path for one in source.version.files for path in one.paths} for source in (self, other))
        return not own.isdisjoint(its)

    @property
    def is_stream(self) -> bool:
        """Whether it is one."""
        return self.frame.is_stream

    @property
    def size(self) -> int:
        """What Spark takes it for, in bytes."""
        return self.frame.size_in_bytes

    def may_keep(self, query: BoundQuery, confs: Confs) -> bool:
        """Whether what a query gives now is what it gives until its source is seen to change, or the user says so."""
        wanted = settings.choice(confs, settings.CACHE)
        if wanted == "off" or query.meaning.is_of_now:
            return False
        return wanted == "on" or not self.not_followed

    @cached_property
    def is_read_when_planned(self) -> bool:
        """Whether what has been planned gives the rows of then."""
        return not self.is_stream and is_read_when_planned(self.frame)

    @cached_property
    def not_followed(self) -> tuple[str, ...]:
        """Relations that it is made of, of whose changes nothing tells."""
        return not_followed(self.frame)

    # What is known of its events.

    @property
    def seen(self) -> ObservedStatistics | None:
        """What the last pass has counted, or else what a sample shows; None before either."""
        return next(iter([*reversed(self._counted), *reversed(self._sampled)]), None)

    @property
    def sampled(self) -> ObservedStatistics | None:
        """What the last sample shows."""
        return self._sampled[-1] if self._sampled else None

    def learn(self, counted: TaskCounters) -> None:
        """Remember what the tasks of a pass have counted."""
        seen = counted.seen()
        if seen is not None and seen not in self._counted:
            self._counted = [other for other in self._counted if other.events.keys() != seen.events.keys()]
            self._counted.append(seen)
            self.lessons += 1

    def expected(
        self,
        queries: Sequence[BoundQuery],
        template: Template,
        wanted: PlanSettings,
        name: str = "",
        is_for_people: bool = False,
    ) -> dict[EventClass, ExpectedEvents]:
        """Statistics of the classes of a pass; a sample is taken if there is something to decide by it, or to show.

        Args:
            queries: Of the pass.
            template: Of their patterns.
            wanted: What the user has set; without rows to sample, no sample is taken.
            name: Of the run that is planned.
            is_for_people: Whether they are shown.
        """
        classes = list(dict.fromkeys(state.event for state in template.states))
        within = longest_window(query.query for query in queries)
        seen = [*reversed(self._counted), *reversed(self._sampled)]
        expected = expectations(classes, within, dict(wanted.statistics), seen)
        unknown = any(event.origin == "assumed" for event in expected.values())
        if unknown and not self.is_stream and (is_for_people or self._is_worth_a_look(queries, template)):
            with self.looking(name):
                sampled = sample(self.frame, queries, classes, wanted.sample_rows)
            if sampled is not None:
                self._sampled.append(sampled)
                self.lessons += 1
                say_seen(name, queries, sampled)
                return self.expected(queries, template, replace(wanted, sample_rows=0))
        return expected

    def looking(self, name: str) -> AbstractContextManager[None]:
        """While jobs look at the source to plan the run of a name, they are called so."""
        return job_names.described(self.spark, f"{name}: sample of its source")

    def _is_worth_a_look(self, queries: Sequence[BoundQuery], template: Template) -> bool:
        """Whether there is something that may or may not be shared, or that one key may have most of."""
        has_choice = any(len(transition.queries) > 1 for transition in template.transitions)
        return has_choice or most_live(queries) >= MANY_LANES or self.size >= LARGE_BYTES


def most_live(queries: Sequence[BoundQuery]) -> int:
    """Most windows that an event is in, for any of the queries."""
    return max((query.query.window.live for query in queries if query.query.window is not None), default=1)
