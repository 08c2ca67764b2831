"""The relation that a clause reads, and expressions over its columns as Spark analyses them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.errors import AnalysisException
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BooleanType, DataType

from planner.errors import PlanningError
from sparkext.expressions import EventExpression
from sparkext.jvm_errors import reason
from sparkext.own_columns import names_own
from sparkext.sql_text import identifier

_checked: WeakKeyDictionary[DataFrame, dict[str, tuple[str, DataType]]] = WeakKeyDictionary()
"""What Spark has said of expressions over a relation, by their texts: the queries of a statement repeat them."""


def read_source(spark: SparkSession, text: str, start: int, end: int) -> DataFrame:
    """The relation ``text``, a complete query, as a data frame; nothing is run.

    Raises:
        PlanningError: ``TREND_SOURCE`` or ``TREND_STREAMING_SOURCE``, placed at ``start``..``end``.
    """
    try:
        source = spark.sql(text)
    except CapturedException as error:
        raise PlanningError("TREND_SOURCE", start, end, reason=reason(error)) from None
    if source.isStreaming:
        raise PlanningError("TREND_STREAMING_SOURCE", start, end)
    return source


def reads_view(source: DataFrame, name: str, is_global: bool) -> bool:
    """Whether a relation reads the temporary view ``name``, directly or through other views."""
    shown = ("`global_temp`." if is_global else "") + identifier(name)
    return f"View ({shown},".lower() in _plan(source).toString().lower()


def operators(source: DataFrame) -> Iterator[str]:
    """Names of the operators that make a relation, as Spark has optimized it: ``Filter``, ``Join``, and so on."""
    todo = [source._jdf.queryExecution().optimizedPlan()]
    while todo:
        plan = todo.pop()
        yield str(plan.nodeName()).split(" ")[0]
        children = plan.children()
        todo += [children.apply(place) for place in range(children.size())]


def is_same(one: DataFrame, other: DataFrame) -> bool:
    """Whether two relations have the same rows and names, files apart that may have come and gone."""
    return bool(one.sameSemantics(other)) and names_alike(one, other)


def names_alike(one: DataFrame, other: DataFrame) -> bool:
    """Whether a name means the same column in both of two relations that Spark finds semantically equal.

    To Spark, ``SELECT a AS b, b AS a`` equals ``SELECT a, b``: it looks at rows and not at names.
    """
    if one.columns != other.columns:
        return False
    return len(set(one.columns)) == len(one.columns) or _qualified(one) == _qualified(other)


def _qualified(frame: DataFrame) -> str:
    """Names of the columns with those of their relations, which tell columns of one name apart."""
    columns = _plan(frame).output()
    return "\n".join(columns.apply(place).qualifiedName() for place in range(columns.size()))


def check_expressions(
    source: DataFrame, wanted: Sequence[tuple[str, EventExpression]], relation: str = "the relation before MATCH_TREND"
) -> list[tuple[str, DataType]]:
    """Name and type that Spark gives each expression over the columns of ``source``.

    Args:
        source: Rows of events.
        wanted: Pairs of where an expression stands (``ORDER BY``) and the expression.
        relation: What the user would call ``source``.

    Raises:
        PlanningError: ``TREND_UNKNOWN_COLUMN``, ``TREND_INVALID_EXPRESSION``,
            ``TREND_UNSUPPORTED_EXPRESSION`` or ``TREND_NON_DETERMINISTIC`` for the first that is wrong.
    """
    known = _checked.setdefault(source, {})
    new = [(where, expression) for where, expression in wanted if expression.text not in known]
    try:
        found = _check(source, new) if new else []
    except (PlanningError, CapturedException):
        found = [_check_one(source, where, expression, relation) for where, expression in new]
    known.update(zip((expression.text for _, expression in new), found, strict=True))
    return [known[expression.text] for _, expression in wanted]


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
            type=kind.simpleString().upper(),
        )


def _check_one(source: DataFrame, where: str, expression: EventExpression, relation: str) -> tuple[str, DataType]:
    try:
        return _check(source, [(where, expression)])[0]
    except CapturedException as error:
        raise _placed(error, where, expression, relation) from None


def _check(source: DataFrame, wanted: Sequence[tuple[str, EventExpression]]) -> list[tuple[str, DataType]]:
    # In parentheses, so that "a b" is wrong and not an a that is called b.
    selected = source.selectExpr(*(f"({expression.text})" for _, expression in wanted))
    plan = selected._jdf.queryExecution().analyzed()
    first_where, first = wanted[0]
    if kind_of(plan) != "Project" or not plan.children().head().sameResult(_plan(source)):
        raise PlanningError(
            "TREND_UNSUPPORTED_EXPRESSION",
            first.start,
            first.end,
            what="an aggregate, window or table function",
            where=first_where,
        )
    if len(selected.schema.fields) != len(wanted):
        raise PlanningError("TREND_UNSUPPORTED_EXPRESSION", first.start, first.end, what="'*'", where=first_where)
    if not plan.deterministic():
        expressions = plan.expressions()
        for place, (where, expression) in enumerate(wanted):
            if not expressions.apply(place).deterministic():
                raise PlanningError("TREND_NON_DETERMINISTIC", expression.start, expression.end, where=where)
    return [(field.name, field.dataType) for field in selected.schema.fields]


def kind_of(node: Any) -> str:
    """The class of a node of a plan, such as ``Filter``."""
    return str(node.getClass().getSimpleName())


def _plan(frame: DataFrame) -> Any:
    return frame._jdf.queryExecution().analyzed()


def _placed(error: CapturedException, where: str, expression: EventExpression, relation: str) -> PlanningError:
    """Spark's error about a fragment, at its place in the user's statement."""
    start, end = expression.start, expression.end
    contexts = error.getQueryContext() if isinstance(error, AnalysisException) else []
    condition = (error.getCondition() if hasattr(error, "getCondition") else None) or ""
    if contexts and 1 <= contexts[0].startIndex() <= contexts[0].stopIndex() <= len(expression.text):
        start, end = start + contexts[0].startIndex() - 1, start + contexts[0].stopIndex()
    if condition.startswith("UNRESOLVED_COLUMN"):
        parameters = error.getMessageParameters() or {}
        name = parameters.get("objectName", "?").replace("`", "")
        proposed = ", ".join(p for p in parameters.get("proposal", "").split(", ") if not names_own(p))
        hint = f"Did you mean one of: {proposed}?" if proposed else "It has no columns like it."
        return PlanningError("TREND_UNKNOWN_COLUMN", start, end, name=name, relation=relation, hint=hint)
    return PlanningError("TREND_INVALID_EXPRESSION", start, end, where=where, reason=reason(error))
