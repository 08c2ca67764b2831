"""Spark's parser in Python: every statement of an enabled session comes through here first."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from planner.errors import PlanningError
from sparkext.jvm_errors import original, spark_error
from sparkext.parameters import fill_in
from sparkext.rewriter import rewrite_query, rewrite_statement
from sparkext.workload import Workload

log = logging.getLogger(__name__)

_depth = threading.local()


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
        text = self._rewritten(lambda: rewrite_statement(self.workload, fill_in(sql, None)[0]), sql)
        return self._call("parsePlan", text)

    def parsePlanWithParameters(self, sql: str, context: Any) -> Any:  # noqa: N802
        """A statement with parameters, possibly none."""
        rest = context

        def rewrite() -> str:
            nonlocal rest
            text, rest = fill_in(sql, context)
            return rewrite_statement(self.workload, text)

        return self._call("parsePlanWithParameters", self._rewritten(rewrite, sql), rest)

    def parseQuery(self, sql: str) -> Any:  # noqa: N802
        """The text of a view that a statement refers to."""
        text = self._rewritten(lambda: rewrite_query(self.workload, sql), sql)
        return self._call("parseQuery", text)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("parse") or name == "splitStatements":
            return lambda *args: self._call(name, *args)
        raise AttributeError(name)

    @property
    def workload(self) -> Workload:
        """The trend queries of this parser's session."""
        with self._made:
            if self._workload is None:
                self._workload = Workload(SparkSession(self._context, self._session))
            return self._workload

    def _rewritten(self, rewrite: Callable[[], str], sql: str) -> str:
        """What ``rewrite`` returns. Statements that rewriting itself runs only have their plans looked after."""
        nested = getattr(_depth, "value", 0)
        _depth.value = nested + 1
        try:
            return rewrite_query(self.workload, sql) if nested else rewrite()
        except PlanningError as error:
            raise spark_error(self._context._gateway, error, sql) from None
        except CapturedException as error:
            raise original(error) from None
        except Exception as error:
            log.exception("sparkext failed on a statement")
            problem = PlanningError("TREND_INTERNAL_ERROR", 0, len(sql), reason=f"{type(error).__name__}: {error}")
            raise spark_error(self._context._gateway, problem, sql) from None
        finally:
            _depth.value = nested

    def _call(self, name: str, *args: Any) -> Any:
        try:
            return getattr(self._delegate, name)(*args)
        except CapturedException as error:
            raise original(error) from None

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


