"""Plans of data frames, and what they say of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame

from sparkext.jvm.gateway import class_name, items, java_class

Plan: TypeAlias = Any
"""A plan of Spark's, or a node of one: an object of the JVM, for functions of this package and for Spark itself."""

_PATTERN = "org.apache.spark.sql.catalyst.trees.TreePattern"


_analysed: WeakKeyDictionary[DataFrame, Plan] = WeakKeyDictionary()
"""Of frames that have been asked for it: a frame has one for all its life."""


def analysed_plan(frame: DataFrame) -> Plan:
    """What a frame is, as Spark's analyzer has made it."""
    plan = _analysed.get(frame)
    if plan is None:
        plan = _analysed[frame] = frame._jdf.logicalPlan()
    return plan


def optimized_plan(frame: DataFrame) -> Plan:
    """What a frame is, as Spark's optimizer has made it."""
    return frame._jdf.queryExecution().optimizedPlan()


def plan_text(plan: Plan) -> str:
    """How Spark shows a plan."""
    return str(plan.toString())


_texts: WeakKeyDictionary[DataFrame, str] = WeakKeyDictionary()
"""Of frames that have been asked for it."""


def column_texts(frame: DataFrame) -> str:
    """How Spark shows what the columns of a frame are computed by."""
    texts = _texts.get(frame)
    if texts is None:
        texts = _texts[frame] = str(analysed_plan(frame).expressions().mkString())
    return texts


def kind_of(node: Any) -> str:
    """The class of a node of a plan or an expression, such as ``Filter``."""
    return class_name(node)


def operators(frame: DataFrame) -> Iterator[str]:
    """Names of the operators that make a frame, as Spark has optimized it: ``Filter``, ``Join``, and so on."""
    todo = [optimized_plan(frame)]
    while todo:
        plan = todo.pop()
        yield str(plan.nodeName()).split(" ")[0]
        todo += items(plan.children())


def is_empty(frame: DataFrame) -> bool:
    """Whether Spark finds out that nothing is read for a frame while it optimizes it; kept rows are not looked at."""
    optimizer = frame.sparkSession._jsparkSession.sessionState().optimizer()
    todo = [optimizer.execute(analysed_plan(frame))]
    while todo:
        plan = todo.pop()
        below = items(plan.children())
        rows = plan.maxRows()
        if not below and not (rows.isDefined() and rows.get() == 0):
            return False
        todo += below
    return True


_sizes: WeakKeyDictionary[DataFrame, int] = WeakKeyDictionary()
"""Of frames that have been asked for it: Spark optimizes a frame once."""


def size_in_bytes(frame: DataFrame) -> int:
    """Size of the rows of a frame as Spark knows it; 2^62 and more when it does not."""
    size = _sizes.get(frame)
    if size is None:
        size = _sizes[frame] = int(str(optimized_plan(frame).stats().sizeInBytes()))
    return size


_streams: WeakKeyDictionary[DataFrame, bool] = WeakKeyDictionary()
"""Whether frames that have been asked for it are streams, which none becomes later."""


def is_stream(frame: DataFrame) -> bool:
    """Whether a frame reads a stream."""
    streams = _streams.get(frame)
    if streams is None:
        streams = _streams[frame] = frame.isStreaming
    return streams


_multiply: WeakKeyDictionary[DataFrame, bool] = WeakKeyDictionary()
"""Of frames that have been asked for it."""


def multiplies(frame: DataFrame) -> bool:
    """Whether some operator of a frame makes any number of rows of one, as ``explode`` does."""
    makes_rows = _multiply.get(frame)
    if makes_rows is None:
        makes_rows = _multiply[frame] = contains(optimized_plan(frame), "GENERATE")
    return makes_rows


_columns: WeakKeyDictionary[DataFrame, str] = WeakKeyDictionary()
"""Of frames that have been asked for it."""


def _numbered_columns(frame: DataFrame) -> str:
    """The columns of a frame, each with the number that Spark has given it, and gives no other."""
    columns = _columns.get(frame)
    if columns is None:
        columns = _columns[frame] = str(analysed_plan(frame).output().mkString(","))
    return columns


def is_that_again(frame: DataFrame, earlier: DataFrame) -> bool:
    """Whether a frame is one that has been analysed before, of the very relation: Spark has numbered it but once.

    A relation that Spark has looked up anew, after its table or its files have changed, has other numbers.
    """
    return _numbered_columns(frame) == _numbered_columns(earlier) and bool(frame.sameSemantics(earlier))


def qualified_names(frame: DataFrame) -> list[str]:
    """Names of the columns with those of their relations, which tell columns of one name apart."""
    return [str(column.qualifiedName()) for column in items(analysed_plan(frame).output())]


def selects_from(plan: Plan, source: Plan) -> bool:
    """Whether a plan computes a row of each of ``source`` by itself. SQL functions have projections of their own."""
    below = plan
    while kind_of(below) == "Project":
        below = below.children().head()
        if below.sameResult(source):
            return True
    return False


def first_non_deterministic(plan: Plan) -> int | None:
    """Number of the first expression of a plan that may give another value each time; None if there is none."""
    if plan.deterministic():
        return None
    expressions = enumerate(items(plan.expressions()))
    return next((number for number, expression in expressions if not expression.deterministic()), None)


def is_of_now(plan: Plan) -> bool:
    """Whether a plan depends on when it is run, as ``now()`` does."""
    return contains(plan, "CURRENT_LIKE")


def has_filter(plan: Plan) -> bool:
    """Whether a plan leaves out rows by a condition somewhere."""
    return contains(plan, "FILTER")


def contains(plan: Plan, pattern: str) -> bool:
    """Whether a plan has a node of a kind, by Spark's own name for it, such as ``GENERATE``."""
    return bool(plan.containsPattern(_pattern(java_class(_PATTERN), pattern)))


@lru_cache(maxsize=16)
def _pattern(patterns: Any, name: str) -> Any:
    """A kind of nodes, which the JVM is asked for once."""
    return getattr(patterns, name)()
