"""The relation that a clause reads, and expressions over its columns as Spark analyses them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias
from weakref import WeakKeyDictionary

from pyspark.errors import AnalysisException
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql.types import BooleanType, DataType, StructType

from sparkext.binding.recent import Recent
from sparkext.binding.type_text import type_text
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import columns_of
from sparkext.jvm.gateway import JavaError, thrown_class
from sparkext.jvm.plans import first_non_deterministic, has_other_columns, selects_from, with_subqueries
from sparkext.jvm.spark_errors import reason
from sparkext.planner.errors import PlanningError
from sparkext.sql.event_expressions import EventExpression
from sparkext.sql.own_columns import names_own, without_own
from sparkext.sql.quoting import identifier

_MOST_SHOWN = 10
"""Most columns that a message lists."""
_OF_FRAME = re.compile(r"`sparkext_source_\d+`\.")
"""What Spark puts before a column of a data frame that has been made a view to be read."""
_MOST_RELATIONS = 1 << 12
"""Most relations that a session remembers columns of."""

Named: TypeAlias = tuple[str, DataType]
"""Name and type that Spark gives an expression."""

_checked: WeakKeyDictionary[AnalysedFrame, dict[str, Named]] = WeakKeyDictionary()
"""What Spark has said of expressions over a relation, by their texts: the queries of a statement repeat them."""


class KnownColumns:
    """What Spark has said of plain columns, by the text of their relation: statements repeat them.

    For one state of a session: there the name of a column means that column for as long as the schema is the same.
    """

    def __init__(self) -> None:
        self._known: Recent[str, tuple[StructType, dict[str, Named]]] = Recent(_MOST_RELATIONS)

    def recall(self, text: str, source: AnalysedFrame) -> None:
        """Use for the columns of ``source``, read by ``text``, the names and types that Spark gave before."""
        remembered = self._known.get(text)
        if remembered is not None and remembered[0] == source.schema:
            _checked[source] = dict(remembered[1])

    def learn(self, text: str, source: AnalysedFrame) -> None:
        """Remember what Spark has said of columns of ``source``."""
        names = set(source.columns)
        columns = {said: named for said, named in _checked.get(source, {}).items() if said in names}
        self._known[text] = source.schema, columns


def read_source(read: Callable[[], AnalysedFrame], start: int, end: int) -> AnalysedFrame:
    """The relation that ``read`` gives; nothing is run.

    Raises:
        PlanningError: ``TREND_SOURCE``, placed at ``start``..``end``.
    """
    try:
        return read()
    except CapturedException as error:
        raise PlanningError("TREND_SOURCE", start, end, reason=reason(error)) from None


def reads_view(source: AnalysedFrame, name: str, is_global: bool) -> bool:
    """Whether a relation reads the temporary view ``name``, directly or through other views."""
    shown = ("`global_temp`." if is_global else "") + identifier(name)
    return f"View ({shown},".lower() in source.shown_plan.lower()


def is_same(left: AnalysedFrame, right: AnalysedFrame) -> bool:
    """Whether two relations have the same rows and names, files apart that may have come and gone."""
    return bool(left.sameSemantics(right)) and names_alike(left, right)


def names_alike(left: AnalysedFrame, right: AnalysedFrame) -> bool:
    """Whether a name means the same column in both of two relations that Spark finds semantically equal.

    To Spark, ``SELECT a AS b, b AS a`` equals ``SELECT a, b``: it looks at rows and not at names.
    """
    if left.columns != right.columns:
        return False
    return len(set(left.columns)) == len(left.columns) or left.qualified_names() == right.qualified_names()


def check_expressions(
    source: AnalysedFrame,
    wanted: Sequence[tuple[str, EventExpression]],
    relation: str = "the relation before MATCH_TREND",
) -> list[Named]:
    """Name and type that Spark gives each expression over the columns of ``source``.

    Args:
        source: Rows of events.
        wanted: Pairs of where an expression stands (``ORDER BY``) and the expression.
        relation: What the user would call ``source``.

    Raises:
        PlanningError: ``TREND_UNKNOWN_COLUMN``, ``TREND_INVALID_EXPRESSION``,
            ``TREND_UNSUPPORTED_EXPRESSION`` or ``TREND_NON_DETERMINISTIC`` for the first that is wrong.
    """
    checked = _checked.setdefault(source, {})
    new = [(where, expression) for where, expression in wanted if expression.text.strip() not in checked]
    try:
        results = _check(source, new, columns_of) if new else []
    except (PlanningError, CapturedException, JavaError):
        results = [_check_one(source, where, expression, relation) for where, expression in new]
    checked.update(zip((expression.text.strip() for _, expression in new), results, strict=True))
    return [checked[expression.text.strip()] for _, expression in wanted]


def forget_expressions(source: AnalysedFrame) -> None:
    """Ask Spark anew what expressions over ``source`` are, as where variables in them may be others by then."""
    _checked.pop(source, None)


def check_boolean(variable: str, condition: EventExpression, kind: DataType) -> None:
    """Refuse a condition of DEFINE that is of another type.

    Raises:
        PlanningError: ``TREND_CONDITION_NOT_BOOLEAN``.
    """
    if not isinstance(kind, BooleanType):
        raise PlanningError(
            "TREND_CONDITION_NOT_BOOLEAN",
            condition.start,
            condition.end,
            variable=variable,
            type=type_text(kind),
        )


def _check_one(source: AnalysedFrame, where: str, expression: EventExpression, relation: str) -> Named:
    try:
        return _check(source, [(where, expression)], _one_by_one)[0]
    except CapturedException as error:
        raise _placed(error, where, expression, relation, source) from None
    except JavaError as error:
        if thrown_class(error) != "StackOverflowError":
            raise
        deep = "it is nested too deeply for Spark's parser."
        at = expression.start, expression.end
        raise PlanningError("TREND_INVALID_EXPRESSION", *at, where=where, reason=deep) from None


def _one_by_one(source: AnalysedFrame, texts: Iterable[str]) -> AnalysedFrame:
    """So that Spark's errors have positions in these texts."""
    return AnalysedFrame.of(source.selectExpr(*texts))


