"""Errors as Spark's own exceptions, with class, SQLSTATE and the position in the user's statement.

The conditions of ``error-conditions.json`` join Spark's own, so that the message, ``getSqlState`` and
Spark's JSON error formats work for them, in Python as for JDBC clients. Everything is thrown as Spark's
ParseException (an AnalysisException): of checked exceptions a Java proxy may throw only what the method
it stands for declares.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from importlib.resources import as_file, files
from typing import Any

from pyspark.errors import ParseException
from pyspark.errors.exceptions import captured
from pyspark.errors.exceptions.captured import AnalysisException, CapturedException

from sparkext.jvm.gateway import (
    JavaError,
    class_object,
    java_array,
    java_class,
    java_gateway,
    option,
    scala_map,
    scala_seq,
)
from sparkext.jvm.table_function import without_stand_ins
from sparkext.jvm.versions import PARSE_EXCEPTION, origin, parse_exception
from sparkext.planner.errors import PlanningError
from sparkext.sql.text_edits import Edits
from sparkext.sql.view_text import as_written

CONDITIONS = files("sparkext") / "error-conditions.json"
_CALL = re.compile(r"^\tat (.*)$", re.MULTILINE)
_PROXY = re.compile(r"\$Proxy\d+\.")
_ANALYSIS_EXCEPTION = "org.apache.spark.sql.AnalysisException"
_QUERY_CONTEXT = "org.apache.spark.QueryContext"
_READER = "org.apache.spark.ErrorClassesJsonReader"
_SPARK_THROWABLE = "org.apache.spark.SparkThrowable"
_UNDECLARED = ("java.lang.RuntimeException", "java.lang.Error", PARSE_EXCEPTION)
"""What a method that parses may throw."""
_NO_CONDITION = "INTERNAL_ERROR"
"""Condition of an error that has none: Spark's own, whose message is any text."""
_SQLSTATE = re.compile(r" SQLSTATE: \w{5}$")
MAX_MARKED = 120
"""Most characters of a statement that an error marks: an excerpt is there to find the position."""
MAX_SHOWN = 2000
"""Most characters of a message."""
MAX_VALUE = 400
"""Most characters of a name, type or reason that a message repeats."""
_PASS = re.compile(r"\bMatchTrend\[|sparkext_")
"""What shows that a message has the plan of a pass in it."""
_WHOLE = frozenset(("script",))
"""Values that are of use only as a whole."""


def install_conditions() -> None:
    """Add sparkext's error conditions to those that the JVM knows."""
    with as_file(CONDITIONS) as file:
        url = java_class("java.io.File")(str(file)).toURI().toURL()
        ours = java_class(_READER)(scala_seq([url]))
    reader_field = class_object("org.apache.spark.SparkThrowableHelper$").getDeclaredField("errorReader")
    reader_field.setAccessible(True)
    reader = reader_field.get(None)
    conditions = class_object(_READER).getDeclaredField("errorInfoMap")
    conditions.setAccessible(True)
    conditions.set(reader, conditions.get(reader).concat(conditions.get(ours)))


def shorten_errors_of_frames() -> None:
    """Let errors of data frames of trend queries, such as of ``select("no_such_column")``, be without a plan.

    Spark shows the plan of a frame whose method fails in its analysis, and that of a trend view is the plan of a pass.
    Errors that have none in them stay as they are.
    """
    module: Any = captured
    if not isinstance(module.convert_exception, _WithoutPlan):
        module.convert_exception = _WithoutPlan(module.convert_exception)


class _WithoutPlan:
    """PySpark's making of its own exceptions, with the plans of passes taken out of their messages."""

    def __init__(self, convert: Callable[[Any], CapturedException]) -> None:
        self._convert = convert

    def __call__(self, e: Any) -> CapturedException:
        """The exception for one of the JVM's."""
        error = self._convert(e)
        is_of_analysis = isinstance(error, AnalysisException) and not isinstance(error, ParseException)
        if is_of_analysis and _PASS.search(str(error._desc)):
            error._desc = without_stand_ins(str(e.getSimpleMessage()))[:MAX_SHOWN]
        return error


def spark_error(error: PlanningError, sql: str) -> JavaError:
    """What to raise from a method that the JVM called, so that the JVM throws a ParseException."""
    values = {name: value if name in _WHOLE else shortened(value) for name, value in error.parameters.items()}
    if error.condition.startswith("TREND_") and "problem" in values:  # a sentence of its own, or the end of one
        values["problem"] += "" if values["problem"].endswith("?") else "."
    parameters = scala_map(values)
    if not error.has_position:
        nowhere = java_array(_QUERY_CONTEXT, ())
        return _thrown(parse_exception(None, origin(), error.condition, parameters, nowhere))
    error.end = min(error.end, error.start + MAX_MARKED)
    before = sql[: error.start]
    start, end = _utf16(before), _utf16(sql[: error.end])
    position: list[Any] = [*_line_and_column(before), start, max(start, end - 1), sql]
    if error.view is not None:
        position += ["VIEW", error.view]
    place = origin(*map(option, position))
    contexts = java_array(_QUERY_CONTEXT, [place.context()])
    return _thrown(parse_exception(sql, place, error.condition, parameters, contexts))


