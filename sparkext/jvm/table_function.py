"""Stand-ins for clauses in what Spark gets to read: calls of a table function that asks Python for rows.

A view keeps the call in its text. Spark's analyzer makes it whenever the view is read, with the confs, the schema
and the functions that the view is to see. It holds a lock of its catalog meanwhile: statements of the session that
look something up wait, and whoever is called may wait for nobody who has to look something up.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession

from sparkext.jvm.gateway import java_class, scala_object
from sparkext.jvm.versions import builtin_function, has_qualified_functions

FUNCTION = "sparkext_trend"

_VIEW = "view "
"""Before the text of a view, in base 64."""

_CALL = re.compile(rf"\b{FUNCTION}\((\d+)\)")
_TYPED = re.compile(rf"`?\b{FUNCTION}\b`?(?:\s|/\*.*?\*/|--[^\n]*\n)*\(", re.IGNORECASE | re.DOTALL)
_ONLY_CALL = re.compile(
    rf"\bAS\s+SELECT\s+\*\s+FROM\s+\(SELECT\s+\*\s+FROM\s+{FUNCTION}\(\d+\)\)\s*;?\s*$", re.IGNORECASE
)
_NAMED = re.compile(rf"`?\b{FUNCTION}\b`?(\(\d+\))?")
_QUALIFIER = re.compile(r"`?\b__auto_generated_subquery_name\b`?\.")


def calls_in(text: str) -> set[int]:
    """Numbers of the clauses that the text of a view calls for."""
    return {int(number) for number in _CALL.findall(text)}


def find_typed(text: str) -> tuple[int, int] | None:
    """Where a statement of the user's calls the function, which only sparkext does; None if it does not."""
    match = _TYPED.search(text) if FUNCTION in text.lower() else None
    return None if match is None else match.span()


def has_only_a_call(text: str) -> bool:
    """Whether nothing can be wrong with a statement, beside its clause, that an error would have a plan for."""
    return _ONLY_CALL.search(text) is not None


def without_stand_ins(text: str) -> str:
    """A message without them."""
    return _NAMED.sub("MATCH_TREND", _QUALIFIER.sub("", text))


def in_place_of(written: str, number: int) -> str:
    """A query for the rows of a clause, laid out like ``written``, so that what follows keeps its line and column."""
    lines = written.split("\n")
    pieces = ["(SELECT", "* FROM", f"{FUNCTION}({number}))"]
    laid = [""] * len(lines)
    for at, line in enumerate(lines):
        while pieces and (at == len(lines) - 1 or len(laid[at]) + len(pieces[0]) + bool(laid[at]) <= len(line)):
            laid[at] += (" " if laid[at] else "") + pieces.pop(0)
    return "\n".join(text.ljust(len(line)) for text, line in zip(laid, lines, strict=True))


def call_for_view(text: str) -> str:
    """A query for the rows of a view, of which the text is then analysed at our request."""
    return f"SELECT * FROM {FUNCTION}('{_VIEW}{base64.b64encode(text.encode()).decode()}')"


def register_function(spark: SparkSession, rows: Callable[[int | None], Any], view_rows: Callable[[str], Any]) -> None:
    """Let a session have the table function, as one of Spark's own: permanent views may call no other that it has.

    Args:
        spark: The session.
        rows: Gives the analysed plan for the number of a clause, and refuses None; what it raises reaches the user.
        view_rows: Gives the analysed plan for the text of a view, as a part of the analysis that calls for it.
    """
    info = java_class("org.apache.spark.sql.catalyst.expressions.ExpressionInfo")("sparkext", FUNCTION)
    # A Java function may throw any exception; what Scala's declares leaves a proxy wrapped in another.
    of_python = scala_object("org.apache.spark.api.java.JavaPairRDD").toScalaFunction
    name = builtin_function(spark, FUNCTION)
    registry = spark._jsparkSession.sessionState().tableFunctionRegistry()
    registry.registerFunction(name, info, of_python(_Rows(rows, view_rows)))
    if not has_qualified_functions(spark):
        every_session = java_class("org.apache.spark.sql.catalyst.analysis.TableFunctionRegistry").builtin()
        if not every_session.functionExists(name):
            every_session.registerFunction(name, info, of_python(_Rows(lambda _: rows(None), lambda _: rows(None))))


class _Rows:
    """What the analyzer calls with the arguments of the function."""

    def __init__(self, rows: Callable[[int | None], Any], view_rows: Callable[[str], Any]) -> None:
        self._rows = rows
        self._view_rows = view_rows

    def call(self, arguments: Any) -> Any:
        """The plan for the one argument: the number of a clause, or what `call_for_view` has given it."""
        argument = str(arguments.mkString(","))
        if argument.startswith(_VIEW):
            return self._view_rows(base64.b64decode(argument.removeprefix(_VIEW)).decode())
        return self._rows(int(argument) if argument.isdecimal() and argument.isascii() else None)

    class Java:
        implements = ("org.apache.spark.api.java.function.Function",)
