"""The user's expressions, made ready for Spark without ever being generated anew.

``X.price`` becomes ``price`` with blanks in place of the prefix, so that every other character keeps
its offset and what Spark reports can be mapped back to the user's text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from planner.errors import PlanningError
from planner.query import Function
from sparkext.clause import Expression
from sparkext.own_columns import before_name
from sparkext.tokens import Kind, Token, matching, split_at_commas

AGGREGATES = {function.value: function for function in Function}
"""The aggregates of measures, by name."""
SUBQUERY = frozenset(("SELECT", "WITH", "FROM"))
"""Words with which a query in parentheses begins."""


@dataclass(frozen=True, slots=True)
class EventExpression:
    """A scalar expression over the columns of one event.

    Attributes:
        text: As Spark gets it; character i stands at ``start + i`` of the user's statement.
        start: Offset in the user's statement.
        canonical: One spelling for all that differ in blanks, comments and prefixes only.
    """

    text: str
    start: int
    canonical: str

    @property
    def end(self) -> int:
        """Offset just past the expression in the user's statement."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class AdjacentExpression:
    """A condition on an event and the one before it.

    Attributes:
        whole: With a name in place of each ``PREV(e)``, padded so that all else keeps its offset.
        names: Those names.
        before: Per name, the expression ``e``.
        canonical: One spelling for all that differ in blanks, comments and prefixes only.
    """

    whole: EventExpression
    names: tuple[str, ...]
    before: tuple[EventExpression, ...]
    canonical: str


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """``COUNT(*)``, ``COUNT(X)`` or ``SUM(expression of X)`` within a measure; offsets as in the statement."""

    function: Function
    variable: str | None
    attribute: EventExpression | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Names:
    """What may be written before the dot of a column.

    Attributes:
        variables: Of the pattern, as it spells them.
        relation: Name or alias of the relation before the clause, if it has one.
    """

    variables: tuple[str, ...]
    relation: str | None = None


def event_expression(sql: str, expression: Expression, names: Names, own: str | None = None) -> EventExpression:
    """An expression over one event.

    Args:
        sql: The user's statement.
        expression: Part of it.
        names: What may be written before a column.
        own: The one variable whose columns may be named; None if the expression is outside of any.

    Raises:
        PlanningError: ``TREND_OTHER_VARIABLE`` when another variable's columns are named,
            ``TREND_PREV_MISPLACED`` for PREV, ``TREND_UNSUPPORTED_EXPRESSION`` for a subquery.
    """
    text = list(sql[expression.start : expression.end])
    kept: list[str] = []
    tokens = expression.tokens
    skip = -1
    for at, token in enumerate(tokens):
        if token.word in SUBQUERY and at > 0 and tokens[at - 1].is_symbol("("):
            raise PlanningError(
                "TREND_UNSUPPORTED_EXPRESSION", token.start, token.end, what="a subquery", where="the clause"
            )
        if token.word == "PREV" and is_call(tokens, at):
            raise PlanningError("TREND_PREV_MISPLACED", token.start, token.end)
        if at <= skip:
            continue
        variable = _prefix(tokens, at, names.variables)
        if variable is None and not _is_relation(tokens, at, names):
            kept.append(token.text)
            continue
        if variable is not None and (own is None or variable.upper() != own.upper()):
            raise PlanningError(
                "TREND_OTHER_VARIABLE", token.start, tokens[at + 2].end, other=variable, own=own or "all events"
            )
        skip = at + 1
        for place in range(token.start - expression.start, tokens[at + 1].end - expression.start):
            text[place] = " "
    return EventExpression("".join(text), expression.start, " ".join(kept))


