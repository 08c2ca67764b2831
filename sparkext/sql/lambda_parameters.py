"""Names that functions within an expression give to their arguments: ``x -> x.price > 10``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sparkext.sql.tokens import Token, depth_change


def with_parameters(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, of which those that name a parameter of a lambda function around them say so.

    Such a name hides the variable of a pattern, the relation or the column of the same name.
    """
    marked = list(tokens)
    for arrow, token in enumerate(tokens):
        if not token.is_symbol("->"):
            continue
        first, names = _parameters(tokens, arrow)
        for at in range(first, _end_of_body(tokens, arrow + 1)):
            is_field = at > 0 and tokens[at - 1].is_symbol(".")
            if not is_field and (tokens[at].name or "").upper() in names:
                marked[at] = replace(tokens[at], is_parameter=True)
    return marked


def _parameters(tokens: Sequence[Token], arrow: int) -> tuple[int, set[str]]:
    """Index of the first parameter of the lambda function with that arrow, and the names of all, in upper case."""
    first = arrow - 1
    if first >= 0 and tokens[first].is_symbol(")"):
        while first > 0 and not tokens[first].is_symbol("("):
            first -= 1
    between = tokens[max(first, 0) : arrow]
    return max(first, 0), {token.name.upper() for token in between if token.name is not None}


def _end_of_body(tokens: Sequence[Token], start: int) -> int:
    """Index just past the body of a lambda function: a comma, or what closes the call that it is an argument of."""
    depth = 0
    for at in range(start, len(tokens)):
        depth += depth_change(tokens[at])
        if depth < 0 or (depth == 0 and tokens[at].is_symbol(",")):
            return at
    return len(tokens)
