"""A dialect of sqlglot that knows the clause, so that formatters and lineage tools read statements with it.

sqlglot finds it by its entry point: ``sqlglot.parse_one(sql, dialect="sparkext")``. To sqlglot a relation with a clause
is a subquery: its columns are the keys, the bounds of windows and the measures, each with the columns of the relation
that it is made of. It is written as the user wrote it, with the relation before it as the tool has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from sqlglot import TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator
from sqlglot.parsers.spark import SparkParser

from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.pattern import variables
from sparkext.sql.clause import Clause, Expression, Item
from sparkext.sql.clause_grammar import parse_clause
from sparkext.sql.tokens import tokenize

_KEYWORD = "MATCH_TREND"
_WINDOW = ("window_start", "window_end")


class MatchTrend(exp.Subquery):
    """A relation with a clause; ``this`` stands for its rows, ``clause`` is the text between the parentheses."""

    arg_types: ClassVar[dict[str, bool]] = {**exp.Subquery.arg_types, "clause": True}


class ClauseParser(SparkParser):
    """Spark's parser with the clause behind relations."""

    def _parse_table(self, *args: Any, **options: Any) -> exp.Expr | None:
        relation: exp.Expr | None = super()._parse_table(*args, **options)
        while relation is not None and self._is_clause():
            relation = self._parse_clause(relation)
            for join in self._parse_joins() if options.get("joins") else ():
                relation.append("joins", join)
        return relation

    def _is_clause(self) -> bool:
        return self._match_pair(TokenType.MATCH_RECOGNIZE, TokenType.L_PAREN, advance=False) is True

    def _parse_clause(self, relation: exp.Expr) -> MatchTrend:
        keyword = self._curr
        self._advance(2)
        begin, depth = self._prev.end + 1, 1
        while self._curr:
            depth += (self._curr.token_type == TokenType.L_PAREN) - (self._curr.token_type == TokenType.R_PAREN)
            if not depth:
                break
            self._advance()
        text = self.sql[begin : self._curr.start] if self._curr else ""
        self._match_r_paren()
        try:
            rows = _rows(text, relation)
        except PlanningError as error:
            self.raise_error(f"[{error.condition}] {', '.join(error.parameters.values())}", keyword)
            raise
        return MatchTrend(this=rows, clause=exp.Var(this=text), alias=self._parse_table_alias())


def _written(generator: SparkGenerator, expression: MatchTrend) -> str:
    relation = generator.sql(expression.this.args["from_"], "this")
    alias, text = generator.sql(expression, "alias"), expression.args["clause"].name
    joins = generator.expressions(expression, key="joins", sep="", flat=True)
    return f"{relation} {_KEYWORD} ({text}){f' AS {alias}' if alias else ''}{joins}"


class ClauseGenerator(SparkGenerator):
    """Spark's generator with the clause."""

    TRANSFORMS: ClassVar = {**SparkGenerator.TRANSFORMS, MatchTrend: _written}


class Sparkext(Spark):
    """Spark's SQL with the clause."""

    class Tokenizer(Spark.Tokenizer):
        """With a token that is no name, and so no alias of the relation."""

        KEYWORDS: ClassVar = {**Spark.Tokenizer.KEYWORDS, _KEYWORD: TokenType.MATCH_RECOGNIZE}

    Parser = ClauseParser
    Generator = ClauseGenerator


def _rows(text: str, relation: exp.Expr) -> exp.Select:
    """What stands for the rows of a clause: the columns of its result over the relation.

    Raises:
        PlanningError: The clause is wrong.
    """
    written = f"{_KEYWORD} ({text})"
    tokens = tokenize(written)
    clause = parse_clause(tokens[2:-1], tokens[0])
    return exp.select(*_columns(clause, written)).from_(relation, copy=False)


def _columns(clause: Clause, text: str) -> Iterator[exp.Expr]:
    names = frozenset(variables(clause.pattern))
    keys = (*clause.partition_by, *clause.group_by) if clause.has_rows else clause.group_by
    yield from dict.fromkeys(_column(key, clause, text, names) for key in keys)
    if clause.within is not None:
        time = _expression(clause.order_by, clause, text, names)
        yield from (exp.alias_(time.copy(), name) for name in _WINDOW)
    yield from (_column(measure, clause, text, names) for measure in clause.measures)


def _column(item: Item, clause: Clause, text: str, names: frozenset[str]) -> exp.Expr:
    value = _expression(item.expression, clause, text, names)
    name = None if item.name is None else item.name.name
    return value if name is None else exp.alias_(value, name, quoted=True)


def _expression(written: Expression, clause: Clause, text: str, names: frozenset[str]) -> exp.Expr:
    """An expression over the columns of the relation: without variables, and with what types are read from."""

    def over_relation(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            first, *rest = [part.name for part in node.parts]
            if first not in names:
                return exp.column(node.parts[0].copy())
            return exp.column(node.parts[1].copy()) if rest else exp.var(first)
        if isinstance(node, exp.Anonymous) and node.name.upper() == "CLASSIFIER" and clause.type_by is not None:
            return exp.Anonymous(
                this="CLASSIFIER", expressions=[_expression(clause.type_by, clause, text, frozenset())]
            )
        return node

    parsed: exp.Expr = exp.maybe_parse(text[written.start : written.end], dialect=Spark)
    whole: exp.Expr = parsed.transform(over_relation)
    return whole