def adjacent_expression(
    sql: str, expression: Expression, names: Names, own: str, taken: Sequence[str]
) -> AdjacentExpression | None:
    """A condition of DEFINE that names the event before; None when it does not.

    Args:
        sql: The user's statement.
        expression: The condition.
        names: What may be written before a column.
        own: The variable that is defined.
        taken: Names of columns, which no PREV may get.

    Raises:
        PlanningError: As `event_expression`, and ``TREND_PREV_ARGUMENT``.
    """
    tokens = expression.tokens
    calls = [at for at in range(len(tokens)) if tokens[at].word == "PREV" and is_call(tokens, at)]
    if not calls:
        return None
    known = {name.lower() for name in taken}
    free = (name for number in count() if (name := before_name(number)) not in known)
    text, kept, before, used = list(sql[expression.start : expression.end]), list(tokens), [], []
    for at in calls:
        closing = matching(tokens, at + 1)
        if closing is None or closing >= len(tokens):
            raise PlanningError(
                "TREND_CLAUSE_SYNTAX", tokens[at].start, tokens[at].end, problem="the parenthesis is never closed"
            )
        inner = tokens[at + 2 : closing]
        nested = next((token for i, token in enumerate(inner) if token.word == "PREV" and is_call(inner, i)), None)
        if nested is not None or len(split_at_commas(inner)) != 1 or not inner or is_star(inner):
            where = nested or tokens[at]
            raise PlanningError("TREND_PREV_ARGUMENT", where.start, tokens[closing].end)
        before.append(event_expression(sql, Expression(tuple(inner)), names, own))
        used.append(next(free))
        start, end = tokens[at].start, tokens[closing].end
        text[start - expression.start : end - expression.start] = used[-1].ljust(end - start)
        kept = [token for token in kept if token.end <= start or token.start >= end]
        kept.insert(sum(token.end <= start for token in kept), Token(Kind.WORD, used[-1], start, end))
    replaced = sql[: expression.start] + "".join(text) + sql[expression.end :]
    whole = event_expression(replaced, Expression(tuple(kept)), names, own)
    canonical = " ".join(
        f"PREV({before[used.index(word)].canonical})" if word in used else word for word in whole.canonical.split(" ")
    )
    return AdjacentExpression(whole, tuple(used), tuple(before), canonical)


def aggregate_calls(sql: str, expression: Expression, names: Names) -> list[AggregateCall]:
    """The aggregates of a measure, in order.

    Raises:
        PlanningError: ``TREND_AGGREGATE_ARGUMENT``, ``TREND_NESTED_AGGREGATE``,
            ``TREND_UNKNOWN_VARIABLE``, ``TREND_OTHER_VARIABLE``.
    """
    calls: list[AggregateCall] = []
    tokens = expression.tokens
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.word not in AGGREGATES or not is_call(tokens, at):
            at += 1
            continue
        closing = matching(tokens, at + 1)
        if closing is None:
            raise PlanningError(
                "TREND_CLAUSE_SYNTAX", token.start, token.end, problem="the parenthesis is never closed"
            )
        calls.append(_call(sql, token, tokens[at + 2 : closing], tokens[closing].end, names))
        _check_after(token.word, tokens[closing + 1 : closing + 2])
        at = closing + 1
    return calls


def find_variable(name: str, variables: Sequence[str]) -> str | None:
    """The variable of that name as PATTERN spells it; names ignore case."""
    return next((variable for variable in variables if variable.upper() == name.upper()), None)


