"""The aggregates of measures, as they are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.query import Function, Side
from sparkext.sql.clause import Expression
from sparkext.sql.event_expressions import (
    AGGREGATES,
    EventExpression,
    Names,
    event_expression,
    find_variable,
    is_call,
    is_prefix,
    is_star,
    variable_before,
)
from sparkext.sql.tokens import Token, TokenKind, matching, split_at_commas

SIDES = {side.value: side for side in Side}
"""The two ends of a trend, by the function that names each."""


@dataclass(frozen=True, slots=True)
class EndCall:
    """``LAST(expression of X)``, or of the columns of any event, within an aggregate; offsets as in the statement."""

    side: Side
    variable: str | None
    attribute: EventExpression
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """``COUNT(*)``, ``COUNT(X)`` or ``SUM(expression of X)`` within a measure; offsets as in the statement.

    In place of an expression of X there may be one end of a trend, or two whose difference is meant.
    """

    function: Function
    variable: str | None
    attribute: EventExpression | None
    start: int
    end: int
    ends: tuple[EndCall, ...] = ()

    def attributes(self) -> Iterator[EventExpression]:
        """All expressions over one event."""
        if self.attribute is not None:
            yield self.attribute
        yield from (end.attribute for end in self.ends)

    def variables(self) -> Iterator[str]:
        """All variables that it names."""
        yield from (name for name in (self.variable, *(end.variable for end in self.ends)) if name is not None)


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
        if token.word not in AGGREGATES or not is_call(tokens, at) or is_distinct(tokens, at):
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


def is_distinct(tokens: Sequence[Token], at: int) -> bool:
    """Whether ``COUNT(DISTINCT …`` begins at ``at``, of which `sparkext.sql.completion_calls` knows."""
    if tokens[at].word != Function.COUNT.value or not is_call(tokens, at) or at + 3 >= len(tokens):
        return False
    return tokens[at + 2].word == "DISTINCT" and not (tokens[at + 3].is_symbol(".") or tokens[at + 3].is_symbol(")"))


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
        raise wrong(f"{inner[0].word} does not apply: every trend counts{_how_many(kind, inner)}", inner[0])
    nested = next((token for at, token in enumerate(inner) if token.word in AGGREGATES and is_call(inner, at)), None)
    if nested is not None:
        raise PlanningError("TREND_NESTED_AGGREGATE", nested.start, nested.end, inner=nested.word, outer=kind.value)
    ends = _ends(sql, function, inner, names)
    if ends:
        return AggregateCall(kind, None, None, function.start, end, ends)
    if len(inner) == 1 and inner[0].is_symbol("*"):
        if not kind.counts:
            raise wrong("only COUNT, APPROX_COUNT and LOG10_COUNT take *", *inner)
        return AggregateCall(kind, None, None, function.start, end)
    if len(inner) == 1 and (name := inner[0].name) is not None:
        variable = find_variable(name, variables)
        if variable is None and names.has_column(name):
            raise _without_variable(kind, inner, names)
        if variable is None:
            raise PlanningError(
                "TREND_UNKNOWN_VARIABLE", inner[0].start, inner[0].end, name=name, known=", ".join(variables)
            )
        if not kind.counts:
            raise wrong(f"it needs an attribute of {variable}, such as {variable}.price", *inner)
        return AggregateCall(kind, variable, None, function.start, end)
    own = next((v for at in range(len(inner)) if (v := variable_before(inner, at, variables)) is not None), None)
    if own is None:
        raise _without_variable(kind, inner, names)
    attribute = event_expression(sql, Expression(tuple(inner)), names, own)
    return AggregateCall(kind, own, attribute, function.start, end)


def _how_many(kind: Function, inner: Sequence[Token]) -> str:
    """What counts keys in place of ``COUNT(DISTINCT key)``, as the end of a message."""
    if kind is not Function.COUNT or inner[0].word != "DISTINCT":
        return ""
    key = " ".join(token.text for token in inner[1:])
    query = f"SELECT count(DISTINCT {key}) FROM t MATCH_TREND (PARTITION BY {key} …)"
    return f"; how many keys have a trend says {query}"


def _ends(sql: str, function: Token, inner: Sequence[Token], names: Names) -> tuple[EndCall, ...]:
    """The ends of a trend that an aggregate is of; none if it is about events.

    Raises:
        PlanningError: ``TREND_END_EXPRESSION`` if there is anything beside them.
    """
    calls = [at for at in range(len(inner)) if inner[at].word in SIDES and is_call(inner, at)]
    if not calls:
        return ()

    def wrong(problem: str, hint: str, *at: Token) -> PlanningError:
        where = at or inner
        return PlanningError(
            "TREND_END_EXPRESSION",
            where[0].start,
            where[-1].end,
            function=AGGREGATES[function.word].value,
            problem=problem,
            hint=hint,
        )

    while inner[0].is_symbol("(") and matching(inner, 0) == len(inner) - 1:
        inner = inner[1:-1]
        calls = [at - 1 for at in calls]
    end_calls: list[EndCall] = []
    rest: list[Token] = []
    at = 0
    while at < len(inner):
        if at not in calls:
            rest.append(inner[at])
            at += 1
            continue
        closing = matching(inner, at + 1)
        if closing is None:
            problem = "the parenthesis is never closed"
            raise PlanningError("TREND_CLAUSE_SYNTAX", inner[at].start, inner[at].end, problem=problem)
        end_calls.append(one_end(sql, inner[at], inner[at + 2 : closing], inner[closing].end, names))
        at = closing + 1
    if len(end_calls) == 1 and not rest:
        return tuple(end_calls)
    first = next(iter(end_calls))
    if len(end_calls) == 1:
        inside = sql[first.attribute.start : first.attribute.end].strip()
        hint = f"Compute inside of it, as in {function.word}({first.side.value}({inside} * 2))."
        raise wrong(f"there is more than {first.side.value}( ) in it", hint)
    between = [token for token in rest if first.end <= token.start < end_calls[1].start]
    if len(end_calls) > 2 or len(rest) != 1 or between != rest or not rest[0].is_symbol("-"):
        hint = f"Compute with measures, as in {function.word}(LAST(x)) + {function.word}(FIRST(x))."
        raise wrong("of two ends, only the difference can be aggregated, without anything else", hint)
    return tuple(end_calls)


def one_end(sql: str, function: Token, inner: Sequence[Token], end: int, names: Names) -> EndCall:
    """One end of a trend.

    Raises:
        PlanningError: ``TREND_END_ARGUMENT``, ``TREND_UNKNOWN_VARIABLE`` or ``TREND_OTHER_VARIABLE``.
    """
    side = SIDES[function.word]

    def wrong(problem: str, *at: Token) -> PlanningError:
        first, last = (at[0], at[-1]) if at else (function, function)
        return PlanningError("TREND_END_ARGUMENT", first.start, last.end, function=side.value, problem=problem)

    if not inner:
        raise wrong("it has no argument")
    if len(split_at_commas(inner)) != 1:
        raise wrong("it takes one argument, and goes no further into a trend", *inner)
    if is_star(inner):
        raise wrong("it is about one value of an event", *inner)
    nested = next((token for at, token in enumerate(inner) if token.word in SIDES and is_call(inner, at)), None)
    if nested is not None:
        raise wrong(f"{nested.word} stands inside it", nested)
    own = next((v for at in range(len(inner)) if (v := variable_before(inner, at, names.variables)) is not None), None)
    if own is None:
        only = inner[0].name if len(inner) == 1 else None
        variable = None if only is None or names.has_column(only) else find_variable(only, names.variables)
        if variable is not None:
            raise wrong(f"it needs an attribute of {variable}, such as {variable}.price", *inner)
        for at, token in enumerate(inner):
            name = token.name if is_prefix(inner, at) else None
            if name is not None and not names.is_relation(name) and not names.has_column(name):
                variables = ", ".join(names.variables)
                raise PlanningError("TREND_UNKNOWN_VARIABLE", token.start, token.end, name=name, known=variables)
    return EndCall(side, own, event_expression(sql, Expression(tuple(inner)), names, own), function.start, end)


def _without_variable(kind: Function, inner: Sequence[Token], names: Names) -> PlanningError:
    """The argument of an aggregate is an expression that names no variable."""
    unknown = next((t for at, t in enumerate(inner) if is_prefix(inner, at)), None)
    if unknown is not None:
        variables = ", ".join(names.variables)
        return PlanningError(
            "TREND_UNKNOWN_VARIABLE", unknown.start, unknown.end, name=unknown.name or "", known=variables
        )
    column = next((t.name for t in inner if t.name is not None and names.has_column(t.name)), None)
    example = f"as in {kind.value}({names.variables[0]}.{column or 'column'})"
    if kind.counts and all(token.kind in (TokenKind.NUMBER, TokenKind.STRING) for token in inner):
        problem = f"a constant belongs to no event; {kind.value}(*) is the number of trends"
    elif column is not None and len(inner) == 1:
        problem = f"{column} is a column; say of which variable's events, {example}"
    else:
        problem = f"say of which variable's events, {example}"
    return PlanningError(
        "TREND_AGGREGATE_ARGUMENT", inner[0].start, inner[-1].end, function=kind.value, problem=problem
    )


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
