"""Runs of permanent views that the sessions of an application have in common.

As Spark's own cache does, it goes by what a session asks for once the session itself has analysed it: its names, its
rights, its settings. A session takes over a run that computes nothing but queries which its own analysis has found.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from pyspark import SparkContext
from pyspark.sql import SparkSession

from sparkext.binding.bound_query import BoundQuery
from sparkext.jvm.application import is_stopped
from sparkext.jvm.frames import columns_of
from sparkext.jvm.relation_files import SourceVersion
from sparkext.jvm.session_free import is_session_free
from sparkext.jvm.sessions import shared_state
from sparkext.settings import Confs
from sparkext.workload.collector import Collector
from sparkext.workload.releases import Releases
from sparkext.workload.run import Run

Alike: TypeAlias = tuple[object, ...]
"""What queries of different sessions have in common if one run may compute them, beside their meaning."""


def alike(query: BoundQuery, confs: Confs) -> Alike:
    """What other sessions' queries must have in common with one, of a session with these confs.

    The texts of its keys and time, the names of the columns, the confs that its analysis reads, and those by which the
    session reaches files.
    """
    source, hadoop = query.source, sorted(item for item in confs.items() if not item[0].startswith("spark."))
    groups, partitions = query.sorted_groups, query.sorted_partitions
    return (
        replace(query.state.environment, namespace=()),
        tuple(key.canonical for key in groups),
        tuple(key.canonical for key in partitions),
        (query.time_canonical, *(canonical for canonical, _ in query.further_order)),
        tuple(source.columns if len(set(source.columns)) == len(source.columns) else source.qualified_names()),
        tuple(hadoop),
    )


def are_session_free(queries: Sequence[BoundQuery]) -> bool:
    """Whether queries of one source give the same rows in whatever session equal ones are asked for."""
    if any(query.has_variables or query.meaning.is_of_now or query.needs_schema for query in queries):
        return False
    texts = dict.fromkeys(text for query in queries for text in query.texts)
    return is_session_free(columns_of(queries[0].source, (f"({text}\n)" for text in texts)))


@dataclass(slots=True, eq=False)
class _Shared:
    """A run that sessions share.

    Attributes:
        run: Its own hold of the results.
        alike: What queries that it serves have in common.
        seconds: How long it stays once no session has it.
        had: When a session was last seen to have it.
    """

    run: Run
    alike: Alike
    seconds: float
    had: float

    def is_had(self) -> bool:
        """Whether a session has it."""
        return len(self.run.holders) > 1

    def is_over(self) -> bool:
        """Whether nobody is to have it any more: a while after the last session, at once if nothing is computed."""
        now = time.monotonic()
        if self.is_had():
            self.had = now
            return False
        return now - self.had >= self.seconds or not self.run.is_computed()

    def is_older_than(self, run: Run) -> bool:
        """Whether it is of the same files as another run, as they were before."""
        own, its = self.run.version, run.version
        same_paths = [one.paths for one in own.files] == [one.paths for one in its.files]
        return own.confs == its.confs and same_paths and own != its


class SharedRuns:
    """Those of an application. Several threads may ask."""

    def __init__(self) -> None:
        """None yet."""
        self._changing = threading.Lock()
        self._runs: list[_Shared] = []
        self._planning: WeakValueDictionary[Alike, AbstractContextManager[object]] = WeakValueDictionary()
        self._collector = Collector(self.give_up_unasked)
        self._releases = Releases(self._collector)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._runs)

    def planning(self, alike: Alike) -> AbstractContextManager[object]:
        """Held by a session while it looks for a run of such queries, or plans one that another may be about to."""
        with self._changing:
            planning = self._planning.get(alike)
            if planning is None:
                planning = self._planning[alike] = threading.RLock()
            return planning

    def of(self, alike: Alike, version: SourceVersion) -> Iterator[Run]:
        """Runs of such queries over a source as it is now."""
        with self._changing:
            runs = [shared.run for shared in self._runs if shared.alike == alike]
        return (run for run in runs if run.version == version)

    def add(self, run: Run, alike: Alike, seconds: float) -> None:
        """Let other sessions have a run, of which all queries are `are_session_free`.

        Args:
            run: Of the session that has made it.
            alike: What its queries have in common.
            seconds: How long the results stay once no session has them.
        """
        shared = _Shared(replace(run), alike, seconds, time.monotonic())
        with self._changing:
            old = [other for other in self._runs if other.alike == alike and other.is_older_than(run)]
            self._runs = [*(other for other in self._runs if other not in old), shared]
        self._releases.release(other.run for other in old)
        self._collector.expect_later()

    def withdraw(self) -> None:
        """Let no session have any of those that there are; sessions that have them go on with them."""
        with self._changing:
            withdrawn, self._runs = self._runs, []
        self._releases.release(shared.run for shared in withdrawn)

    def give_up_unasked(self) -> None:
        """Give up results that no session has had for a while."""
        with self._changing:
            runs = list(self._runs)
        over = [shared for shared in runs if shared.is_over()]
        with self._changing:
            self._runs = [shared for shared in self._runs if shared not in over]
        self._releases.release(shared.run for shared in over)
        self._releases.again()
        if self._runs:
            self._collector.expect_later()


_applications: list[tuple[SparkContext, Any, SharedRuns]] = []
_finding = threading.Lock()


def shared_runs(spark: SparkSession) -> SharedRuns:
    """Those of the sessions that have their catalog and cache in common with one."""
    global _applications
    state = shared_state(spark)
    with _finding:
        found = next((runs for _, known, runs in _applications if known == state), None)
        if found is None:
            found = SharedRuns()
            going_on = [one for one in _applications if not is_stopped(one[0])]
            _applications = [*going_on, (spark.sparkContext, state, found)]
        return found