def _call(sql: str, function: Token, inner: Sequence[Token], end: int, names: Names) -> AggregateCall:
    variables = names.variables
    kind = AGGREGATES[function.word]

    def wrong(problem: str, *at: Token) -> PlanningError:
        first, last = (at[0], at[-1]) if at else (function, function)
        return PlanningError("TREND_AGGREGATE_ARGUMENT", first.start, last.end, function=kind.value, problem=problem)

    if not inner:
        raise wrong("it has no argument")
    if len(split_at_commas(inner)) != 1:
        raise wrong("it takes one argument", *inner)
    if inner[0].word in ("DISTINCT", "ALL") and len(inner) > 1 and not inner[1].is_symbol("."):
        raise wrong(f"{inner[0].word} does not apply: every trend counts", inner[0])
    for at, token in enumerate(inner):
        if token.word in AGGREGATES and is_call(inner, at):
            raise PlanningError("TREND_NESTED_AGGREGATE", token.start, token.end, inner=token.word, outer=kind.value)
    if len(inner) == 1 and inner[0].is_symbol("*"):
        if not kind.counts:
            raise wrong("only COUNT, APPROX_COUNT and LOG10_COUNT take *", *inner)
        return AggregateCall(kind, None, None, function.start, end)
    if len(inner) == 1 and (name := inner[0].name) is not None:
        variable = find_variable(name, variables)
        if variable is None:
            raise PlanningError(
                "TREND_UNKNOWN_VARIABLE", inner[0].start, inner[0].end, name=name, known=", ".join(variables)
            )
        if not kind.counts:
            raise wrong(f"it needs an attribute of {variable}, such as {variable}.price", *inner)
        return AggregateCall(kind, variable, None, function.start, end)
    own = next((v for at in range(len(inner)) if (v := _prefix(inner, at, variables)) is not None), None)
    if own is None:
        unknown = next((t for at, t in enumerate(inner) if _is_prefix(inner, at)), None)
        if unknown is not None:
            raise PlanningError(
                "TREND_UNKNOWN_VARIABLE",
                unknown.start,
                unknown.end,
                name=unknown.name or "",
                known=", ".join(variables),
            )
        raise wrong(f"say of which variable, as in {kind.value}({variables[0]}.column)", *inner)
    attribute = event_expression(sql, Expression(tuple(inner)), names, own)
    return AggregateCall(kind, own, attribute, function.start, end)


def _check_after(function: str, following: Sequence[Token]) -> None:
    """Refuse what Spark lets follow an aggregate, and trends do not have."""
    problems = {
        "FILTER": f"FILTER does not apply; write {function}(CASE WHEN … THEN … END), or a condition in DEFINE",
        "OVER": "OVER does not apply: it ranges over all trends of a group and window",
    }
    for token in following:
        if token.word in problems:
            problem = problems[token.word]
            raise PlanningError("TREND_AGGREGATE_ARGUMENT", token.start, token.end, function=function, problem=problem)


def is_star(tokens: Sequence[Token]) -> bool:
    """Whether this is ``*`` or ``t.*``, which stands for several expressions."""
    return tokens[-1].is_symbol("*") and (len(tokens) == 1 or tokens[-2].is_symbol("."))


def is_call(tokens: Sequence[Token], at: int) -> bool:
    """Whether the token at ``at`` is a name with an opening parenthesis after it, and no dot before it."""
    return at + 1 < len(tokens) and tokens[at + 1].is_symbol("(") and not (at > 0 and tokens[at - 1].is_symbol("."))


def _is_prefix(tokens: Sequence[Token], at: int) -> bool:
    """Whether the token at ``at`` is a name with a dot and a name after it, and no dot before it."""
    if tokens[at].name is None or at + 2 >= len(tokens) or (at > 0 and tokens[at - 1].is_symbol(".")):
        return False
    return tokens[at + 1].is_symbol(".") and tokens[at + 2].kind in (Kind.WORD, Kind.QUOTED)


def _prefix(tokens: Sequence[Token], at: int, variables: Sequence[str]) -> str | None:
    """The variable that qualifies the name two tokens further on, if the token at ``at`` is one."""
    return find_variable(tokens[at].name or "", variables) if _is_prefix(tokens, at) else None


def _is_relation(tokens: Sequence[Token], at: int, names: Names) -> bool:
    """Whether the token at ``at`` names the relation before the clause, to qualify a column of it."""
    return (
        names.relation is not None
        and _is_prefix(tokens, at)
        and (tokens[at].name or "").upper() == names.relation.upper()
    )
