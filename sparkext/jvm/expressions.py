"""Expressions as Spark has analysed them: trees of operators, with columns and constants at the leaves."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, TypeAlias

from py4j.java_gateway import JavaObject, get_field
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import DataFrame

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import own_column
from sparkext.jvm.gateway import class_object, items, java_class
from sparkext.jvm.plans import contains, kind_of

Tree: TypeAlias = Any
"""An expression of Spark's: an object of the JVM, for functions of this module and `kind_of`."""

_SPELLINGS = {"byte": "tinyint", "short": "smallint", "int": "integer", "long": "bigint"}


def analysed_expression(frame: DataFrame, text: str) -> Tree:
    """Spark's tree of an expression over the columns of ``frame``.

    Raises:
        CapturedException: Spark cannot make sense of it.
    """
    plan = AnalysedFrame.of(frame.select(own_column(f"({text})").alias("x"))).analysed_plan
    return plan.expressions().apply(0).children().head()


def is_constant(frame: DataFrame, text: str) -> bool:
    """Whether an expression over the columns of ``frame`` is the same for all of its rows."""
    return bool(analysed_expression(frame, text).foldable())


def children_of(tree: Tree) -> list[Tree]:
    """What the operator at the top of a tree is applied to."""
    return items(tree.children())


def sql_of(tree: Tree) -> str:
    """Spark's text for a tree."""
    return str(tree.sql())


def readable_sql(frame: DataFrame, tree: Tree, written: str | None = None) -> tuple[str, list[str]] | None:
    """SQL that Spark reads as what a tree is, with values in place of variables; None if there is none.

    Args:
        frame: Of whose columns the tree is.
        tree: The tree.
        written: What Spark may have read it from, for functions whose own text it cannot read, such as ``x -> x > 1``.

    Returns:
        The SQL, and names of the variables of the session in the tree; those of a script end with it.
    """
    variables = _variables(tree)
    values = {text: value for text, (_, value) in variables.items()}
    text = _replaced(sql_of(tree), values)
    again = _analysed(frame, text)
    if again is not None and (again.semanticEquals(tree) or _plain_sql(again) == _replaced(_plain_sql(tree), values)):
        return text, [name for name, _ in variables.values() if name is not None]
    again = None if written is None or variables else _analysed(frame, written)
    return None if written is None or again is None or not again.semanticEquals(tree) else (written, [])


def _analysed(frame: DataFrame, text: str) -> Tree | None:
    """Spark's tree of a text; None if it cannot make sense of it."""
    try:
        return analysed_expression(frame, text)
    except CapturedException:
        return None


def _variables(tree: Tree) -> dict[str, tuple[str | None, str]]:
    """Names, if they are of the session, and values of variables, by Spark's text for them, which it cannot read."""
    if kind_of(tree) != "VariableReference":
        return {text: variable for child in children_of(tree) for text, variable in _variables(child).items()}
    literal = java_class("org.apache.spark.sql.catalyst.expressions.Literal")
    identifier, value = tree.identifier(), literal(tree.eval(None), tree.dataType())
    name = str(identifier.name()) if identifier.namespace()[0] == "session" else None
    return {sql_of(tree): (name, sql_of(value))}


def _replaced(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def _plain_sql(tree: Tree) -> str:
    """Spark's text for a tree without casts that change nothing, some of which Spark adds each time it reads one."""
    text = sql_of(tree)
    if kind_of(tree) == "Cast" and type_sql(tree) == type_sql(children_of(tree)[0]):
        return _plain_sql(children_of(tree)[0])
    for child in children_of(tree):
        text = text.replace(sql_of(child), _plain_sql(child), 1)
    return text


def column_name(tree: Tree) -> str:
    """Name of the column that a tree is."""
    return str(tree.name())


def type_name(tree: Tree) -> str:
    """Name of a tree's type, such as ``bigint``, ``decimal(5,2)`` or ``interval day to second``."""
    name = str(tree.dataType().typeName())
    return _SPELLINGS.get(name, name)


def type_sql(tree: Tree) -> str:
    """A tree's type in SQL, with its collation."""
    return str(tree.dataType().sql())


def scale_of(tree: Tree) -> int | None:
    """Digits after the point of a decimal; None for other types."""
    return int(tree.dataType().scale()) if type_name(tree).startswith("decimal") else None


def precision_of(tree: Tree) -> int:
    """Digits of a decimal."""
    return int(tree.dataType().precision())


def value_of(tree: Tree) -> Any:
    """The value of a tree without columns, as Spark holds it: of a decimal its digits."""
    value = tree.eval(None)
    if value is None:
        return None
    name = type_name(tree)
    if name == "float":  # Py4J gives the double that is written alike
        return struct.unpack("f", struct.pack("f", value))[0]
    return value.toUnscaledLong() if name.startswith("decimal") else value


def holds_common_expressions(tree: Tree) -> bool:
    """Whether some expression in a tree is named and used more than once, which Spark cannot evaluate by itself."""
    return contains(tree, "WITH_EXPRESSION")


def common_reference(tree: Tree) -> str:
    """Which of the common expressions of a ``With`` above it a ``CommonExpressionRef`` stands for."""
    return str(tree.id())


def common_expressions(definitions: list[Tree]) -> dict[str, Tree]:
    """The common expressions of a ``With``, by what refers to them."""
    return {str(definition.id()): definition.child() for definition in definitions}


def replacement(tree: Tree) -> Tree | None:
    """What Spark runs instead of a tree; None when it runs the tree itself."""
    kind = class_object("org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable")
    return tree.replacement() if kind.isInstance(tree) else None


def span_of(tree: Tree) -> tuple[int, int] | None:
    """Where a tree stands in the text that Spark has read, as Spark counts; None if it does not say."""
    origin = tree.origin()
    if origin.startIndex().isEmpty() or origin.stopIndex().isEmpty():
        return None
    return int(origin.startIndex().get()), int(origin.stopIndex().get()) + 1


@dataclass(frozen=True, slots=True)
class CalendarInterval:
    """An interval, as Spark holds it."""

    months: int
    days: int
    microseconds: int


class NotConstantError(Exception):
    """An expression has no value that Spark knows before it runs it."""


def constant(frame: DataFrame) -> Any:
    """The value of the one column of a frame, as Spark holds it: a number, a str or a CalendarInterval; None for NULL.

    Raises:
        NotConstantError: It has none.
    """
    plan = AnalysedFrame.of(frame).optimized_plan
    literal = plan.expressions().head().children().head() if kind_of(plan) == "Project" else None
    if literal is None or kind_of(literal) != "Literal":
        raise NotConstantError
    value = literal.value()
    if not isinstance(value, JavaObject):
        return value
    return _interval(value) if kind_of(value) == "CalendarInterval" else str(value.toString())


def parsed_interval(text: str) -> CalendarInterval | None:
    """The interval that a string says, as Spark's ``window`` function takes it; None if it says none."""
    try:
        return _interval(java_class("org.apache.spark.sql.catalyst.util.IntervalUtils").fromIntervalString(text))
    except CapturedException:
        return None


def _interval(value: Any) -> CalendarInterval:
    return CalendarInterval(*(int(get_field(value, name)) for name in ("months", "days", "microseconds")))
