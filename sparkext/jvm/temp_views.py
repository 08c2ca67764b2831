"""Temporary views that sparkext makes for itself, and those of the user that read them."""

from __future__ import annotations

import itertools
import re
from typing import Any

from pyspark.sql import SparkSession

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import frame_of_plan
from sparkext.jvm.gateway import java_class
from sparkext.jvm.plans import Plan
from sparkext.jvm.table_function import calls_in

_numbers = itertools.count(1)

_may_be_renamed = False

_ANY = "(?s)*"
"""Matches all names of views. Spark makes it a regular expression, which shall not stop at the end of a line."""

_NAME = re.compile(r"CatalogTable\(\n(?:Database: (?P<database>.+)\n)?Table: (?P<name>.*)\n(?:Owner|Created Time): ")
"""How Spark begins to show a view; those of one session have no database."""

_PART = re.compile(r"`(?:[^`]|``)*`", re.DOTALL)
"""Of an identifier."""

_IN_THIS_CONTEXT = "org$apache$spark$sql$catalyst$analysis$Analyzer$$executeSameContext"
"""A method of Spark's analyzer, which begins anew else."""


class StoredView:
    """A temporary view that holds an analysed plan, as that of a data frame does: while it is there it is the same.

    What a view of SQL text is depends on what its names mean when it is read.
    """

    def __init__(self, view: Any) -> None:
        """Of what `temporary_view` has given."""
        self._seen = java_class("java.lang.ref.WeakReference")(view)

    @classmethod
    def of(cls, view: Any | None) -> StoredView | None:
        """None if there is no view, or it is one of SQL text."""
        return None if view is None or view.plan().isEmpty() else cls(view)

    def is_there(self, view: Any | None) -> bool:
        """Whether this is the view that `temporary_view` gives now."""
        return view is not None and bool(self._seen.refersTo(view))


def temporary_view(spark: SparkSession, name: str) -> Any | None:
    """What the catalog of a session has as a temporary view; None if it has none of that name."""
    found = spark._jsparkSession.sessionState().catalog().getRawTempView(name)
    return None if found.isEmpty() else found.get()


def drop_view(spark: SparkSession, name: str) -> None:
    """Drop a temporary view if there is one, but not as users do: Spark would parse what it holds, here, in another
    thread, and would no longer keep the rows of a data frame that is kept and also has this name.
    """
    spark._jsparkSession.sessionState().catalog().dropTempView(name)


def views_may_be_renamed() -> None:
    """Note that a statement of any session may rename a view, which Spark goes on showing by its first name."""
    global _may_be_renamed
    _may_be_renamed = True


def has_trend_views(session: Any) -> bool:
    """Whether a session of the JVM has temporary views of its own that call for clauses."""
    catalog = session.sessionState().catalog()
    return bool(calls_in(str(catalog.listTempViews("", _ANY).mkString())))


def trend_views(spark: SparkSession) -> dict[int, tuple[str, bool]]:
    """Views that call for clauses: name, and whether all sessions see it, by the number of the clause.

    As long as no view has been renamed, the JVM is asked twice, however many views there are.
    """
    catalog = spark._jsparkSession.sessionState().catalog()
    between = f"\0{next(_numbers)}\0"
    everywhere = catalog.globalTempDatabase()
    shown = str(catalog.listTempViews(everywhere, _ANY).mkString(between)).split(between)
    called = {view: numbers for view in shown if (numbers := calls_in(view))}
    if not called:
        return {}
    names = [_unquoted(name) for name in str(catalog.listTables(everywhere, _ANY).mkString(between)).split(between)]
    views: dict[int, tuple[str, bool]] = {}
    for view, numbers in called.items():
        named = _NAME.match(view)
        if named is not None and (named["name"], named["database"] is not None) in names:
            views |= dict.fromkeys(numbers, (named["name"], named["database"] is not None))
    if not _may_be_renamed and all(numbers <= views.keys() for numbers in called.values()):
        return views
    for name, is_global in names:
        raw = catalog.getRawGlobalTempView(name) if is_global else catalog.getRawTempView(name)
        text = "" if raw.isEmpty() else str(raw.get().tableMeta().viewText().toString())
        views |= dict.fromkeys(calls_in(text), (name, is_global))
    return views


def _unquoted(identifier: str) -> tuple[str, bool]:
    """Name of a view, and whether all sessions see it, by how Spark shows its identifier."""
    parts = [part[1:-1].replace("``", "`") for part in _PART.findall(identifier)]
    return parts[-1] if parts else "", len(parts) > 1


def frame_of_view(spark: SparkSession, text: str) -> AnalysedFrame:
    """The rows of a query, analysed as a part of the view that Spark's analyzer is at.

    Its names are those of the catalog and schema that the view was created in, which may not be the current ones.
    """
    return frame_in_analysis(spark, spark._jsparkSession.sessionState().sqlParser().parseQuery(text))


def frame_in_analysis(spark: SparkSession, plan: Plan) -> AnalysedFrame:
    """The rows of a plan, analysed as a part of the statement or view that Spark's analyzer is at."""
    return frame_of_plan(spark, analysed_within(spark, plan))


def analysed_within(spark: SparkSession, plan: Plan) -> Plan:
    """A plan, analysed as a part of the statement or view that Spark's analyzer is at."""
    analyzer = spark._jsparkSession.sessionState().analyzer()
    plan = getattr(analyzer, _IN_THIS_CONTEXT)(plan)
    analyzer.checkAnalysis(plan)
    return plan
