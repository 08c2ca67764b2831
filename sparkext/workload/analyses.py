"""What one analysis of Spark's looks at, each thing once, however many clauses and views it comes across."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias
from weakref import WeakKeyDictionary

from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.clause_use import ClauseUse
from sparkext.binding.column_metadata import metadata_of
from sparkext.binding.meaning import Meaning, has_variables, meaning
from sparkext.binding.recent import Recent
from sparkext.binding.relation import KnownColumns, check_expressions, forget_expressions, is_same, read_source
from sparkext.binding.session_state import SessionState, confs_that_are_read, session_state
from sparkext.execution.query_results import output_columns, unplanned_sql
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.analysis_context import (
    AnalysisContext,
    SeenAnalysis,
    analysis_confs,
    analysis_context,
    current_namespace,
    functions_hash,
    session_confs,
)
from sparkext.jvm.frames import another, columns_of, frame_of_statement, with_metadata
from sparkext.jvm.own_confs import confs_of_the_user, own_confs
from sparkext.jvm.permanent_views import frame_within
from sparkext.jvm.plans import has_filter
from sparkext.jvm.relation_files import Listing, SourceVersion, listings, reads_one_relation
from sparkext.jvm.relation_filter import FilteredRelation, filtered
from sparkext.jvm.storage import KeptPlans
from sparkext.jvm.temp_views import StoredView, frame_of_view, temporary_view
from sparkext.planner.errors import PlanningError
from sparkext.workload.trend_query import Served, TrendQuery

_CALL = re.compile(r"[\w`]\s*\(")
"""In a text that calls a function."""

_ONE_NAME = re.compile(r"SELECT \* FROM ([A-Za-z_]\w*)", re.ASCII)
"""A relation that is a table or a view."""

_STORES_PLANS = "spark.sql.legacy.storeAnalyzedPlanForView"

_OF_ALL_TRENDS = "the result; attributes of events stand inside of aggregates"
_OF_ONE_TREND = "the result; attributes of events stand inside of FIRST, LAST or EVENTS, or of aggregates"
"""What measures are evaluated over, as users would call it."""

_MOST = 1 << 12
"""Most of each kind of thing that a session knows from one analysis to the next.