def own_error(error: CapturedException | JavaError, sql: str) -> CapturedException | JavaError:
    """What to raise from a method that the JVM called, so that the JVM throws its own exception again.

    Spark's parser throws some that it does not declare; they become ParseExceptions.

    Args:
        error: As Python has got the exception.
        sql: The statement.
    """
    exception = _exception(error)
    if exception is None:
        return error
    if not _is_any_of(exception, *_UNDECLARED):
        if not _is_any_of(exception, _SPARK_THROWABLE):
            values = scala_map({"message": shortened(str(exception.toString()))})
            nowhere = java_array(_QUERY_CONTEXT, ())
            return _thrown(parse_exception(sql, origin(), _NO_CONDITION, values, nowhere))
        condition, parameters = exception.getCondition(), exception.getMessageParameters()
        if condition is None:  # it has a text alone
            condition, parameters = _NO_CONDITION, {"message": str(exception.getMessage())}
        position: tuple[Any, ...] = ()
        if _is_any_of(exception, _ANALYSIS_EXCEPTION):
            position = exception.line(), exception.startPosition()
        contexts = exception.getQueryContext()
        exception = parse_exception(sql, origin(*position), condition, scala_map(parameters), contexts)
    return _thrown(exception)


def statement_error(error: CapturedException, filled: Edits, text: str) -> CapturedException | JavaError:
    """What to raise so that the JVM throws its own exception about a statement, in the user's words.

    Args:
        error: Of Spark's parser or analysis.
        filled: The user's statement, with values in place of parameters.
        text: What Spark has been given for it: of the same lines and columns as the filled one.
    """
    exception, sql = _exception(error), filled.text
    condition = exception.getCondition() if _is_any_of(exception, _SPARK_THROWABLE) else None
    if condition is None or not _is_any_of(exception, _ANALYSIS_EXCEPTION):
        return own_error(error, sql)
    parameters = exception.getMessageParameters()
    values = {str(name): shortened(as_written(without_stand_ins(str(parameters[name])))) for name in parameters}
    contexts = exception.getQueryContext()
    line, column = exception.line(), exception.startPosition()
    if len(contexts) and not contexts[0].objectName():
        start, stop = contexts[0].startIndex(), contexts[0].stopIndex() + 1  # Spark's parser counts characters
        placed = PlanningError(condition, *filled.origin(start, max(start, stop)))
        placed.parameters = values
        return spark_error(placed, sql)
    if line.isDefined() and column.isDefined() and not len(contexts):
        start = sum(len(text_line) + 1 for text_line in text.split("\n")[: line.get() - 1]) + column.get()
        line, column = map(option, _line_and_column(sql[: filled.origin(start, start)[0]]))
    return _thrown(parse_exception(sql, origin(line, column), condition, scala_map(values), contexts))


def _exception(error: CapturedException | JavaError) -> Any:
    """What the JVM has thrown, which PySpark may have wrapped; None when it is PySpark's own."""
    return getattr(error, "_origin", None) if isinstance(error, CapturedException) else error.java_exception


def _thrown(exception: Any) -> JavaError:
    """What to raise so that the JVM throws ``exception``, with a stack trace as if its caller had thrown it.

    JDBC clients are sent the stack trace, and the way through Python says nothing to them.
    """
    written = java_class("java.io.StringWriter")()
    exception.printStackTrace(java_class("java.io.PrintWriter")(written))
    calls = _CALL.findall(written.toString())
    frames = exception.getStackTrace()
    proxies = [index for index, call in enumerate(calls[: len(frames)]) if _PROXY.search(call)]
    if proxies:
        first = proxies[-1] + 1
        rest = java_gateway().new_array(java_class("java.lang.StackTraceElement"), len(frames) - first)
        java_class("java.lang.System").arraycopy(frames, first, rest, 0, len(rest))
        exception.setStackTrace(rest)
    return JavaError("", java_exception=exception)


def _is_any_of(exception: Any, *classes: str) -> bool:
    return any(class_object(name).isInstance(exception) for name in classes)


def reason(error: CapturedException) -> str:
    """What Spark says is wrong, in one line, without its SQLSTATE and the excerpt of the statement."""
    return _SQLSTATE.sub("", " ".join(str(error.getMessage()).split("\n== SQL", 1)[0].split()))


def was_cancelled(error: Exception) -> bool:
    """Whether a job has failed since its statement is to end: it was cancelled, or the thread that waits for it was
    interrupted, as Spark Connect and the JDBC server do, of which the thread itself knows nothing from then on."""
    text = str(error)
    return "[SPARK_JOB_CANCELLED]" in text or "InterruptedException" in text


def shortened(text: str) -> str:
    """``text``, or its beginning and its end if it is long."""
    if len(text) <= MAX_VALUE:
        return text
    half = MAX_VALUE // 2
    return f"{text[:half]} … {text[-half:]}"


def is_on_its_way(record: logging.LogRecord) -> bool:
    """Whether Py4J logs an exception that leaves Python for the JVM, and so for the user."""
    return record.exc_info is not None and isinstance(record.exc_info[1], JavaError)


def _line_and_column(before: str) -> tuple[int, int]:
    """Where the end of ``before`` is, as Spark counts it."""
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1)


def _utf16(text: str) -> int:
    """Length of ``text`` as Java counts it."""
    return len(text.encode("utf-16-le")) // 2
