"""What Spark keeps, whoever has asked for it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import frame_of_plan
from sparkext.jvm.gateway import JvmError, items, java_class, option
from sparkext.jvm.plans import kind_of


class KeptPlans:
    """What users have asked Spark to keep. It is looked at anew only if what Spark keeps has changed."""

    def __init__(self, spark: SparkSession, word: str, ours: str) -> None:
        """Of all sessions that share what they keep with this one.

        Args:
            spark: A session.
            word: That plans with trends have in their text.
            ours: Beginning of the names of those that do not count.
        """
        self._word = word
        self._ours = ours
        self._manager = spark._jsparkSession.sharedState().cacheManager()
        self._identity = java_class("java.lang.System").identityHashCode
        self._field: Any = None
        self._seen = 0
        self._found = False
        self._have_trends = False
        self._read_by: WeakKeyDictionary[AnalysedFrame, tuple[int, tuple[int, ...]]] = WeakKeyDictionary()

    def has_trends(self) -> bool:
        """Whether users keep rows of trends, as of the last look; they may, where Spark does not tell."""
        try:
            if self._field is None:
                self._look()
        except JvmError:
            return True
        return self._have_trends

    def read_by(self, frame: AnalysedFrame) -> tuple[int, ...]:
        """What a frame would read of that if it were read now, told apart by what Spark keeps it in."""
        with suppress(JvmError):  # where Spark does not tell
            self._look()
        if not self._found:
            return ()
        known = self._read_by.get(frame)
        if known is None or known[0] != self._seen:
            seen, plan = self._seen, frame_of_plan(frame.sparkSession, frame.analysed_plan)._jdf.queryExecution()
            leaves = items(plan.withCachedData().collectLeaves())
            kept = [leaf.cacheBuilder() for leaf in leaves if kind_of(leaf) == "InMemoryRelation"]
            builders = tuple(int(self._identity(builder)) for builder in kept if not self._is_ours(builder))
            known = self._read_by[frame] = seen, builders
        return known[1]

    def _look(self) -> None:
        if self._field is None:
            self._field = self._manager.getClass().getDeclaredField("cachedData")
            self._field.setAccessible(True)
        kept = self._field.get(self._manager)
        if (seen := int(self._identity(kept))) != self._seen:
            others = [one for one in items(kept) if not self._is_ours(one.cachedRepresentation().cacheBuilder())]
            self._found = bool(others)
            self._have_trends = any(self._word in str(one.plan().toString()) for one in others)
            self._seen = seen

    def _is_ours(self, builder: Any) -> bool:
        name = builder.tableName()
        return bool(name.isDefined()) and str(name.get()).startswith(self._ours)


def keep(rows: DataFrame, name: str, level: StorageLevel) -> None:
    """As ``rows.persist(level)``, with a name by which plans and the page of what is stored call it."""
    java_level = rows.sparkSession.sparkContext._getJavaStorageLevel(level)
    _manager(rows).cacheQuery(rows._jdf, option(name), java_level)
    rows.is_cached = True


def is_kept(rows: DataFrame) -> bool:
    """Whether Spark keeps ``rows``, or will as soon as something computes them."""
    return bool(_kept(rows).isDefined())


def is_computed(rows: DataFrame) -> bool:
    """Whether Spark keeps ``rows`` and has computed them."""
    builder = _builders.get(rows)
    if builder is not None and builder.isCachedColumnBuffersLoaded():
        return True
    kept = _kept(rows)
    if not kept.isDefined():
        return False
    builder = _builders[rows] = kept.get().cachedRepresentation().cacheBuilder()
    return bool(builder.isCachedColumnBuffersLoaded())


_builders: WeakKeyDictionary[DataFrame, Any] = WeakKeyDictionary()
"""What keeps frames that have been asked for it: emptied when Spark keeps them no more, or by another."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is kept.

    Attributes:
        bytes: In memory, or on disk where there was not enough.
        rows: None before they have been computed.
    """

    bytes: int
    rows: int | None


def kept_size(rows: DataFrame) -> Size | None:
    """Size of rows that are kept; None if they are kept no more, since another thread has cleared the cache."""
    kept = _kept(rows)
    if not kept.isDefined():
        return None
    statistics = kept.get().cachedRepresentation().stats()
    number = statistics.rowCount()
    return Size(int(statistics.sizeInBytes()), int(number.get()) if number.isDefined() else None)


def _kept(rows: DataFrame) -> Any:
    return _manager(rows).lookupCachedData(rows._jdf)


_managers: WeakKeyDictionary[SparkSession, Any] = WeakKeyDictionary()
"""Of sessions that have been asked for it, which is one for all their lives."""


def _manager(rows: DataFrame) -> Any:
    spark = rows.sparkSession
    manager = _managers.get(spark)
    if manager is None:
        manager = _managers[spark] = spark._jsparkSession.sharedState().cacheManager()
    return manager
