"""Spark's parser in Python: every statement of an enabled session comes through here first."""

from __future__ import annotations

import logging
import re
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from planner.errors import PlanningError
from sparkext.edits import Edits
from sparkext.jvm_errors import own_error, spark_error
from sparkext.parameters import fill_in
from sparkext.rewriter import reads_stand_ins, rewrite_query, rewrite_statement
from sparkext.sockets import send_at_once
from sparkext.workload import Workload

log = logging.getLogger(__name__)

_MAY_CHANGE_VIEWS = re.compile(r"\b(DROP|REPLACE|ALTER)\b", re.IGNORECASE)


class TrendParser:
    """Implements Spark's ``ParserInterface`` through Py4J; delegates all that does not concern trends."""

    def __init__(self, spark_context: Any, session: Any, delegate: Any) -> None:
        self._context = spark_context
        self._session = session
        self._delegate = delegate
        self._made = threading.Lock()
        self._workload: Workload | None = None
        self.is_on = True

    def parsePlan(self, sql: str) -> Any:  # noqa: N802
        """A statement, as Spark before 4.1 and some commands pass it on."""
        with self._entered(sql) as plain:
            text = self._query(sql) if plain else self._statement(fill_in(sql, None)[0])
            return self._delegate.parsePlan(text)

    def parsePlanWithParameters(self, sql: str, context: Any) -> Any:  # noqa: N802
        """A statement with parameters, possibly none."""
        with self._entered(sql) as plain:
            if plain:
                return self._delegate.parsePlanWithParameters(self._query(sql), context)
            filled, rest = fill_in(sql, context)
            return self._delegate.parsePlanWithParameters(self._statement(filled), rest)

    def parseQuery(self, sql: str) -> Any:  # noqa: N802
        """The text of a view that a statement refers to."""
        with self._entered(sql):
            if reads_stand_ins(sql) and self._is_view_dropped():
                self.workload.expect_change(sql, by_itself=True)
            else:
                sql = self._query(sql)
            return self._delegate.parseQuery(sql)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if not name.startswith("parse") and name != "splitStatements":
            raise AttributeError(name)

        def delegated(*args: Any) -> Any:
            with self._entered(str(args[0]) if args else ""):
                return getattr(self._delegate, name)(*args)

        return delegated

    def switch_off(self) -> None:
        """Drop all trend views with their results, and leave statements to Spark's own parser until `is_on` again."""
        if self._workload is not None:
            self._workload.drop_views()
        self.is_on = False

    @property
    def session(self) -> Any:
        """The JVM's session that this is the parser of."""
        return self._session

    def holds_queries(self) -> bool:
        """Whether the session has trend queries."""
        return self._workload is not None and self._workload.holds_queries()

    @property
    def workload(self) -> Workload:
        """The trend queries of this parser's session."""
        with self._made:
            if self._workload is None:
                self._workload = Workload(SparkSession(self._context, self._session))
            return self._workload

    def _statement(self, filled: Edits) -> str:
        try:
            text = rewrite_statement(self.workload, filled.result())
            if _MAY_CHANGE_VIEWS.search(text) and self.workload.holds_queries():
                self.workload.expect_change(text, by_itself=False)
            return text
        except PlanningError as error:
            if error.text is None:
                error.start, error.end = filled.origin(error.start, error.end)
            raise

    def _query(self, sql: str) -> str:
        return rewrite_query(self.workload, sql)

    def _is_view_dropped(self) -> bool:
        """Whether Spark looks at a view only to drop it.

        That must work when its source is gone. And Spark holds the lock of its catalog meanwhile, for which a thread
        that plans may be waiting: to wait for that thread would be for ever.
        """
        throwable, text_of, printed = self._classes
        calls = text_of()
        throwable().printStackTrace(printed(calls))
        text = calls.toString()
        return any(name in text for name in ("dropTempView", "dropGlobalTempView", "DropTempViewCommand"))

    @cached_property
    def _classes(self) -> tuple[Any, Any, Any]:
        """Of the JVM. To look one up by its name takes as long as ten calls."""
        java = self._context._jvm.java
        return java.lang.Throwable, java.io.StringWriter, java.io.PrintWriter

    @contextmanager
    def _entered(self, sql: str) -> Iterator[bool]:
        """Run on behalf of the JVM; whatever goes wrong is thrown there as an exception of Spark's.

        Yields whether the statement is one without clauses and commands: when this thread was parsing already,
        since sparkext runs such statements itself to look at relations, and when it is switched off.
        """
        _inside.depth += 1
        try:
            send_at_once(self._context._gateway)
            yield _inside.depth > 1 or not self.is_on
        except PlanningError as error:
            raise spark_error(self._context._gateway, error, sql if error.text is None else error.text) from None
        except CapturedException as error:
            # PySpark wraps what the JVM threw; give the JVM its own exception back.
            origin = getattr(error, "_origin", None)
            raise error if origin is None else own_error(self._context._gateway, origin, sql) from None
        except Py4JJavaError as error:
            raise own_error(self._context._gateway, error.java_exception, sql) from None
        except Exception as error:
            log.exception("sparkext failed on a statement")
            reason = f"{type(error).__name__}: {error}".split("\n", 1)[0]
            problem = PlanningError("TREND_INTERNAL_ERROR", 0, len(sql), reason=reason)
            raise spark_error(self._context._gateway, problem, sql) from None
        finally:
            _inside.depth -= 1

    class Java:
        implements = ("org.apache.spark.sql.catalyst.parser.ParserInterface",)


class TrendParserBuilder:
    """What Spark's session extensions call with each new session and its own parser."""

    def __init__(self, spark_context: Any) -> None:
        self._context = spark_context
        self.parsers: weakref.WeakSet[TrendParser] = weakref.WeakSet()

    def apply(self, session: Any, delegate: Any) -> TrendParser:
        """The parser of ``session``."""
        parser = TrendParser(self._context, session, delegate)
        self.parsers.add(parser)
        return parser

    class Java:
        implements = ("scala.Function2",)


class _Inside(threading.local):
    """How many calls of the JVM into parsers this thread is serving."""

    depth = 0


_inside = _Inside()


def _not_inside(_: logging.LogRecord) -> bool:
    return _inside.depth == 0


def _not_on_its_way(record: logging.LogRecord) -> bool:
    return record.exc_info is None or not isinstance(record.exc_info[1], Py4JJavaError)


# PySpark logs errors of SQL when they reach Python, and Py4J when they leave it. Those that pass through
# here on their way to the user are logged once, where the user sees them.
for _name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
    PySparkLogger.getLogger(_name).addFilter(_not_inside)
logging.getLogger("py4j.clientserver").addFilter(_not_on_its_way)
