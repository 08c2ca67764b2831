"""A pool: queries on the same source, keys and time, computed together in one pass."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.relation import names_alike
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import columns_of
from sparkext.jvm.relation_files import SourceVersion
from sparkext.workload.run import Run
from sparkext.workload.runs import Runs
from sparkext.workload.shared_runs import SharedRuns
from sparkext.workload.source import PoolSource


class Pool:
    """Queries that belong together.

    Attributes:
        source: What they read.
        runs: That compute them.
    """

    def __init__(
        self,
        spark: SparkSession,
        first: BoundQuery,
        optimizer: str | None = None,
        announce: Callable[[Run], None] = lambda _: None,
        shared: SharedRuns | None = None,
    ) -> None:
        """A pool of which nothing has been computed.

        Args:
            spark: Its session.
            first: A query that it takes.
            optimizer: That plans it; the one of the session if left out.
            announce: Called with each run that is made.
            shared: Runs that sessions have in common, if it may have such.
        """
        self.source = PoolSource(spark, first.source)
        self.runs = Runs(self.source, optimizer, announce, shared)
        self._first = first
        self._meant = first.meaning.source
        self._environment = replace(first.state.environment, namespace=())
        self._namespaces = {first.state.environment.namespace}
        self._is_of_schema = first.needs_schema
        self._taking = threading.Lock()
        self._keys = _key_texts(first)
        self._shape = _shape(first)
        self._compared: WeakKeyDictionary[AnalysedFrame, bool] = WeakKeyDictionary()

    def takes(self, query: BoundQuery, keyed: Callable[[], AnalysedFrame]) -> bool:
        """Whether ``query`` has the source, keys and time of this pool, and what they mean is the same.

        Queries of several schemas go together if what they call is the same in all of them. One that is taken belongs
        to the pool from then on.

        Args:
            query: The query.
            keyed: Gives its `keyed`.
        """
        own = query.state.environment
        if self._environment != replace(own, namespace=()):
            return False
        if not self._has_keys_of(query, keyed):
            return False
        with self._taking:
            namespaces, is_of_schema = self._namespaces | {own.namespace}, self._is_of_schema or query.needs_schema
            if len(namespaces) > 1 and is_of_schema:
                return False
            self._namespaces, self._is_of_schema = namespaces, is_of_schema
            return True

    def follow(self, frame: AnalysedFrame, version: SourceVersion) -> None:
        """Compute anew what was computed from another version of the source than that which there is now.

        Not while another thread plans a run of the version that it has seen.

        Args:
            frame: The source as Spark has analysed it now.
            version: Of the source.
        """
        is_other = version != self.source.version
        with self.runs.planning if is_other else nullcontext():
            if self.source.follow(frame, version):
                self.runs.forget_failures()

    @cached_property
    def _keyed(self) -> AnalysedFrame:
        return keyed(self._first)

    def _has_keys_of(self, query: BoundQuery, keyed_query: Callable[[], AnalysedFrame]) -> bool:
        if self._meant is query.meaning.source and self._keys == _key_texts(query):
            return True
        if self._shape != _shape(query) or not names_alike(self.source.frame, query.source):
            return False
        if self._keys == _key_texts(query):
            return self._is_mine(query.source)
        return bool(self._keyed.sameSemantics(keyed_query()))

    def _is_mine(self, frame: AnalysedFrame) -> bool:
        """Whether a relation, whose columns are called as those of the pool's, has the same rows."""
        same_rows = self._compared.get(frame)
        if same_rows is None:
            same_rows = self._compared[frame] = bool(self.source.frame.sameSemantics(frame))
        return same_rows


def _shape(query: BoundQuery) -> tuple[int, int, int]:
    """Numbers of what a pool goes by: groups, other keys, further expressions of ORDER BY."""
    return len(query.groups), len(query.partitions), len(query.further_order)


def _key_texts(query: BoundQuery) -> tuple[tuple[str, ...], ...]:
    """Canonical texts of keys and time, in the order of `keyed`."""
    groups, partitions = query.sorted_groups, query.sorted_partitions
    order = (query.time_canonical, *(canonical for canonical, _ in query.further_order))
    return tuple(key.canonical for key in groups), tuple(key.canonical for key in partitions), order


def keyed(query: BoundQuery) -> AnalysedFrame:
    """Keys and time of a query, over what it reads."""
    keys = [*query.sorted_groups, *query.sorted_partitions]
    order = (text for _, text in query.further_order)
    return columns_of(query.source, (f"({text}\n)" for text in (*(key.text for key in keys), query.time, *order)))
