"""Errors as Spark's own exceptions, with class, SQLSTATE and the place in the user's statement.

The conditions of ``error-conditions.json`` join Spark's own, so that the message, ``getSqlState`` and
Spark's JSON error formats work for them, in Python as for JDBC clients. Everything is thrown as Spark's
ParseException (an AnalysisException): of checked exceptions a Java proxy may throw only what the method
it stands for declares.
"""

from __future__ import annotations

import re
from importlib.resources import as_file, files
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException

from planner.errors import PlanningError

CONDITIONS = files("sparkext") / "error-conditions.json"
_CALL = re.compile(r"^\tat (.*)$", re.MULTILINE)
_PROXY = re.compile(r"\$Proxy\d+\.")
_NO_CONDITION = "INTERNAL_ERROR"
"""Condition of an error that has none: Spark's own, whose message is any text."""
_SQLSTATE = re.compile(r" SQLSTATE: \w{5}$")


def install_conditions(jvm: Any) -> None:
    """Add sparkext's error conditions to those that this JVM knows."""
    with as_file(CONDITIONS) as file:
        url = jvm.java.io.File(str(file)).toURI().toURL()
        ours = jvm.org.apache.spark.ErrorClassesJsonReader(jvm.PythonUtils.toSeq([url]))
    helper = jvm.java.lang.Class.forName("org.apache.spark.SparkThrowableHelper$")
    reader_field = helper.getDeclaredField("errorReader")
    reader_field.setAccessible(True)
    reader = reader_field.get(None)
    conditions = jvm.java.lang.Class.forName("org.apache.spark.ErrorClassesJsonReader").getDeclaredField("errorInfoMap")
    conditions.setAccessible(True)
    conditions.set(reader, conditions.get(reader).concat(conditions.get(ours)))


def spark_error(gateway: Any, error: PlanningError, sql: str) -> Py4JJavaError:
    """What to raise from a method that the JVM called, so that the JVM throws a ParseException."""
    jvm = gateway.jvm
    some = jvm.scala.Option.apply
    before = sql[: error.start]
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1)
    start, end = _utf16(before), _utf16(sql[: error.end])
    origin = _origin(jvm, some(line), some(column), some(start), some(max(start, end - 1)), some(sql))
    contexts = gateway.new_array(jvm.org.apache.spark.QueryContext, 1)
    contexts[0] = origin.context()
    parameters = jvm.PythonUtils.toScalaMap(error.parameters)
    exception = _parse_exception(jvm, sql, origin, error.condition, parameters, contexts)
    return _thrown(gateway, exception)


def own_error(gateway: Any, exception: Any, sql: str) -> Py4JJavaError:
    """What to raise from a method that the JVM called, so that the JVM throws ``exception``, which is its own.

    Spark's parser throws some that it does not declare; they become ParseExceptions.
    """
    jvm = gateway.jvm
    allowed = ("java.lang.RuntimeException", "java.lang.Error", "org.apache.spark.sql.catalyst.parser.ParseException")
    if _is_any_of(jvm, exception, "org.apache.spark.SparkThrowable") and not _is_any_of(jvm, exception, *allowed):
        condition, parameters = exception.getCondition(), exception.getMessageParameters()
        if condition is None:  # it has a text alone
            condition, parameters = _NO_CONDITION, {"message": str(exception.getMessage())}
        place: tuple[Any, ...] = ()
        if _is_any_of(jvm, exception, "org.apache.spark.sql.AnalysisException"):
            place = exception.line(), exception.startPosition()
        named, contexts = jvm.PythonUtils.toScalaMap(parameters), exception.getQueryContext()
        exception = _parse_exception(jvm, sql, _origin(jvm, *place), condition, named, contexts)
    return _thrown(gateway, exception)


def _thrown(gateway: Any, exception: Any) -> Py4JJavaError:
    """What to raise so that the JVM throws ``exception``, with a stack trace as if its caller had thrown it.

    JDBC clients are sent the stack trace, and the way through Python says nothing to them.
    """
    jvm = gateway.jvm
    written = jvm.java.io.StringWriter()
    exception.printStackTrace(jvm.java.io.PrintWriter(written))
    calls = _CALL.findall(written.toString())
    frames = exception.getStackTrace()
    proxies = [place for place, call in enumerate(calls[: len(frames)]) if _PROXY.search(call)]
    if proxies:
        first = proxies[-1] + 1
        rest = gateway.new_array(jvm.java.lang.StackTraceElement, len(frames) - first)
        jvm.java.lang.System.arraycopy(frames, first, rest, 0, len(rest))
        exception.setStackTrace(rest)
    return Py4JJavaError("", java_exception=exception)


def _is_any_of(jvm: Any, exception: Any, *classes: str) -> bool:
    return any(jvm.java.lang.Class.forName(name).isInstance(exception) for name in classes)


def _parse_exception(jvm: Any, sql: str, origin: Any, condition: str, parameters: Any, contexts: Any) -> Any:
    """A ParseException about ``sql``. Spark 4.0 wants a start and a stop, later versions one place."""
    kind = jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.parser.ParseException")
    wanted = max(
        [place.getSimpleName() for place in made.getParameterTypes()].count("Origin") for made in kind.getConstructors()
    )
    return jvm.org.apache.spark.sql.catalyst.parser.ParseException(
        jvm.scala.Option.apply(sql), *[origin] * wanted, condition, parameters, contexts
    )


def _origin(jvm: Any, *place: Any) -> Any:
    """A place in a statement; versions of Spark differ in what else an Origin has."""
    origin_class = jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.trees.Origin")
    missing = origin_class.getDeclaredConstructors()[0].getParameterCount() - len(place)
    return jvm.org.apache.spark.sql.catalyst.trees.Origin(*place, *[jvm.scala.Option.apply(None)] * missing)


def reason(error: CapturedException) -> str:
    """What Spark says is wrong, in one line, without its SQLSTATE and the excerpt of the statement."""
    text = str(error.getMessage() if hasattr(error, "getMessage") else error)
    return _SQLSTATE.sub("", " ".join(text.split("\n== SQL", 1)[0].split()))


def _utf16(text: str) -> int:
    """Length of ``text`` as Java counts it."""
    return len(text.encode("utf-16-le")) // 2
