"""A clause where a statement uses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sparkext.binding.bind import bind
from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.meaning import Meaning, meaning
from sparkext.binding.session_state import SessionState
from sparkext.binding.streams import check_stream
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.relation_filter import FilteredRelation
from sparkext.planner.errors import PlanningError
from sparkext.sql.clause import Clause
from sparkext.sql.text_edits import Edits


@dataclass(frozen=True, slots=True)
class ClauseUse:
    """A clause in a statement of the user's.

    Attributes:
        filled: The statement, with values in place of the parameters of the clause.
        clause: Parsed from it.
        text: Of the clause.
        source: A complete query for the relation before the clause.
        source_at: Where that relation stands in the statement.
        relation: Its name or alias, if it has one.
        view: The permanent view of which the statement is the text, with catalog and schema; None if it is of none.
    """

    filled: Edits
    clause: Clause
    text: str
    source: str
    source_at: tuple[int, int]
    relation: str | None
    view: str | None = None

    @property
    def sql(self) -> str:
        """The statement with those values."""
        return self.filled.result()

    def bind(
        self,
        source: AnalysedFrame,
        part: FilteredRelation | None,
        name: str,
        state: SessionState,
        meaning: Callable[[AnalysedFrame, tuple[str, ...]], Meaning] = meaning,
    ) -> BoundQuery:
        """The query called ``name`` that the clause is over ``source``, which is ``part`` of another relation.

        What texts mean over the columns of a relation is as ``meaning`` says.

        Raises:
            PlanningError: With the position of what is wrong.
        """
        bound = bind(self.sql, self.clause, source, part, self.relation, name, state, meaning)
        if source.is_stream:
            check_stream(source, self.clause, self.source_at, bound)
        return bound

    def placed(self, error: PlanningError) -> PlanningError:
        """``error``, of binding or planning the clause, with its position in the statement as the user wrote it."""
        if error.text is None:
            error.start, error.end = self.filled.origin(error.start, error.end)
            error.text = self.filled.text
            error.view = self.view or error.view
        return error
