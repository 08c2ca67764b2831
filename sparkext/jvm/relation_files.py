"""The files that relations are made of, by which it is known that they have changed.

To Spark, two relations over one directory are equal, whatever files are in it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.gateway import class_object, items, java_class, option, scala_map, scala_object, scala_seq
from sparkext.jvm.plans import Plan, kind_of, with_subqueries

_OF_FILES = "HadoopFsRelation"
_OF_SECOND_VERSION = "DataSourceV2Relation"
_FILE_TABLE = "org.apache.spark.sql.execution.datasources.v2.FileTable"
_OTHER = "LogicalRelation of "
_FILE_INDEX = "org.apache.spark.sql.execution.datasources.InMemoryFileIndex"
_NOWHERE = "org.apache.spark.sql.execution.datasources.NoopCache"
_BETWEEN = "\0"
_FILTERS = ("pathglobfilter", "modifiedbefore", "modifiedafter")
"""Options of readers that leave files out, which Spark reads in any case."""
_READ = re.compile(r" access_time=\d+;")
"""What changes in the status of a file when somebody reads it."""
_LOCATION = re.compile(r"^\s*Location: (.*)$", re.MULTILINE)
"""In what Spark shows of a partition."""


@dataclass(frozen=True, slots=True)
class SourceVersion:
    """What decides the rows of a relation at some time, as far as it is known.

    Attributes:
        files: Of the relations of files that it reads.
        confs: Of the session, by name, sorted: those that say how files are read, and what expressions give.
        kept: What is read that a user has asked Spark to keep, which may be older than the files.
    """

    files: tuple[Listing, ...] = ()
    confs: tuple[tuple[str, str], ...] = ()
    kept: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """What is known of the files of a relation at some time.

    Attributes:
        paths: Directories and files that it is made of.
        present: Digest of the files, with times and sizes, that are there.
        seen_by_spark: Of those that Spark will read, as it has seen them; None where it looks when it reads.
    """

    paths: tuple[str, ...]
    present: str
    seen_by_spark: str | None

    @property
    def is_current(self) -> bool:
        """Whether Spark reads what is there."""
        return self.seen_by_spark in (None, self.present)


def listings(frame: AnalysedFrame) -> tuple[Listing, ...]:
    """The files below each relation that ``frame`` reads. Directories are listed, and no file is opened."""
    return tuple(_listings(frame))


def _listings(frame: AnalysedFrame) -> Iterator[Listing]:
    for kind, leaf in _leaves(frame):
        if isinstance(leaf, _FileIndex):
            yield _of_index(frame.sparkSession, leaf)
        elif kind == "HiveTableRelation":
            yield _of_hive(frame.sparkSession, leaf.tableMeta())


class _FileIndex:
    """Spark's index of the files of a relation.

    Attributes:
        index: The object of the JVM.
        kind: Its class.
        roots: Directories and files that it is made of, a ``Seq`` of Scala's.
        paths: As text.
    """

    def __init__(self, index: Any, relation: Any = None) -> None:
        """The index of a relation of files, from objects of the JVM; the relation is left out if it has no options."""
        self.index = index
        self._relation = relation
        self.kind = kind_of(self.index)
        self.roots = self.index.rootPaths()
        self.paths = tuple(str(self.roots.mkString(_BETWEEN)).split(_BETWEEN))

    @cached_property
    def filters(self) -> dict[str, str]:
        """Options of the reader that leave files out."""
        if self._relation is None:
            return {}
        pairs = str(self._relation.options().mkString(_BETWEEN)).split(_BETWEEN)
        given = dict(pair.partition(" -> ")[::2] for pair in pairs)
        return {name: value for name, value in given.items() if name.lower() in _FILTERS}


def _of_index(spark: SparkSession, files: _FileIndex) -> Listing:
    match files.kind:
        case "InMemoryFileIndex":
            return Listing(files.paths, _present(spark, files.roots, files.filters), _statuses(files.index.allFiles()))
        case "CatalogFileIndex":
            # Of a partitioned table, whose partitions may be anywhere. Spark keeps what it has seen of them until
            # something in this application changes the table, so this costs it no listing.
            seen = files.index.filterPartitions(scala_seq([]))
            partitions = _digest(str(seen.partitionSpec().toString()))
            return Listing(files.paths, _statuses(seen.allFiles()) + partitions, None)
        case _:
            return Listing(files.paths, _present(spark, files.roots, files.filters), None)


def _of_hive(spark: SparkSession, table: Any) -> Listing:
    """The files of a table that Hive reads; its partitions may be anywhere."""
    partitions = ""
    if table.partitionColumnNames().nonEmpty():
        catalog = spark._jsparkSession.sessionState().catalog()
        partitions = str(catalog.listPartitions(table.identifier(), option(None)).mkString("\n"))
    paths = (str(table.location()), *_LOCATION.findall(partitions))
    roots = scala_seq(map(java_class("org.apache.hadoop.fs.Path"), paths))
    return Listing(paths, _present(spark, roots, {}) + _digest(partitions), None)


def reads_one_relation(frame: AnalysedFrame) -> bool:
    """Whether there is one relation, and no more, that ``frame`` reads."""
    return sum(int(plan.collectLeaves().size()) for plan in with_subqueries(frame.analysed_plan)) == 1


def is_read_when_planned(frame: AnalysedFrame) -> bool:
    """Whether ``frame`` reads a relation that Spark looks at when it plans, and no later, and that is not of files.

    What has been planned over it gives the rows of then however often it is run.
    """
    return any(kind == _OF_SECOND_VERSION for kind, _ in _leaves(frame))


def not_followed(frame: AnalysedFrame) -> tuple[str, ...]:
    """Relations that ``frame`` reads and whose changes nothing tells of, such as tables of another database."""
    return tuple(_not_followed(frame))


def _not_followed(frame: AnalysedFrame) -> Iterator[str]:
    for kind, leaf in _leaves(frame):
        if kind == _OF_SECOND_VERSION:
            yield str(leaf.name())
        elif kind.startswith(_OTHER):
            yield str(leaf.toString())


_known: WeakKeyDictionary[AnalysedFrame, list[tuple[str, Any]]] = WeakKeyDictionary()
"""What frames read that have been asked for it."""


def _leaves(frame: AnalysedFrame) -> list[tuple[str, Any]]:
    """Kind of each relation that a frame reads, and what it is: of a ``LogicalRelation`` that of the relation in it.

    Those that subqueries in its expressions read are among them. Of a relation of files it is the `_FileIndex`.
    """
    leaves = _known.get(frame)
    if leaves is None:
        plans = with_subqueries(frame.analysed_plan)
        leaves = _known[frame] = [_leaf(leaf) for plan in plans for leaf in items(plan.collectLeaves())]
    return leaves


def _leaf(plan: Plan) -> tuple[str, Any]:
    kind = kind_of(plan)
    if kind == _OF_SECOND_VERSION and class_object(_FILE_TABLE).isInstance(plan.table()):
        return _OF_FILES, _FileIndex(plan.table().fileIndex())
    if kind != "LogicalRelation":
        return kind, plan
    relation = plan.relation()
    inner = kind_of(relation)
    if inner == _OF_FILES:
        return inner, _FileIndex(relation.location(), relation)
    return f"{_OTHER}{inner}", relation


def _present(spark: SparkSession, paths: Any, filters: dict[str, str]) -> str:
    """The files below ``paths``, a ``Seq`` of them, as they are now: Spark lists them, past all that it has kept."""
    options, nothing, nowhere = _always(java_class(_FILE_INDEX), tuple(filters.items()))
    try:
        index = java_class(_FILE_INDEX)(spark._jsparkSession, paths, options, nothing, nowhere, nothing, nothing)
    except PySparkException:
        return ""  # some cannot be looked at; Spark says so when it is to read them
    return _statuses(index.allFiles())


@lru_cache(maxsize=64)
def _always(_: Any, filters: tuple[tuple[str, str], ...]) -> tuple[Any, Any, Any]:
    """What listings are given, which the JVM of a class is asked for once: options, ``None``, and no cache."""
    return scala_map({"recursiveFileLookup": "true"} | dict(filters)), option(None), scala_object(_NOWHERE)


def _statuses(files: Any) -> str:
    return _digest("\n".join(sorted(_READ.sub("", str(files.mkString("\n"))).split("\n"))))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
