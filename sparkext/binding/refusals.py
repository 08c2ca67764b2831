"""What an expression cannot hold although MATCH_RECOGNIZE or Spark SQL has it, found by name.

Spark itself would speak of functions that it does not know, or of a GROUP BY that is missing.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

from sparkext.jvm.analysis_context import is_aggregate
from sparkext.planner.errors import PlanningError
from sparkext.sql.aggregate_calls import SIDES
from sparkext.sql.clause import Expression
from sparkext.sql.completion_calls import OF_WITNESS
from sparkext.sql.event_expressions import AGGREGATES, begins_query, is_call, is_last_but_one, is_star
from sparkext.sql.spelling import closest
from sparkext.sql.tokens import Token, matching, tokenize

_OF_ROWS = "With ONE ROW PER COMPLETION, it is about one trend for each event that ends one"
_BEFORE = "PREV(x), in DEFINE, is x of the event before in the trend"
_EARLIER = f"A.x, in the condition of another variable, is x of the latest event of A, and {_BEFORE}"
_OF_ONE_EVENT = "all events of a trend agree on it, and this is about one of them"
_OUTSIDE = (
    "Aggregate it in MEASURES, as in MIN({0}(x)); or compute it before the clause, for each key, as in "
    "first_value(x) OVER (PARTITION BY k ORDER BY t) AS first_x, and group by that"
)
_OF_MATCH_RECOGNIZE = {
    "FIRST": ("a condition is about one event, and what came before it", _EARLIER),
    "LAST": ("a condition is about one event, and what came before it", _EARLIER),
    "NEXT": (
        "an event is counted before the next one is known",
        "Define the variable of the later event instead: " + _BEFORE,
    ),
    "CLASSIFIER": (
        "an event counts once for each variable that it stands for",
        f"COUNT(X), SUM(X.a), … range over the events that stand for X. {_OF_ROWS}",
    ),
    "EVENTS": ("a measure is about all trends, each of which has its own events", _OF_ROWS),
    "MATCH_NUMBER": ("trends are counted and not numbered", "COUNT(*) is their number"),
}
_NO_SINGLE_TREND = "a measure is about all trends, each of which has its own"
_OF_ENDS = f"Aggregate it over the trends, as in AVG({{0}}(price)) or MAX({{0}}(X.price)). {_OF_ROWS}"
_MODES = {
    "RUNNING": ("a measure is about whole trends", "Leave the word out"),
    "FINAL": ("a measure is about whole trends anyway", "Leave the word out"),
}
_OWN_TO_MATCH_RECOGNIZE = frozenset(("NEXT", "CLASSIFIER", "MATCH_NUMBER", "EVENTS"))
"""Names that are free in Spark, so that a user may have functions of these names."""
_PATTERN_MATCHING = frozenset(("LIKE", "ILIKE", "RLIKE", "REGEXP"))
"""Words after which ANY and SOME are no aggregates."""


def check_foreign(spark: SparkSession, where: str, expression: Expression, has_rows: bool = False) -> None:
    """Refuse what cannot be used in a clause, whatever its columns are.

    Args:
        spark: Knows the functions.
        where: The clause, e.g. ``MEASURES``.
        expression: Of that clause.
        has_rows: Whether each completion is a row, so that measures may be about one trend.

    What follows the beginning of a subquery is not looked at: over events, subqueries are refused elsewhere.

    Raises:
        PlanningError: ``TREND_MATCH_RECOGNIZE_FUNCTION``, ``TREND_UNKNOWN_AGGREGATE``,
            ``TREND_NESTED_AGGREGATE``, ``TREND_PREV_MISPLACED`` or ``TREND_UNSUPPORTED_EXPRESSION``.
    """
    tokens = expression.tokens
    if is_star(tokens):
        raise _unsupported(expression.start, expression.end, "'*'", where)
    outer: Token | None = None
    outer_end = -1
    for at, token in enumerate(tokens):
        if begins_query(tokens, at):
            if where == "MEASURES":
                raise _unsupported(token.start, token.end, "A subquery", where)
            return
        if at > outer_end:
            outer = None
        _check_mode(tokens, at)
        if not is_call(tokens, at):
            continue
        word = token.word
        if _is_known(where, tokens, at, has_rows) or _is_of_end(where, token, outer):
            continue
        _check_match_recognize(spark, where, token)
        _check_prev(where, token)
        if where == "MEASURES" and word in AGGREGATES:
            if outer is None:
                outer, outer_end = token, matching(tokens, at + 1) or len(tokens)
        elif _is_aggregate(tokens, at):
            if where != "MEASURES":
                raise _unsupported(token.start, token.end, f"The aggregate {word}", where)
            if outer is not None:
                raise PlanningError("TREND_NESTED_AGGREGATE", token.start, token.end, inner=word, outer=outer.word)
            raise _unknown_aggregate(token, "")
        else:
            _check_spelling(spark, where, token)


def check_functions(spark: SparkSession, text: str, offset: int) -> None:
    """Refuse functions of the current schema in a clause of a permanent view, which is read with other ones, too.

    Args:
        spark: Knows the functions.
        text: Of the clause.
        offset: Where it stands in the statement.

    Raises:
        PlanningError: ``TREND_PERMANENT_VIEW`` for the first that is called without its schema.
    """
    tokens = tokenize(text)
    for at, token in enumerate(tokens):
        if not is_call(tokens, at) or not token.name or not spark.catalog.functionExists(token.name):
            continue
        function = spark.catalog.getFunction(token.name)
        if not function.isTemporary and function.namespace:
            named = ".".join([*function.namespace, function.name])
            problem = (
                f"{function.name} is a function of the current schema, and sessions that read the view have others"
            )
            at_call = token.start + offset, token.end + offset
            raise PlanningError("TREND_PERMANENT_VIEW", *at_call, problem=problem, hint=f"Write {named}.")


def _unknown_aggregate(token: Token, proposal: str) -> PlanningError:
    return PlanningError("TREND_UNKNOWN_AGGREGATE", token.start, token.end, function=token.word, proposal=proposal)


def _check_spelling(spark: SparkSession, where: str, token: Token) -> None:
    """Refuse a name of no function that was probably meant to be an aggregate of a measure."""
    meant = closest(token.word, tuple(AGGREGATES)) if token.word and where == "MEASURES" else None
    if meant is not None and not spark.catalog.functionExists(token.word.lower()):
        raise _unknown_aggregate(token, f" Did you mean {meant}?")


def _check_match_recognize(spark: SparkSession, where: str, token: Token) -> None:
    """Refuse a call of a function of MATCH_RECOGNIZE that means nothing there."""
    if token.word in SIDES and where in ("GROUP BY", "PARTITION BY", "ORDER BY", "TYPE BY"):
        raise _of_match_recognize(token, _OF_ONE_EVENT, _OUTSIDE.format(token.word))
    if token.word in _OF_MATCH_RECOGNIZE and not _is_users(spark, token.word):
        raise _of_match_recognize(token, *_OF_MATCH_RECOGNIZE[token.word])


def _is_known(where: str, tokens: Sequence[Token], at: int, has_rows: bool) -> bool:
    """Whether a call is ``LAST(e, 1)`` in DEFINE, or about the one trend of a completion that is a row."""
    if where == "DEFINE":
        return is_last_but_one(tokens, at)
    return has_rows and where == "MEASURES" and tokens[at].word in OF_WITNESS


def _is_of_end(where: str, token: Token, outer: Token | None) -> bool:
    """Whether a call is about the ends of trends in an aggregate; one outside of any is refused."""
    if where != "MEASURES" or token.word not in SIDES:
        return False
    if outer is None:
        raise _of_match_recognize(token, _NO_SINGLE_TREND, _OF_ENDS.format(token.word))
    return True


def _check_prev(where: str, token: Token) -> None:
    """Refuse a call of ``PREV`` outside of DEFINE."""
    if token.word == "PREV" and where != "DEFINE":
        raise PlanningError("TREND_PREV_MISPLACED", token.start, token.end)


def _check_mode(tokens: Sequence[Token], at: int) -> None:
    """Refuse ``RUNNING`` and ``FINAL`` before an aggregate or a function of MATCH_RECOGNIZE."""
    if tokens[at].word not in _MODES or at + 1 >= len(tokens) or not is_call(tokens, at + 1):
        return
    if tokens[at + 1].word in AGGREGATES or tokens[at + 1].word in _OF_MATCH_RECOGNIZE:
        raise _of_match_recognize(tokens[at], *_MODES[tokens[at].word])


def _is_users(spark: SparkSession, word: str) -> bool:
    return word in _OWN_TO_MATCH_RECOGNIZE and spark.catalog.functionExists(word.lower())


def _is_aggregate(tokens: Sequence[Token], at: int) -> bool:
    """Whether the call at ``at`` is of an aggregate function of Spark's."""
    word = tokens[at].word
    return bool(word) and not (at > 0 and tokens[at - 1].word in _PATTERN_MATCHING) and is_aggregate(word)


def _of_match_recognize(token: Token, reason: str, hint: str) -> PlanningError:
    return PlanningError(
        "TREND_MATCH_RECOGNIZE_FUNCTION", token.start, token.end, function=token.word, reason=reason, hint=hint
    )


def _unsupported(start: int, end: int, what: str, where: str) -> PlanningError:
    return PlanningError("TREND_UNSUPPORTED_EXPRESSION", start, end, what=what, where=where)
