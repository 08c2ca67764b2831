"""The user's expressions, made ready for Spark without ever being generated anew.

``X.price`` becomes ``price`` with blanks in place of the prefix, so that every other character keeps
its offset and what Spark reports can be mapped back to the user's text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.query import Function
from sparkext.sql.clause import Expression
from sparkext.sql.own_columns import before_name, earlier_name
from sparkext.sql.tokens import Token, TokenKind, matching, split_at_commas

AGGREGATES = {function.value: function for function in Function}
"""The aggregates of measures, by name."""
_QUERY = frozenset(("SELECT", "WITH", "FROM"))
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
class EarlierVariable:
    """A variable whose latest event a condition of another names, and where it first does."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AdjacentExpression:
    """A condition on an event and an earlier one of its trend: the one before it, or the latest of a variable.

    Attributes:
        whole: With a name in place of each ``PREV(e)`` or ``A.e``, padded so that all else keeps its offset.
        names: Those names.
        before: Per name, the expression ``e``.
        canonical: One spelling for all that differ in blanks, comments and prefixes only.
        earlier: The variable A; None if the earlier event is the one before.
    """

    whole: EventExpression
    names: tuple[str, ...]
    before: tuple[EventExpression, ...]
    canonical: str
    earlier: EarlierVariable | None = None

    def shown(self, before: str) -> str:
        """An expression over the earlier event as the user writes it."""
        return f"PREV({before})" if self.earlier is None else f"{self.earlier.name}.{before}"


@dataclass(frozen=True, slots=True)
class Names:
    """What may be written before the dot of a column.

    Attributes:
        variables: Of the pattern, as it spells them.
        relation: Name or alias of the relation before the clause, if it has one.
        columns: Of that relation, which messages speak of.
        is_case_sensitive: Whether to the session columns and relations differ whose names differ in case alone.
    """

    variables: tuple[str, ...]
    relation: str | None = None
    columns: tuple[str, ...] = ()
    is_case_sensitive: bool = False

    def folded(self, name: str) -> str:
        """A name of a column or relation as all names that mean the same are spelled."""
        return name if self.is_case_sensitive else name.lower()

    def is_relation(self, name: str) -> bool:
        """Whether that is the name of the relation."""
        return self.relation is not None and self.folded(name) == self.folded(self.relation)

    def has_column(self, name: str) -> bool:
        """Whether the relation has a column of that name."""
        return self.folded(name) in map(self.folded, self.columns)


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
        if begins_query(tokens, at):
            raise PlanningError(
                "TREND_UNSUPPORTED_EXPRESSION", token.start, token.end, what="A subquery", where="the clause"
            )
        if token.word == "PREV" and is_call(tokens, at):
            raise PlanningError("TREND_PREV_MISPLACED", token.start, token.end)
        if at <= skip:
            continue
        variable = variable_before(tokens, at, names.variables)
        if variable is None and not _is_relation(tokens, at, names):
            kept.append(token.text)
            continue
        if variable is not None and (own is None or variable.upper() != own.upper()):
            raise _other_variable(token, tokens[at + 2].end, variable, own, names)
        skip = at + 1
        for offset in range(token.start - expression.start, tokens[at + 1].end - expression.start):
            text[offset] = " "
    return EventExpression("".join(text), expression.start, " ".join(kept))


def _other_variable(token: Token, end: int, variable: str, own: str | None, names: Names) -> PlanningError:
    hint = (
        "What stands here is asked of every event, whatever it matches: write the column without a variable."
        if own is None
        else "The latest event of another variable can be named in DEFINE, outside of PREV; "
        "PREV(column) is the event just before."
    )
    if names.has_column(variable):
        relation = names.relation or "an alias of the relation"
        hint = f"The relation has a column {variable}, too; for that write {relation}.{variable}. {hint}"
    return PlanningError("TREND_OTHER_VARIABLE", token.start, end, other=variable, own=own or "all events", hint=hint)


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
    expression = _with_prev(expression)
    tokens = expression.tokens
    calls = [at for at in range(len(tokens)) if tokens[at].word == "PREV" and is_call(tokens, at)]
    if not calls:
        return None
    free = _free_names(before_name, taken)
    before, named = [], []
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
        named.append((at, closing, next(free)))
    whole = event_expression(*_with_names(sql, expression, named), names, own)
    used = [name for _, _, name in named]
    canonical = " ".join(
        f"PREV({before[used.index(word)].canonical})" if word in used else word for word in whole.canonical.split(" ")
    )
    return AdjacentExpression(whole, tuple(used), tuple(before), canonical)


def _with_prev(expression: Expression) -> Expression:
    """``LAST(e, 1)``, which is ``PREV(e)``, as that: each token stays where it is written."""
    tokens = list(expression.tokens)
    for at, token in enumerate(expression.tokens):
        if is_last_but_one(expression.tokens, at):
            closing = matching(tokens, at + 1)
            assert closing is not None
            tokens[at] = replace(token, text="PREV")
            # What is left out stands within the last token of the call.
            tokens[closing - 2 : closing + 1] = [replace(tokens[closing], start=tokens[closing - 2].start)]
            return _with_prev(Expression(tuple(tokens)))
    return expression


def is_last_but_one(tokens: Sequence[Token], at: int) -> bool:
    """Whether ``LAST(e, 1)`` begins at ``at``."""
    if tokens[at].word != "LAST" or not is_call(tokens, at):
        return False
    closing = matching(tokens, at + 1)
    return (
        closing is not None
        and closing - at > 4
        and tokens[closing - 1].text == "1"
        and tokens[closing - 2].is_symbol(",")
        and len(split_at_commas(tokens[at + 2 : closing])) == 2
    )


