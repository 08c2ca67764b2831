"""What the texts of a query mean to Spark: the same text may mean something else in another state of a session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import columns_of
from sparkext.jvm.plans import is_of_now, plan_text

_VARIABLE = "variablereference("
"""How Spark shows a variable of the session in a plan."""


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """Expressions over a relation, as Spark has analysed them.

    Attributes:
        source: The relation, as it was looked at first.
        frame: Of the expressions, over the relation; it is never run.
        has_variables: Whether they, or the relation, have variables of the session in them.
        is_of_now: Whether they, or the relation, depend on when they are evaluated, as ``now()`` does.
    """

    source: AnalysedFrame
    frame: AnalysedFrame
    has_variables: bool
    is_of_now: bool

    def is_same(self, other: Meaning) -> bool:
        """Whether the expressions of two queries over one relation give the same values for each of its rows."""
        return self.frame is other.frame or bool(self.frame.sameSemantics(other.frame))


def meaning(source: AnalysedFrame, texts: Iterable[str]) -> Meaning:
    """What ``texts`` mean over the columns of ``source``, under the confs that this thread's analyses read."""
    frame = columns_of(source, (f"({text}\n) AS _{index}" for index, text in enumerate(texts)))
    plan = frame.analysed_plan
    return Meaning(source, frame, _VARIABLE in plan_text(plan), is_of_now(plan))


def has_variables(rows: AnalysedFrame) -> bool:
    """Whether the columns of ``rows`` are computed with variables of the session."""
    return _VARIABLE in rows.column_texts
