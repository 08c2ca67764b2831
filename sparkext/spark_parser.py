"""Spark's parser in Python: every statement of an enabled session comes through here first."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from planner.errors import PlanningError
from sparkext.jvm_errors import spark_error
from sparkext.parameters import fill_in
from sparkext.rewriter import rewrite_query, rewrite_statement
from sparkext.workload import Workload

log = logging.getLogger(__name__)


class TrendParser:
    """Implements Spark's ``ParserInterface`` through Py4J; delegates all that does not concern trends."""

    def __init__(self, spark_context: Any, session: Any, delegate: Any) -> None:
        self._context = spark_context
        self._session = session
        self._delegate = delegate
        self._made = threading.Lock()
        self._workload: Workload | None = None

    def parsePlan(self, sql: str) -> Any:  # noqa: N802
        """A statement, as Spark before 4.1 and some commands pass it on."""
        with self._entered(sql) as nested:
            text = self._query(sql) if nested else rewrite_statement(self.workload, fill_in(sql, None)[0])
            return self._delegate.parsePlan(text)

    def parsePlanWithParameters(self, sql: str, context: Any) -> Any:  # noqa: N802
        """A statement with parameters, possibly none."""
        with self._entered(sql) as nested:
            text, rest = (self._query(sql), context) if nested else fill_in(sql, context)
            text = text if nested else rewrite_statement(self.workload, text)
            return self._delegate.parsePlanWithParameters(text, rest)

    def parseQuery(self, sql: str) -> Any:  # noqa: N802
        """The text of a view that a statement refers to."""
        with self._entered(sql):
            return self._delegate.parseQuery(self._query(sql))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if not name.startswith("parse") and name != "splitStatements":
            raise AttributeError(name)

        def delegated(*args: Any) -> Any:
            with self._entered(str(args[0]) if args else ""):
                return getattr(self._delegate, name)(*args)

        return delegated

    @property
    def workload(self) -> Workload:
        """The trend queries of this parser's session."""
        with self._made:
            if self._workload is None:
                self._workload = Workload(SparkSession(self._context, self._session))
            return self._workload

    def _query(self, sql: str) -> str:
        return rewrite_query(self.workload, sql)

    @contextmanager
    def _entered(self, sql: str) -> Iterator[bool]:
        """Run on behalf of the JVM; whatever goes wrong is thrown there as an exception of Spark's.

        Yields whether this thread was parsing already: then the statement is one that sparkext runs
        itself to look at a relation.
        """
        _inside.depth += 1
        try:
            yield _inside.depth > 1
        except PlanningError as error:
            raise spark_error(self._context._gateway, error, sql) from None
        except CapturedException as error:
            # PySpark wraps what the JVM threw; give the JVM its own exception back.
            origin = getattr(error, "_origin", None)
            raise error if origin is None else Py4JJavaError("", java_exception=origin) from None
        except Py4JJavaError:
            raise
        except Exception as error:
            log.exception("sparkext failed on a statement")
            problem = PlanningError("TREND_INTERNAL_ERROR", 0, len(sql), reason=f"{type(error).__name__}: {error}")
            raise spark_error(self._context._gateway, problem, sql) from None
        finally:
            _inside.depth -= 1

    class Java:
        implements = ("org.apache.spark.sql.catalyst.parser.ParserInterface",)


class TrendParserBuilder:
    """What Spark's session extensions call with each new session and its own parser."""

    def __init__(self, spark_context: Any) -> None:
        self._context = spark_context

    def apply(self, session: Any, delegate: Any) -> TrendParser:
        """The parser of ``session``."""
        return TrendParser(self._context, session, delegate)

    class Java:
        implements = ("scala.Function2",)


class _Inside(threading.local):
    """How many calls of the JVM into parsers this thread is serving."""

    depth = 0


_inside = _Inside()


def _not_inside(_: logging.LogRecord) -> bool:
    return _inside.depth == 0


# PySpark logs errors of SQL when they reach Python. Those that pass through here on their way to the
# user are logged once, where the user sees them.
for _name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
    PySparkLogger.getLogger(_name).addFilter(_not_inside)