def earlier_expression(
    sql: str, expression: Expression, names: Names, own: str, taken: Sequence[str]
) -> AdjacentExpression | None:
    """A condition of DEFINE that names the latest event of another variable; None when it does not.

    Args:
        sql: The user's statement.
        expression: The condition, without PREV.
        names: What may be written before a column.
        own: The variable that is defined.
        taken: Names of columns, which no value of the earlier event may get.

    Raises:
        PlanningError: As `event_expression`, and ``TREND_CONDITION_TOO_WIDE`` when it names several variables.
    """
    tokens = expression.tokens
    prefixes = ((at, variable_before(tokens, at, names.variables)) for at in range(len(tokens)))
    others = [(at, variable) for at, variable in prefixes if variable is not None and variable != own]
    if not others:
        return None
    first, earlier = others[0]
    for at, variable in others:
        if variable != earlier:
            shown = f"{earlier} and {variable}"
            raise PlanningError("TREND_CONDITION_TOO_WIDE", tokens[at].start, tokens[at + 2].end, variables=shown)
    free = _free_names(earlier_name, taken)
    # The shortest first, since a name must not be longer than what it stands for.
    folded = {at: names.folded(tokens[at + 2].text) for at, _ in others}
    columns = sorted({folded[at]: tokens[at + 2] for at, _ in others}.items(), key=lambda column: len(column[0]))
    name_of = {column: next(free) for column, _ in columns}
    named = [(at, at + 2, name_of[folded[at]]) for at, _ in others]
    whole = event_expression(*_with_names(sql, expression, named), names, own)
    shown_as = {name_of[column]: f"{earlier}.{token.text}" for column, token in columns}
    return AdjacentExpression(
        whole=whole,
        names=tuple(name_of.values()),
        before=tuple(EventExpression(token.text, token.start, token.text) for _, token in columns),
        canonical=" ".join(shown_as.get(word, word) for word in whole.canonical.split(" ")),
        earlier=EarlierVariable(earlier, tokens[first].start, tokens[first + 2].end),
    )


def _free_names(name_of: Callable[[int], str], taken: Sequence[str]) -> Iterator[str]:
    lowered = {name.lower() for name in taken}
    return (name for number in count() if (name := name_of(number)) not in lowered)


def _with_names(sql: str, expression: Expression, named: Sequence[tuple[int, int, str]]) -> tuple[str, Expression]:
    """The statement and the expression with names in place of tokens, padded so that all else keeps its offset.

    Args:
        sql: The user's statement.
        expression: Part of it.
        named: Number of the first token, number of the last, and the name; in order.
    """
    text, tokens = list(sql), list(expression.tokens)
    for first, last, name in reversed(named):
        start, end = tokens[first].start, tokens[last].end
        text[start:end] = name.ljust(end - start)
        tokens[first : last + 1] = [Token(TokenKind.WORD, name, start, end)]
    return "".join(text), Expression(tuple(tokens))


def find_variable(name: str, variables: Sequence[str]) -> str | None:
    """The variable of that name as PATTERN spells it; names ignore case."""
    return next((variable for variable in variables if variable.upper() == name.upper()), None)


def is_star(tokens: Sequence[Token]) -> bool:
    """Whether this is ``*`` or ``t.*``, which stands for several expressions."""
    return tokens[-1].is_symbol("*") and (len(tokens) == 1 or tokens[-2].is_symbol("."))


def is_call(tokens: Sequence[Token], at: int) -> bool:
    """Whether the token at ``at`` is a name with an opening parenthesis after it, and no dot before it."""
    return at + 1 < len(tokens) and tokens[at + 1].is_symbol("(") and not (at > 0 and tokens[at - 1].is_symbol("."))


def begins_query(tokens: Sequence[Token], at: int) -> bool:
    """Whether a query in parentheses begins with the token at ``at``; its word may also be a name there."""
    if at == 0 or tokens[at].word not in _QUERY or not tokens[at - 1].is_symbol("("):
        return False
    following = tokens[at + 1 : at + 2]
    return bool(following) and not any(following[0].is_symbol(symbol) for symbol in (")", ".", ","))


def is_prefix(tokens: Sequence[Token], at: int) -> bool:
    """Whether the token at ``at`` is a name with a dot and a name after it, and neither a dot nor a colon before it.

    Parameters of lambda functions are none: what follows them is a field of theirs.
    """
    is_part = at > 0 and (tokens[at - 1].is_symbol(".") or tokens[at - 1].is_symbol(":"))
    if tokens[at].name is None or tokens[at].is_parameter or at + 2 >= len(tokens) or is_part:
        return False
    return tokens[at + 1].is_symbol(".") and tokens[at + 2].kind in (TokenKind.WORD, TokenKind.QUOTED)


def variable_before(tokens: Sequence[Token], at: int, variables: Sequence[str]) -> str | None:
    """The variable that qualifies the name two tokens further on, if the token at ``at`` is one."""
    return find_variable(tokens[at].name or "", variables) if is_prefix(tokens, at) else None


def _is_relation(tokens: Sequence[Token], at: int, names: Names) -> bool:
    """Whether the token at ``at`` names the relation before the clause, to qualify a column of it."""
    return is_prefix(tokens, at) and names.is_relation(tokens[at].name or "")
