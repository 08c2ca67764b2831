"""The files that relations are made of, by which it is known that they have changed.

To Spark, two relations over one directory are equal, whatever files are in it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from sparkext.jvm.gateway import items, option, scala_seq
from sparkext.jvm.plans import Plan, analysed_plan, kind_of

_OF_FILES = "HadoopFsRelation"
_READ = re.compile(r" access_time=\d+;")
"""What changes in the status of a file when somebody reads it."""
_LOCATION = re.compile(r"^\s*Location: (.*)$", re.MULTILINE)
"""In what Spark shows of a partition."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What is known of the files of a relation at some time.

    Attributes:
        places: Directories and files that it is made of.
        present: Digest of the files, with times and sizes, that are there.
        known: Of those that Spark will read, as it has seen them; None where it looks when it reads.
    """

    places: tuple[str, ...]
    present: str
    known: str | None

    @property
    def is_current(self) -> bool:
        """Whether Spark reads what is there."""
        return self.known in (None, self.present)


def listings(frame: DataFrame) -> tuple[Listing, ...]:
    """The files below each relation that ``frame`` reads. Directories are listed, and no file is opened."""
    return tuple(_listings(frame))


def _listings(frame: DataFrame) -> Iterator[Listing]:
    for leaf in _leaves(frame):
        match kind_of(leaf):
            case "LogicalRelation" if kind_of(leaf.relation()) == _OF_FILES:
                yield _of_index(frame.sparkSession, leaf.relation().location())
            case "HiveTableRelation":
                yield _of_hive(frame.sparkSession, leaf.tableMeta())
            case _:
                continue


def _of_index(spark: SparkSession, index: Any) -> Listing:
    places = tuple(str(path.toString()) for path in items(index.rootPaths()))
    match kind_of(index):
        case "InMemoryFileIndex":
            return Listing(places, _present(spark, places), _statuses(index.allFiles()))
        case "CatalogFileIndex":
            # Of a partitioned table, whose partitions may be anywhere. Spark keeps what it has seen of them until
            # something in this application changes the table, so this costs it no listing.
            seen = index.filterPartitions(scala_seq([]))
            return Listing(places, _statuses(seen.allFiles()) + _digest(str(seen.partitionSpec().toString())), None)
        case _:
            return Listing(places, _present(spark, places), None)


def _of_hive(spark: SparkSession, table: Any) -> Listing:
    """Of a table that Hive reads; its partitions may be anywhere."""
    partitions = ""
    if table.partitionColumnNames().nonEmpty():
        catalog = spark._jsparkSession.sessionState().catalog()
        partitions = str(catalog.listPartitions(table.identifier(), option(None)).mkString("\n"))
    places = (str(table.location()), *_LOCATION.findall(partitions))
    return Listing(places, _present(spark, places) + _digest(partitions), None)


def not_followed(frame: DataFrame) -> tuple[str, ...]:
    """Relations that ``frame`` reads and whose changes nothing tells of, such as tables of another database."""
    return tuple(_not_followed(frame))


def _not_followed(frame: DataFrame) -> Iterator[str]:
    for leaf in _leaves(frame):
        match kind_of(leaf):
            case "LogicalRelation" if kind_of(leaf.relation()) != _OF_FILES:
                yield str(leaf.relation().toString())
            case "DataSourceV2Relation":
                yield str(leaf.name())
            case _:
                pass


def _leaves(frame: DataFrame) -> list[Plan]:
    return items(analysed_plan(frame).collectLeaves())


def _present(spark: SparkSession, places: tuple[str, ...]) -> str:
    try:
        found = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(list(places))
    except PySparkException:
        return ""  # some are gone; Spark says so when it is to read them
    return next((_statuses(leaf.relation().location().allFiles()) for leaf in _leaves(found)), "")


def _statuses(files: Any) -> str:
    return _digest("\n".join(sorted(_READ.sub("", str(files.mkString("\n"))).split("\n"))))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
