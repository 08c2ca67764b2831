"""The parsed clause: what stands between the parentheses of ``MATCH_TREND ( … )``."""

from __future__ import annotations

from dataclasses import dataclass

from sparkext.planner.patterns.pattern import Pattern
from sparkext.planner.patterns.query import Selection
from sparkext.sql.tokens import Token


@dataclass(frozen=True, slots=True)
class Expression:
    """A scalar expression of the user's, by its tokens; never empty."""

    tokens: tuple[Token, ...]

    @property
    def start(self) -> int:
        """Offset of its first character in the statement."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """Offset just past its last character."""
        return self.tokens[-1].end


@dataclass(frozen=True, slots=True)
class Item:
    """An expression with the name that ``AS`` gives it, if any."""

    expression: Expression
    name: Token | None


@dataclass(frozen=True, slots=True)
class Definition:
    """``variable AS condition``."""

    variable: Token
    condition: Expression


@dataclass(frozen=True, slots=True)
class Clause:
    """A ``MATCH_TREND`` clause. Sections that were not written are empty or None."""

    order_by: Expression
    measures: tuple[Item, ...]
    pattern: Pattern
    pattern_at: tuple[int, int]
    partition_by: tuple[Item, ...] = ()
    group_by: tuple[Item, ...] = ()
    type_by: Expression | None = None
    define: tuple[Definition, ...] = ()
    within: Expression | None = None
    slide: Expression | None = None
    span: Expression | None = None
    selection: Selection = Selection.ANY
    further_order: tuple[Expression, ...] = ()
    wait: Expression | None = None
    completions_at: tuple[int, int] | None = None

    @property
    def has_rows(self) -> bool:
        """Whether each completion is a row: ``ONE ROW PER COMPLETION`` was written."""
        return self.completions_at is not None
