"""Spark's parser in Python: every statement of an enabled session comes through here first."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.errors.exceptions.captured import CapturedException, ParseException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from sparkext.explain.builder import report_of_run
from sparkext.explain.text import plan_text
from sparkext.jvm.connect_service import is_of_client
from sparkext.jvm.failing_plan import failing_plan
from sparkext.jvm.frames import local_rows, local_rows_like
from sparkext.jvm.gateway import JavaError, send_at_once
from sparkext.jvm.permanent_views import view_being_parsed, with_view_text
from sparkext.jvm.sessions import ParserInterface, Reference
from sparkext.jvm.spark_errors import is_on_its_way, own_error, spark_error, statement_error
from sparkext.jvm.statement_analyzer import StatementAnalyzer, is_script
from sparkext.jvm.table_function import call_for_view, calls_in, find_typed, has_only_a_call, register_function
from sparkext.jvm.temp_views import has_trend_views, views_may_be_renamed
from sparkext.jvm.variable_substitution import with_values
from sparkext.parser.near_misses import near_miss
from sparkext.parser.rewrite import CONCERNS_US, SHOWS_TEXT, Answer, RewrittenStatement, rewrite_statement, rewrite_view
from sparkext.parser.set_command import check_set
from sparkext.planner.errors import PlanningError
from sparkext.sql.text_edits import Edits
from sparkext.sql.view_text import as_written
from sparkext.workload.workload import Workload

log = logging.getLogger(__name__)


class TrendParser(ParserInterface):
    """What Spark parses statements by; delegates all that does not concern trends to Spark's own parser.

    Attributes:
        is_on: Whether it knows of trends.
        watch: Called with the text of each of the user's statements, if somebody wants to know.
    """

    def __init__(self, spark_context: Any, session: Any, delegate: Any) -> None:
        self._context = spark_context
        self._session = Reference(session)
        self._delegate = delegate
        self._analyzer = StatementAnalyzer(self._session)
        self._made = threading.Lock()
        self._may_be_cloned = True
        self._workload: Workload | None = None
        self.is_on = True
        self.watch: Callable[[str], object] | None = None
        self._gives_up = False

    def give_up_next(self, gives_up: bool = True) -> None:
        """Whether the next lines that a prompt divides into statements are not to be run."""
        self._gives_up = gives_up

    def splitStatements(self, sql: str) -> Any:  # noqa: N802
        """Statements of the lines that have been typed at a prompt."""
        with self._entered(sql):
            if self._gives_up:
                self._gives_up = False
                sql = ""
            return self._delegate.splitStatements(sql)

    def parsePlan(self, sql: str) -> Any:  # noqa: N802
        """A statement, as Spark before 4.1 and some commands pass it on."""
        return self._parsed(sql, None, lambda text, _: self._delegate.parsePlan(text))

    def parsePlanWithParameters(self, sql: str, context: Any) -> Any:  # noqa: N802
        """A statement with parameters, possibly none."""
        return self._parsed(sql, context, self._delegate.parsePlanWithParameters)

    def _parsed(self, sql: str, context: Any, parse: Callable[[str, Any], Any]) -> Any:
        """The plan of a statement; ``parse`` is Spark's own parser."""
        with self._entered(sql) as plain:
            self._take_over_views()
            if plain:
                return parse(sql, context)
            if self.watch is not None:
                self.watch(sql)
            check_set(sql)
            rewritten = RewrittenStatement(Edits(sql), sql, context)
            if SHOWS_TEXT.match(sql) and (shown := self._shown(sql)) is not None:
                return shown
            given = with_values(sql)
            written = sql if given.is_empty() else given.result()
            check_not_typed(sql, written)
            if self._may_concern_us(written):
                answer = rewrite_statement(self.workload, given, context)
                if isinstance(answer, Answer):
                    return local_rows(self.workload.spark, answer.columns, answer.rows)
                rewritten = answer
            return self._checked(rewritten, parse)

    def _checked(self, rewritten: RewrittenStatement, parse: Callable[[str, Any], Any]) -> Any:
        """The plan of a statement; what Spark finds wrong with it is said of the user's own text."""
        filled, text = rewritten.filled, rewritten.text
        try:
            plan = parse(text, rewritten.context)
        except CapturedException as error:
            if isinstance(error, ParseException) and (meant := near_miss(filled.text)) is not None:
                raise meant from None
            if text == filled.text:
                raise
            raise statement_error(error, filled, text) from None
        if rewritten.replaced is not None:
            plan = with_view_text(plan, rewritten.text_to_be_stored)
        if self._workload is None or has_only_a_call(text):
            return plan
        if not (self._workload.reads_trends(text) or self._workload.may_unite_streams(text)):
            return plan
        try:
            with self._workload.reading_for(text):
                if is_script(plan):
                    return plan
                given = plan.clone() if is_of_client() else plan
                analysed = self._analyzer.analysed(given)
                if analysed is given:
                    return plan
                pooled = self._workload.pooled(analysed)
                return plan if pooled is analysed and given is not plan else pooled
        except ParseException:
            raise  # of a clause or view, which says where
        except CapturedException as error:
            raise statement_error(error, filled, text) from None

    def _shown(self, sql: str) -> Any:
        """The rows of a command that shows the texts of views, as users wrote them; None where it shows none of ours.

        Where the command fails, Spark is to say so itself.
        """
        try:
            frame = self.workload.spark.sql(sql)
        except CapturedException:
            return None
        rows = [tuple(row) for row in frame.collect()]
        written = [tuple(as_written(cell) if isinstance(cell, str) else cell for cell in row) for row in rows]
        return local_rows_like(frame, written) if written != rows else None

    def parseQuery(self, sql: str) -> Any:  # noqa: N802
        """The text of a view, which Spark is about to read or to drop; its catalog may be locked."""
        with self._entered(sql):
            self._take_over_views()
            if self._workload is not None:
                self._workload.may_read(sql)
            if self.is_on and (text := as_written(sql)) != sql:
                sql = rewrite_view(self.workload, view_being_parsed(), text)
            elif numbers := calls_in(sql):
                self.workload.dropped(numbers)
            if self._workload is not None and self.is_on and self._workload.may_unite_streams(sql):
                sql = call_for_view(sql)
            return self._delegate.parseQuery(sql)

    def _take_over_views(self) -> None:
        """See to it, before anything is read, that a session which has been cloned computes its views by itself.

        Its functions are those of the session before, whose rows they give.
        """
        if not self._may_be_cloned:
            return
        self._may_be_cloned = False
        if self._workload is None and self.is_on and has_trend_views(self.session):
            self.workload.take_over_views()

    def _may_concern_us(self, sql: str) -> bool:
        """Whether a statement of the user's is to be looked at more closely than by one regular expression."""
        if self._workload is not None:
            self._workload.begin_statement()
        match = CONCERNS_US.search(sql)
        if match is None:
            return False
        if match["changes"] is not None and "rename" in sql.lower():
            views_may_be_renamed()
        if match["changes"] is not None and self._workload is not None:
            self._workload.views_may_change()
        return True

    def rows(self, number: int | None) -> Any:
        """What Spark's analyzer gets for a call of the table function: the plan of the rows of a clause."""
        with self._entered(""):
            try:
                with self._entered(""):
                    return self.workload.rows(number)
            except JavaError as error:
                return failing_plan(self.workload.spark, error)

    def view_rows(self, text: str) -> Any:
        """What Spark's analyzer gets for the text of a view that has a UNION ALL."""
        with self._entered(""):
            return self.workload.pooled_view(self._delegate.parseQuery(text))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if not name.startswith("parse"):
            raise AttributeError(name)

        def delegated(*args: Any) -> Any:
            sql = str(args[0]) if args else ""
            with self._entered(sql) as plain:
                if not plain:
                    check_not_typed(sql)
                return getattr(self._delegate, name)(*args)

        return delegated

    def switch_off(self) -> None:
        """Drop all trend views with their results, and leave statements to Spark's own parser until `is_on` again."""
        if self._workload is not None:
            self._workload.drop_views()
        self.is_on = False

    def close(self) -> None:
        """Release what trend queries hold, since nobody uses the session any more."""
        with self._made:
            workload, self._workload = self._workload, None
        if workload is not None:
            workload.release()

    @property
    def session(self) -> Any | None:
        """The JVM's session that this is the parser of; None if it is gone."""
        return self._session.get()

    def holds_queries(self) -> bool:
        """Whether the session has trend queries."""
        return self._workload is not None and self._workload.holds_queries()

    @property
    def workload(self) -> Workload:
        """The trend queries of this parser's session."""
        with self._made:
            if self._workload is None:
                spark = SparkSession(self._context, self.session)
                register_function(spark, self.rows, self.view_rows)
                self._workload = Workload(spark, lambda run: plan_text(report_of_run(run)))
            return self._workload

    @contextmanager
    def _entered(self, sql: str) -> Iterator[bool]:
        """Run on behalf of the JVM; whatever goes wrong is thrown there as an exception of Spark's.

        Yields whether the statement is one without clauses and commands: when this thread was parsing already,
        since sparkext runs such statements itself to look at relations, and when it is switched off.
        """
        _inside.depth += 1
        try:
            send_at_once()
            yield _inside.depth > 1 or not self.is_on
        except PlanningError as error:
            raise spark_error(error, sql if error.text is None else error.text) from None
        except KeyboardInterrupt:
            # The JVM waits for an answer; without one it would never be done with the statement.
            problem = PlanningError("TREND_CANCELLED", 0, 0)
            raise spark_error(problem, sql) from None
        except (CapturedException, JavaError) as error:
            raise own_error(error, sql) from None
        except Exception as error:
            log.exception("sparkext failed on a statement")
            reason = f"{type(error).__name__}: {error}".split("\n", 1)[0]
            problem = PlanningError("TREND_INTERNAL_ERROR", 0, len(sql), reason=reason)
            raise spark_error(problem, sql) from None
        finally:
            _inside.depth -= 1


def check_not_typed(*texts: str) -> None:
    """Refuse texts of the user's that call what stands in for clauses: its numbers are nobody's to give.

    Raises:
        PlanningError: ``TREND_STAND_IN``.
    """
    for text in texts:
        at = find_typed(text)
        if at is not None:
            error = PlanningError("TREND_STAND_IN", *at)
            error.text = text
            raise error


class _Inside(threading.local):
    """How many calls of the JVM into parsers this thread is serving."""

    depth = 0


_inside = _Inside()


def _is_to_be_logged(record: logging.LogRecord) -> bool:
    """Whether the log is to have an error that PySpark makes of one of the JVM's, with a page of JSON for each.

    Not those that pass through here on their way to the user, and none of sparkext's own: they say what is wrong, and
    where, to whoever has made the statement.
    """
    return _inside.depth == 0 and not str(record.msg).startswith("[TREND_")


# PySpark logs errors of SQL when they reach Python, and Py4J when they leave it.
for _name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
    PySparkLogger.getLogger(_name).addFilter(_is_to_be_logged)
logging.getLogger("py4j.clientserver").addFilter(lambda record: not is_on_its_way(record))