A session that reads more views than that, one after another, looks at each of them anew.
"""


_Shape: TypeAlias = "tuple[str, tuple[tuple[str, str], ...]]"
"""Of rows that are not read: their SQL, and what Spark knows of columns beside their types, as of `metadata_of`."""


@dataclass(frozen=True, slots=True, eq=False)
class SeenRelation:
    """What a relation was when it was looked at.

    Attributes:
        source: The relation.
        part: What it is a part of, if it is.
    """

    source: AnalysedFrame
    part: FilteredRelation | None


class LastingAnalyses:
    """What stays true from one analysis to the next, for as long as the state of the session is the same.

    Attributes:
        state: That state.
        is_past: Whether the session has another state by now.
        relations: By whether a view reads them and their text, those that are read by one name, as they were last.
        views: Likewise, temporary views that hold plans, and what they were when they were looked at.
        files: Likewise, what their files were.
        columns: Of relations.
        wholes: Those of the relations that they are parts of.
        meanings: Of texts without variables, by the text of a relation and whether it is that of which the relation is
            a part: the relation as it was looked at first, and what each means over its columns.
        unplanned: Rows that measures are checked over, by their shapes, which name nothing of the session.
        unread: Rows of views that have not been read, by the shape of those rows and the columns over them.
    """

    def __init__(self, state: SessionState) -> None:
        self.state = state
        self.is_past = False
        self.relations: Recent[tuple[bool, str], SeenRelation] = Recent(_MOST)
        self.views: Recent[tuple[bool, str], tuple[StoredView, SeenRelation]] = Recent(_MOST)
        self.files: Recent[tuple[bool, str], tuple[Listing, ...]] = Recent(_MOST)
        self.columns = KnownColumns()
        self.wholes = KnownColumns()
        self.meanings: Recent[tuple[str, bool], tuple[AnalysedFrame, Recent[tuple[str, ...], Meaning]]] = Recent(_MOST)
        self.unplanned: Recent[_Shape, AnalysedFrame] = Recent(_MOST)
        self.unread: Recent[tuple[_Shape, tuple[str, ...]], AnalysedFrame] = Recent(_MOST)


@dataclass(frozen=True, slots=True)
class Looks:
    """What all clauses of a statement see of their relations, also those of views, while others write to them.

    Attributes:
        relations: By whether a permanent view reads them and their text.
        files: Theirs, likewise.
        kept: What they read of what users have asked Spark to keep, likewise.
    """

    relations: dict[tuple[bool, str], SeenRelation] = field(default_factory=dict)
    files: dict[tuple[bool, str], tuple[Listing, ...]] = field(default_factory=dict)
    kept: dict[tuple[bool, str], tuple[int, ...]] = field(default_factory=dict)


class AnalysedRelations:
    """What has been looked at under one state of the session.

    Attributes:
        state: That state.
        analysis_confs: Confs that the analysis reads.
        is_by_itself: Whether the outermost query is analysed: that of a statement, or of a view that is created,
            dropped or analysed, and not read.
        served: What the clauses that the analysis has come across are served from, whatever their views' settings.
        problem: What is wrong with a clause in the relation that is being read.
    """

    def __init__(
        self,
        spark: SparkSession,
        lasting: LastingAnalyses,
        context: AnalysisContext,
        confs: dict[str, str],
        served: WeakKeyDictionary[TrendQuery, Served],
        looks: Looks,
    ) -> None:
        self.state = lasting.state
        self.served = served
        self.analysis_confs = confs
        self._own_confs = confs if context.is_outermost and not context.namespace else None
        self._is_at_home = not context.namespace or context.namespace == current_namespace(spark)
        self.is_by_itself = context.is_outermost
        self.problem: PlanningError | None = None
        self._spark = spark
        self._relations, self._files, self._kept = looks.relations, looks.files, looks.kept
        self._same: dict[tuple[int, int], tuple[bool, AnalysedFrame, AnalysedFrame]] = {}
        self._meanings: dict[tuple[int, tuple[str, ...]], tuple[Meaning, AnalysedFrame]] = {}
        self._lasting = lasting
        self._context = context
        self._elsewhere: dict[tuple[str, ...], AnalysedRelations] = {}

    def of(self, query: BoundQuery, use: ClauseUse) -> AnalysedRelations | None:
        """Looks at what a query reads: these, or those of another schema, as a permanent view may be of.

        None if the query is to be looked at under other settings, or if its texts depend on the schema.
        """
        own = query.state.environment
        if own == self.state.environment:
            return self
        is_like = own == replace(self.state.environment, namespace=own.namespace)
        if use.view is None or query.needs_schema or not is_like:
            return None
        if own.namespace not in self._elsewhere:
            lasting = LastingAnalyses(replace(self.state, environment=own))
            self._elsewhere[own.namespace] = AnalysedRelations(
                self._spark, lasting, self._context, self.confs, self.served, Looks()
            )
        return self._elsewhere[own.namespace]

    @cached_property
    def confs(self) -> dict[str, str]:
        """Confs of the session: its settings are among them, whatever a view that is being read has kept of others."""
        return session_confs(self._spark) if self._own_confs is None else self._own_confs

    @cached_property
    def reading(self) -> tuple[tuple[str, str], ...]:
        """Confs of the session by which a plan gives other rows, whatever a view that is being read has kept of them.

        Spark reads files, and calls functions of Python's, by the confs of the session that runs a plan.
        """
        return confs_that_are_read(self._spark, self.confs)

    @property
    def stores_plans(self) -> bool:
        """Whether a temporary view is what its text means when it is created, and is never looked at again."""
        return self.confs.get(_STORES_PLANS, "false").lower() == "true"

    def relation(self, use: ClauseUse) -> SeenRelation:
        """The relation that a clause reads, as it is now.

        Raises:
            PlanningError: There is none, or it cannot be read.
        """
        key = use.view is not None, use.source
        seen = self._relations.get(key)
        if seen is None:
            self.problem = None
            seen = self._relations[key] = self._looked_at(key, use)
        return seen

    def _looked_at(self, key: tuple[bool, str], use: ClauseUse) -> SeenRelation:
        """The relation that a clause reads. It is analysed unless it is a view that holds a plan, and still there."""
        name = _ONE_NAME.fullmatch(use.source) if use.view is None and self._is_at_home else None
        view = None if name is None else temporary_view(self._spark, name[1])
        known = self._lasting.views.get(key)
        if known is not None and known[1] is self._lasting.relations.get(key) and known[0].is_there(view):
            return known[1]
        try:
            source = read_source(lambda: self._read(use), *use.source_at)
        except PlanningError as error:
            raise self.problem or error from None
        seen = self._seen(key, use, source)
        if (stored := StoredView.of(view)) is not None:
            self._lasting.views[key] = stored, seen
        return seen

    def _seen(self, key: tuple[bool, str], use: ClauseUse, source: AnalysedFrame) -> SeenRelation:
        """What a relation is: what it was when it was looked at last, if it is that relation still."""
        before = self._lasting.relations.get(key)
        if before is not None and source.is_that_again(before.source):
            return before
        seen = SeenRelation(source, filtered(source))
        self._lasting.columns.recall(use.source, source)
        if seen.part is not None:
            self._lasting.wholes.recall(use.source, seen.part.whole)
        # Whether a filter is ours to apply depends on what Spark keeps.
        if not has_filter(source.analysed_plan) and reads_one_relation(source):
            self._lasting.relations[key] = seen
        return seen

    def bind(self, use: ClauseUse, name: str, is_whole: bool = False) -> BoundQuery:
        """A clause, bound to the relation that it reads as that is now.

        Args:
            use: The clause.
            name: Of the query.
            is_whole: Whether to read that relation itself, and not the one that it is a part of.

        Raises:
            PlanningError: There is no such relation, or the clause does not fit it.
        """
        seen = self.relation(use)

        def meaning_of(source: AnalysedFrame, texts: tuple[str, ...]) -> Meaning:
            return self._lasting_meaning((use.source, source is not seen.source), source, texts)

        try:
            bound = self._of_functions_now(
                use.bind(seen.source, None if is_whole else seen.part, name, self.state, meaning_of)
            )
        except (PlanningError, CapturedException):
            self._forget_expressions(seen)
            raise
        self._lasting.columns.learn(use.source, seen.source)
        if seen.part is not None:
            self._lasting.wholes.learn(use.source, seen.part.whole)
        if bound.has_variables:
            self._forget_expressions(seen)
        return bound

    @staticmethod
    def _forget_expressions(seen: SeenRelation) -> None:
        forget_expressions(seen.source)
        if seen.part is not None:
            forget_expressions(seen.part.whole)

    def _of_functions_now(self, bound: BoundQuery) -> BoundQuery:
        """A query, in the state that the session has after it has been bound.

        Spark loads a function of the catalog when it is first called, and forgets it when it is replaced: the state
        before the call would come again.
        """
        if not any(_CALL.search(text) for text in bound.texts):
            return bound
        functions = functions_hash(self._spark)
        if functions == bound.state.functions:
            return bound
        self._lasting.is_past = True
        return replace(bound, state=replace(bound.state, functions=functions))

    def _read(self, use: ClauseUse) -> AnalysedFrame:
        with confs_of_the_user():
            if use.view is not None:
                return frame_within(self._spark, use.view, use.source)
            if self._is_at_home:
                return frame_of_statement(self._spark, use.source)
            return frame_of_view(self._spark, use.source)

    def files(self, use: ClauseUse) -> tuple[Listing, ...]:
        """The files of that relation, as they are now.

        Raises:
            PlanningError: There is no such relation, or it cannot be read.
        """
        key = use.view is not None, use.source
        files = self._files.get(key)
        if files is None:
            files = self._files[key] = listings(self.relation(use).source)
            before = self._lasting.files.get(key)
            if before not in (None, files) and self._lasting.relations.pop(key) is not None:
                del self._relations[key]  # what is known of its size is known no more
            self._lasting.files[key] = files
        return files

    def version(self, use: ClauseUse, keeping: KeptPlans) -> SourceVersion:
        """What decides the rows of that relation now.

        Args:
            use: The clause that reads it.
            keeping: What users have asked Spark to keep.

        Raises:
            PlanningError: As for `files`.
        """
        key = use.view is not None, use.source
        files = self.files(use)
        if key not in self._kept:
            self._kept[key] = keeping.read_by(self.relation(use).source)
        return SourceVersion(files, self.reading, self._kept[key])

    def is_same(self, source: AnalysedFrame, other: AnalysedFrame) -> bool:
        """Whether a relation that has been looked at has the same rows and names as another, files apart."""
        if source is other:
            return True
        key = id(source), id(other)
        if key not in self._same:
            self._same[key] = is_same(source, other), source, other
        return self._same[key][0]

    def meaning(self, source: AnalysedFrame, texts: tuple[str, ...]) -> Meaning:
        """What texts mean over a relation that has been looked at."""
        key = id(source), texts
        if key not in self._meanings:
            self._meanings[key] = meaning(source, texts), source
        return self._meanings[key][0]

    def _lasting_meaning(self, of: tuple[str, bool], source: AnalysedFrame, texts: tuple[str, ...]) -> Meaning:
        """What texts mean over ``source``: what they did when it was looked at first, if it is still the same."""
        seen = self._lasting.meanings.get(of)
        if seen is None or not self.is_same(source, seen[0]):
            seen = self._lasting.meanings[of] = source, Recent(_MOST)
        _, meanings = seen
        expressions = meanings.get(texts)
        if expressions is None:
            expressions = self.meaning(source, texts)
            if not expressions.has_variables:
                meanings[texts] = expressions
        return expressions

    def means_same(self, query: BoundQuery) -> bool:
        """Whether the expressions of a query mean what they did when it was bound."""
        if self.is_known(query):
            return True
        if query.state.environment != self.state.environment:
            return False
        lengths = query.length_meaning
        try:
            return query.meaning.is_same(self.meaning(query.source, query.texts)) and (
                lengths is None or lengths.is_same(self.meaning(query.source, query.length_texts))
            )
        except CapturedException:
            return False  # a function is gone, say: to bind the query anew tells where it is called

    def is_known(self, query: BoundQuery) -> bool:
        """Whether nothing that its expressions depend on has changed since a query was bound."""
        return query.state == self.state and not query.has_variables

    def unplanned(self, query: BoundQuery) -> AnalysedFrame:
        """Rows as those that the measures of ``query`` are evaluated over, which fail when they are read.

        Raises:
            PlanningError: A measure is no scalar expression over aggregates and result columns.
        """
        shape = text, metadata = self._shape(query)
        lasting = self._lasting.unplanned.get(shape)
        if lasting is None:
            lasting = with_metadata(frame_of_statement(self._spark, text), dict(metadata))
            self._lasting.unplanned[shape] = lasting
        rows = another(lasting)
        measures = [("MEASURES", measure.expression) for measure in query.computed_measures]
        check_expressions(rows, measures, _OF_ONE_TREND if query.query.has_rows else _OF_ALL_TRENDS)
        return rows

    def check_measures(self, query: BoundQuery) -> None:
        """Look at the measures of ``query``, if Spark is to make something of them.

        Raises:
            PlanningError: As for `unplanned`.
        """
        if query.computed_measures:
            self.unplanned(query)

    def unread(self, query: BoundQuery) -> AnalysedFrame:
        """Rows as those of ``query``, which fail when they are read.

        Raises:
            PlanningError: As for `unplanned`.
        """
        columns = output_columns(query)
        key = self._shape(query), tuple(columns)
        rows = self._lasting.unread.get(key)
        if rows is None:
            rows = columns_of(self.unplanned(query), columns)
            if not has_variables(rows):
                self._lasting.unread[key] = rows
        return rows

    @staticmethod
    def _shape(query: BoundQuery) -> _Shape:
        return unplanned_sql(query), tuple(metadata_of(query.source, [(key.name, key.text) for key in query.groups]))


class _Thread(threading.local):
    """What a thread is looking at.

    Attributes:
        inner: Relations of the analysis that is under way; analyses that we start on its behalf share them.
        outer: Spark's analysis, for as long as it might go on.
        relations: Of that analysis.
        served: What its clauses are served from.
        looks: By the state of the session.
    """

    def __init__(self) -> None:
        self.inner: AnalysedRelations | None = None
        self.outer: SeenAnalysis | None = None
        self.relations: dict[tuple[SessionState, bool], AnalysedRelations] = {}
        self.served: WeakKeyDictionary[TrendQuery, Served] = WeakKeyDictionary()
        self.looks: dict[SessionState, Looks] = {}


class Analyses:
    """Gives each analysis of a session its relations."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._thread = _Thread()
        self._lasting: LastingAnalyses | None = None

    @contextmanager
    def relations(self, in_analysis: bool = True) -> Iterator[AnalysedRelations]:
        """Looks of the analysis that this thread is making.

        What is wrong with a clause that another one reads is raised there as it is, however Spark calls it.

        Args:
            in_analysis: Whether Spark's analyzer is asking; else there is nothing that could have been looked at.
        """
        outer = self._thread.inner
        if not in_analysis:
            self._thread.outer = None
        relations = outer or self._relations_of_analysis()
        self._thread.inner = relations
        try:
            with own_confs(relations.analysis_confs):
                yield relations
        except PlanningError as error:
            if outer is not None:
                outer.problem = error
            raise
        finally:
            self._thread.inner = outer

    def _relations_of_analysis(self) -> AnalysedRelations:
        context, thread = analysis_context(), self._thread
        confs = analysis_confs()
        state = session_state(self._spark, confs, context.namespace)
        if thread.outer is None or not thread.outer.is_that_of(context):
            thread.outer, thread.relations, thread.served = SeenAnalysis(context), {}, WeakKeyDictionary()
            thread.looks = {}
        key = state, context.is_outermost
        if key not in thread.relations:
            if self._lasting is None or self._lasting.is_past or self._lasting.state != state:
                self._lasting = LastingAnalyses(state)
            looks = thread.looks.setdefault(state, Looks())
            thread.relations[key] = AnalysedRelations(self._spark, self._lasting, context, confs, thread.served, looks)
        return thread.relations[key]
