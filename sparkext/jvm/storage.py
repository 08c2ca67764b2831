"""What Spark keeps, whoever has asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from sparkext.jvm.gateway import JvmError, items, java_class, option


class KeptPlans:
    """Whether Spark keeps rows of certain plans. It is looked at anew only if what Spark keeps has changed."""

    def __init__(self, spark: SparkSession, word: str, ours: str) -> None:
        """Of all sessions that share what they keep with this one.

        Args:
            spark: A session.
            word: That the plans have in their text.
            ours: Beginning of the names of those that do not count.
        """
        self._word = word
        self._ours = ours
        self._manager = spark._jsparkSession.sharedState().cacheManager()
        self._identity = java_class("java.lang.System").identityHashCode
        self._field: Any = None
        self._seen = 0
        self._found = False

    def has_others(self) -> bool:
        """Whether there is such a plan. Where Spark does not tell, there may be one."""
        try:
            if self._field is None:
                self._field = self._manager.getClass().getDeclaredField("cachedData")
                self._field.setAccessible(True)
            kept = self._field.get(self._manager)
            if (seen := int(self._identity(kept))) != self._seen:
                self._found = any(map(self._is_other, items(kept)))
                self._seen = seen
        except JvmError:
            return True
        return self._found

    def _is_other(self, kept: Any) -> bool:
        name = kept.cachedRepresentation().cacheBuilder().tableName()
        is_ours = bool(name.isDefined()) and str(name.get()).startswith(self._ours)
        return not is_ours and self._word in str(kept.plan().toString())


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
