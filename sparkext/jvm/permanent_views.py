"""Permanent views, of which the catalog has the user's text and Spark's analyzer all else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import Any

from pyspark.errors.exceptions.captured import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.functions import lit

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.analysis_context import of_no_view
from sparkext.jvm.frames import projection
from sparkext.jvm.gateway import items, java_class, option, scala_seq
from sparkext.jvm.plans import Plan
from sparkext.jvm.temp_views import frame_in_analysis, frame_of_view
from sparkext.sql.quoting import identifier

_TEXT = "originalText"
"""What a statement that creates or alters a view calls the text of its query."""


def with_view_text(plan: Plan, change: Callable[[str], str]) -> Plan:
    """A statement that creates or alters a permanent view, of which the catalog is to have another text.

    Args:
        plan: The statement, parsed.
        change: Gives that text for the one that has been parsed.
    """
    names = [str(plan.productElementName(index)) for index in range(plan.productArity())]
    parts = [plan.productElement(index) for index in range(len(names))]
    index = names.index(_TEXT)
    is_text = isinstance(parts[index], str)
    text = change(parts[index] if is_text else parts[index].get())
    parts[index] = text if is_text else option(text)
    return plan.copy(*parts)


def rows_to_be_stored(rows: AnalysedFrame, columns: Iterable[str], source: str, texts: Iterable[str]) -> Plan:
    """The plan of rows of a view that is created, in which Spark finds what no permanent view may refer to.

    Temporary views, functions and variables count as the view's own, wherever in a clause they are, and so does the
    view itself. None of its rows is ever read.

    Args:
        rows: As those that ``columns`` are computed from.
        columns: Of the view, as SQL.
        source: A query for the relation before the clause.
        texts: What the clause evaluates for each event of it, as SQL.
    """
    spark = rows.sparkSession
    query = spark._jsparkSession.sessionState().sqlParser().parseQuery(source)
    events = frame_in_analysis(spark, projection(query, (f"({text}\n)" for text in texts)))
    shown = frame_in_analysis(spark, projection(rows.analysed_plan, columns))
    return AnalysedFrame.of(shown.join(events, lit(False), "left_semi")).analysed_plan


def is_temporary(spark: SparkSession, name: Sequence[str]) -> bool:
    """Whether the view that a statement calls ``name`` is a temporary one."""
    return bool(spark._jsparkSession.sessionState().catalog().isTempView(scala_seq(name)))


def view_being_parsed() -> str:
    """The permanent view whose text Spark parses: catalog, schema and name, with dots between."""
    return str(java_class("org.apache.spark.sql.catalyst.trees.CurrentOrigin").get().objectName().get())


def text_in_catalog(spark: SparkSession, view: str) -> str | None:
    """The text that the catalog has of a view; None if there is no such view."""
    try:
        text = _table(spark, view).viewText()
    except AnalysisException:
        return None
    return str(text.get()) if text.isDefined() else None


def views_of_schema(spark: SparkSession, schema: str) -> dict[str, str]:
    """Texts of the permanent views of a schema of Spark's own catalog, by their names, with catalog and schema.

    Args:
        spark: The session.
        schema: Catalog and schema, with a dot between.
    """
    catalog = spark._jsparkSession.sessionState().catalog()
    listed = items(catalog.listViews(schema.rpartition(".")[2], "*"))
    permanent = [view for view in listed if view.database().isDefined()]
    tables = items(catalog.getTablesByName(scala_seq(permanent)))
    return {
        f"{schema}.{table.identifier().table()}": str(table.viewText().get())
        for table in tables
        if table.viewText().isDefined()
    }


def look_at_view(spark: SparkSession, view: str) -> None:
    """Analyse a permanent view, within the analysis of another, as if it were by itself.

    Raises:
        AnalysisException: Something that it reads is not there any more, or it is wrong.
    """
    read = _Call(lambda: AnalysedFrame(spark._jsparkSession.table(".".join(map(identifier, view.split(".")))), spark))
    contexts = java_class("org.apache.spark.sql.catalyst.analysis.AnalysisContext")
    with of_no_view():
        contexts.withNewAnalysisContext(read)
    read.result()


def frame_within(spark: SparkSession, view: str, text: str) -> AnalysedFrame:
    """The rows of a query that is a part of a permanent view, whose names mean what they mean in the view.

    Raises:
        AnalysisException: There is no such view any more, or the query is wrong.
    """
    read = _Call(lambda: frame_of_view(spark, text))
    contexts = java_class("org.apache.spark.sql.catalyst.analysis.AnalysisContext")
    contexts.withAnalysisContext(_table(spark, view), read)
    return read.result()


def without_views(plan: Plan) -> Plan:
    """An analysed plan that does not say which views it reads: Spark lets permanent views read no temporary ones."""
    return java_class("org.apache.spark.sql.catalyst.analysis.EliminateView").apply(plan)


class _Call:
    """A function of Scala's that calls one of Python's, whose result or failure is Python's."""

    def __init__(self, function: Callable[[], AnalysedFrame]) -> None:
        self._function = function
        self._made: Future[AnalysedFrame] = Future()

    def apply(self) -> None:
        """Call it."""
        try:
            self._made.set_result(self._function())
        except Exception as error:
            self._made.set_exception(error)

    def result(self) -> AnalysedFrame:
        """What it has returned; what it has raised is raised."""
        return self._made.result()

    class Java:
        implements = ("scala.Function0",)


def _table(spark: SparkSession, view: str) -> Any:
    """What the catalog has of a view."""
    *_, schema, name = view.split(".")
    identifier = java_class("org.apache.spark.sql.catalyst.TableIdentifier")(name, option(schema))
    return spark._jsparkSession.sessionState().catalog().getTableMetadata(identifier)