def _check(
    source: AnalysedFrame,
    wanted: Sequence[tuple[str, EventExpression]],
    select: Callable[[AnalysedFrame, Iterable[str]], AnalysedFrame],
) -> list[Named]:
    # In parentheses, so that "a b" is wrong and not an a that is called b.
    selected = select(source, (f"({expression.text}\n)" for _, expression in wanted))
    plan = selected.analysed_plan
    first_where, first = wanted[0]
    if not selects_from(plan, source.analysed_plan):
        is_hidden = has_other_columns(plan, source.analysed_plan)
        what = "A hidden column of the relation" if is_hidden else "An aggregate, window or table function"
        raise PlanningError("TREND_UNSUPPORTED_EXPRESSION", first.start, first.end, what=what, where=first_where)
    if (subqueries := len(with_subqueries(plan))) > 1 and subqueries > len(with_subqueries(source.analysed_plan)):
        what = "A function that has a subquery in it"
        raise PlanningError("TREND_UNSUPPORTED_EXPRESSION", first.start, first.end, what=what, where=first_where)
    if len(selected.schema.fields) != len(wanted):
        raise PlanningError("TREND_UNSUPPORTED_EXPRESSION", first.start, first.end, what="'*'", where=first_where)
    if (number := first_non_deterministic(plan)) is not None:
        where, expression = wanted[number]
        raise PlanningError("TREND_NON_DETERMINISTIC", expression.start, expression.end, where=where)
    return [(field.name, field.dataType) for field in selected.schema.fields]


def _columns_hint(columns: Sequence[str]) -> str:
    shown = [identifier(column) for column in columns if not names_own(column)]
    if not shown:
        return "It has no columns."
    more = f" and {len(shown) - _MOST_SHOWN} more" if len(shown) > _MOST_SHOWN else ""
    return f"Its columns are {', '.join(shown[:_MOST_SHOWN])}{more}."


def _has_field(kind: DataType, name: str) -> bool:
    return isinstance(kind, StructType) and name.lower() in map(str.lower, kind.names)


def _placed(
    error: CapturedException, where: str, expression: EventExpression, relation: str, source: AnalysedFrame
) -> PlanningError:
    """Spark's error about a fragment, at its position in the user's statement."""
    start, end = expression.start, expression.end
    contexts = error.getQueryContext() if isinstance(error, AnalysisException) else []
    condition = error.getCondition() or ""
    if contexts and 1 <= contexts[0].startIndex() <= contexts[0].stopIndex() <= len(expression.text):
        start, end = start + contexts[0].startIndex() - 1, start + contexts[0].stopIndex()
    if condition.startswith("UNRESOLVED_COLUMN"):
        parameters = error.getMessageParameters() or {}
        name = parameters.get("objectName", "?").replace("`", "")
        proposals = _OF_FRAME.sub("", parameters.get("proposal", "")).split(", ")
        proposed = ", ".join(proposal for proposal in proposals if not names_own(proposal))
        hint = f"Did you mean one of: {proposed}?" if proposed else _columns_hint(source.columns)
        if holders := [identifier(field.name) for field in source.schema if _has_field(field.dataType, name)]:
            field = f"{holders[0]}.{identifier(name)}"
            hint = f"The column {holders[0]} has such a field: write a variable before both, as in B.{field}."
        return PlanningError("TREND_UNKNOWN_COLUMN", start, end, name=name, relation=relation, hint=hint)
    return PlanningError("TREND_INVALID_EXPRESSION", start, end, where=where, reason=without_own(reason(error)))
