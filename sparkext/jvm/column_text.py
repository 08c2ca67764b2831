"""Columns of data frames as SQL, for expressions that go into a clause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import Column

from sparkext.jvm.gateway import items, scala_object
from sparkext.jvm.plans import kind_of
from sparkext.sql.quoting import identifier

_SIGNS = (">", ">=", "<", "<=", "=", "<=>", "+", "-", "*", "/", "%", "||")
_BETWEEN = dict(zip(_SIGNS, _SIGNS, strict=True)) | {"==": "=", "and": "AND", "or": "OR"}
"""Functions of two arguments that SQL writes between them."""

_AROUND: dict[str, Callable[[list[str]], str]] = {
    "!": lambda arguments: f"(NOT {arguments[0]})",
    "not": lambda arguments: f"(NOT {arguments[0]})",
    "isNull": lambda arguments: f"({arguments[0]} IS NULL)",
    "isNotNull": lambda arguments: f"({arguments[0]} IS NOT NULL)",
    "in": lambda arguments: f"({arguments[0]} IN ({', '.join(arguments[1:])}))",
    "negative": lambda arguments: f"(- {arguments[0]})",
    "like": lambda arguments: f"({arguments[0]} LIKE {arguments[1]})",
    "rlike": lambda arguments: f"({arguments[0]} RLIKE {arguments[1]})",
}
"""Other functions that SQL writes in a way of their own."""


class NoTextError(Exception):
    """A column holds what SQL cannot say, such as a function of Python's."""


def spark_text(column: Column) -> str:
    """How Spark shows a column; that may not be SQL."""
    return str(_java(column).toString())


def column_text(column: Column) -> str:
    """SQL that means what ``column`` does.

    Raises:
        NoTextError: There is none, or it is not known.
    """
    return _text(_java(column).node())


def _java(column: Column) -> Any:
    classic: Any = column  # of pyspark.sql.classic
    return classic._jc


def _text(node: Any) -> str:
    match kind_of(node):
        case "UnresolvedAttribute":
            return ".".join(identifier(str(part)) for part in items(node.nameParts()))
        case "SqlExpression":
            return f"({node.expression()})"
        case "Literal":
            return _literal(node)
        case "Cast" if node.evalMode().isEmpty():
            return f"CAST({_text(node.child())} AS {node.dataType().sql()})"
        case "Alias":
            [name] = items(node.name())
            return f"{_text(node.child())} AS {identifier(str(name))}"
        case "CaseWhenOtherwise":
            return _case(node)
        case "UnresolvedExtractValue":
            return f"{_text(node.child())}[{_text(node.extraction())}]"
        case "UnresolvedFunction" if not node.isDistinct() and not node.isInternal():
            return _call(str(node.functionName()), [_text(argument) for argument in items(node.arguments())])
        case kind:
            raise NoTextError(kind)


def _call(name: str, arguments: list[str]) -> str:
    if name in _BETWEEN and len(arguments) == 2:
        return f"({arguments[0]} {_BETWEEN[name]} {arguments[1]})"
    if name in _AROUND:
        return _AROUND[name](arguments)
    if not name.isidentifier():
        raise NoTextError(name)
    return f"{name}({', '.join(arguments)})"


def _case(node: Any) -> str:
    branches = [f"WHEN {_text(branch._1())} THEN {_text(branch._2())}" for branch in items(node.branches())]
    otherwise = "" if node.otherwise().isEmpty() else f" ELSE {_text(node.otherwise().get())}"
    return f"CASE {' '.join(branches)}{otherwise} END"


def _literal(node: Any) -> str:
    literal = scala_object("org.apache.spark.sql.catalyst.expressions.Literal")
    kind = node.dataType()
    constant = literal.apply(node.value()) if kind.isEmpty() else literal.create(node.value(), kind.get())
    return str(constant.sql())
