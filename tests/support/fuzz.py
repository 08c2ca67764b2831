"""Random statements for what reads them before Spark does, without a JVM.

Whatever the text is, the rewriter either returns it unchanged, or replaces its clauses and nothing else, or
refuses it with a `PlanningError` that names a place in it; and it does so soon.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, cast

from sparkext.binding.clause_use import ClauseUse
from sparkext.jvm.table_function import FUNCTION
from sparkext.parser.commands import command
from sparkext.parser.parameters import fill_in
from sparkext.parser.rewrite import RewrittenStatement, rewrite_statement, sets_conf
from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.pattern import variables
from sparkext.sql.aggregate_calls import aggregate_calls
from sparkext.sql.event_expressions import Names, event_expression
from sparkext.sql.find_clauses import ClauseSpan, find_clauses
from sparkext.sql.text_edits import Edits
from sparkext.sql.tokens import Token, TokenError, tokenize
from sparkext.workload.trend_query import ParsedClause
from sparkext.workload.workload import Workload

SECONDS = 60.0
"""Of the processor, that one statement may take: on any machine far more than it takes, but for a loop without end."""

BODY = "PARTITION BY k ORDER BY t TYPE BY ty MEASURES COUNT(*) AS n, SUM(B.v) / COUNT(A) AS s PATTERN (A+ B)"
CORPUS = (
    f"SELECT * FROM e MATCH_TREND ({BODY})",
    f"SELECT t.n FROM db.`e` AS x MATCH_TREND ({BODY} DEFINE A AS A.v > 5 AND x.k <> ')' WITHIN 10 SLIDE 5) AS t",
    f"create or replace temp view v as with c as (select * from e) select * from c match_trend ({BODY.lower()})",
    f"SELECT * FROM e MATCH_TREND ({BODY}) AS l JOIN (SELECT * FROM e) MATCH_TREND ({BODY}) r ON l.k = r.k",
    f"SELECT * FROM (SELECT k, 1 AS t, 'A' AS ty, 2 AS v FROM e MATCH_TREND ({BODY})) MATCH_TREND ({BODY}) WHERE n > 1",
    "FROM e, f x MATCH_TREND (ORDER BY t ASC MEASURES MIN(`a b`.v) AS `m n`, 1 + AVG(C.v * 2) AS a"
    " PATTERN ((`a b` | C?)* SEQ(C, OR(`a b`, D)+)) DEFINE C AS C.v IN (1, 2), D AS true, `a b` AS v IS NULL"
    " GROUP BY k, upper(x.g) AS g WITHIN INTERVAL '1:30' HOUR TO MINUTE SLIDE '20 minutes') SELECT *",
    "WITH RECURSIVE c(i) MAX RECURSION LEVEL 9 AS (SELECT 1), d (SELECT * FROM c) SELECT k FROM e WHERE k IN"
    " (SELECT k FROM d MATCH_TREND (MEASURES MAX(Down.p) AS m ORDER BY i DEFINE Down AS Down.p < PREV(p),"
    " S AS PREV(S.p) IS NULL PATTERN (S NOT N Down{2,3} & (AND(X, Y) | PERMUTE(Z, W){,4})) TYPE BY ty))",
    "INSERT INTO x SELECT $$ it's $$, /*+ BROADCAST(e) */ k -- ' MATCH_TREND (\n"
    f" FROM VALUES (1), (2) MATCH_TREND ({BODY})",
    f"MERGE INTO t USING e MATCH_TREND ({BODY}) AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET n = s.n",
    f"BEGIN WITH e AS (SELECT 1) SELECT 1; SELECT * FROM e MATCH_TREND ({BODY}); END",
    "SELECT ?, :a FROM e MATCH_TREND (ORDER BY t MEASURES COUNT(*) AS n PATTERN (A? B) DEFINE A AS v > ? AND u = :a, "
    "B AS v > :a WITHIN ?) WHERE n > ?",
    f"EXPLAIN SELECT * FROM e PIVOT (sum(v) FOR k IN (1)) MATCH_TREND ({BODY})\r\n"
    "TABLESAMPLE (5 ROWS) LATERAL VIEW x y",
    "EXPLAIN SHARING",
    "SHOW TREND QUERIES;",
    "SHOW TREND STREAMS",
    "REFRESH SHARING",
    "SELECT match_trend (1) FROM match_trend match_trend (a, b) WHERE match_trend (a + 1) = 'MATCH_TREND (PATTERN'",
    "CREATE TABLE match_trend (pattern STRING, type INT)",
    "SELECT a, 'x\\'y', \"it's\" || r'\\' FROM t WHERE x = 1e5 OR y <=> .5 -- nothing of ours: trend, sharing",
)
VOCABULARY = (
    *re.split(
        " +",
        """SELECT FROM JOIN ON USING WHERE GROUP BY ORDER HAVING LIMIT WITH AS RECURSIVE VALUES UNION ALL LATERAL \
CREATE OR REPLACE GLOBAL TEMP VIEW TABLE INSERT INTO MERGE CACHE EXPLAIN SHOW BEGIN END DISTINCT IS IN \
MATCH_TREND match_trend SHARING TREND QUERIES STREAMS REFRESH IDENTIFIER EXECUTE IMMEDIATE JSON FOR NULL AND \
PARTITION TYPE MEASURES PATTERN DEFINE WITHIN SLIDE ONE ROW ALL ROWS AFTER MATCH SUBSET DESC ASC NULLS \
NOT PERMUTE SEQ OR PREV COUNT SUM AVG MIN MAX APPROX_COUNT LOG10_COUNT INTERVAL MINUTES CASE WHEN THEN \
a b A B C e k t v ty n 2x _ `a` `a``b` `MATCH_TREND` `` é 日本 😀 x.y A.v B.v e.k PREV(v) COUNT(*) \
1 0 1.5 .5 1e5 5L 2BD 007 99999999999999999999 'x' '' 'it''s' 'MATCH_TREND' "q" r'\\' $$s'$$ $a$ \
( ) ( ) ( ) [ ] { } , , . . ; : ? :a :: + - * / % = <> <=> < >= || | & ^ ! ~ -> => |> @ # $ \\ ' " `""",
    ),
    *(" ", "\n", "\r\n", "\t", "\u00a0", "-- c\n", "-- MATCH_TREND (\n", "-- \\\nx\n", "/* c */"),
    *("/* /* MATCH_TREND */ ( */", "/*", "*/", "/*+ h */", "/*+", "'a b'", "'a\\'b'", "'MATCH_TREND ('"),
    *("{2,3}", "{,2}", "{1,}", "A+", "(A B)", "WITHIN 10", f"FROM e MATCH_TREND ({BODY})", f"({CORPUS[0]})"),
    *("MATCH_TREND (", "PARTITION BY k", "ORDER BY t", "TYPE BY ty", "MEASURES COUNT(*) AS n", "PATTERN (A B)"),
)


@dataclass
class Stub:
    """Takes the place of a workload: looks at clauses as far as that needs no Spark."""

    uses: list[ClauseUse] = field(default_factory=list)

    def take_numbers(self, count: int) -> list[int]:
        """Numbers of clauses."""
        return list(range(1, count + 1))

    def is_temporary(self, _: Sequence[str]) -> bool:
        """Whether a view that is altered is a temporary one."""
        return True

    def inlines_ctes(self) -> bool:
        """Whether unused CTEs are to be left out."""
        return False

    def has_double_quoted_names(self) -> bool:
        """Whether double quotes are around names."""
        return False

    def remember(self, written: Sequence[ParsedClause], _: bool) -> None:
        """Read the expressions of clauses as binding does."""
        for use in (trend_query.use for trend_query in written):
            self.uses.append(use)
            clause = use.clause
            of_pattern = variables(clause.pattern)
            names = Names(of_pattern, use.relation)
            plain = [clause.order_by, *(item.expression for item in (*clause.partition_by, *clause.group_by))]
            for expression in plain if clause.type_by is None else [*plain, clause.type_by]:
                event_expression(use.sql, expression, names)
            for definition in clause.define:
                event_expression(use.sql, definition.condition, names, definition.variable.name)
            for item in clause.measures:
                aggregate_calls(use.sql, item.expression, names)

    def united(self, _: str) -> set[int]:
        """There are no streams."""
        return set()

    def queries(self) -> list[Any]:
        """No views are made."""
        return []

    def explained(self, _: Sequence[ParsedClause] = (), samples: bool = False) -> list[Any]:  # noqa: ARG002
        """No views are made."""
        return []

    def streams(self) -> list[Any]:
        """None run."""
        return []

    def drop_results(self) -> None:
        """There are none."""


class Literals:
    """Stands in for the values of parameters as Spark hands them over, for one of them, and for their context."""

    def __init__(self, named: bool, size: int = 2) -> None:
        self.named, self.count = named, size

    def getClass(self) -> Literals:  # noqa: N802
        """Only its name is asked for."""
        return self

    def getSimpleName(self) -> str:  # noqa: N802
        """Of one of Spark's two kinds of context."""
        return "NamedParameterContext" if self.named else "PositionalParameterContext"

    def params(self) -> Literals:
        """The values."""
        return self

    def toSeq(self) -> Literals:  # noqa: N802
        """Pairs of names and values."""
        return self

    def size(self) -> int:
        """How many there are."""
        return self.count

    def apply(self, _index: int) -> Literals:
        """One value, or pair."""
        return self

    def _1(self) -> str:
        return "a"

    def _2(self) -> Literals:
        return self

    def sql(self) -> str:
        """A value in SQL."""
        return "'?'"

    def take(self, count: int) -> Literals:
        """The first values."""
        return Literals(self.named, count)

    def appended(self, _value: object) -> Literals:
        """One more value."""
        return Literals(self.named, self.count + 1)

    def copy(self, values: Literals) -> Literals:
        """A context with other values."""
        return values


def rewritten(sql: str) -> tuple[str, Stub]:
    """What Spark would get for ``sql``, and which clauses were registered."""
    stub = Stub()
    statement = rewrite_statement(cast("Workload", stub), Edits(sql))
    return statement.text if isinstance(statement, RewrittenStatement) else str(statement), stub


def _filled(sql: str, context: Literals | None) -> str:
    """The statement with values in place of the parameters of its clauses."""
    try:
        tokens = tokenize(sql)
    except TokenError:
        return sql
    return fill_in(sql, tokens, find_clauses(tokens), context)[0].result()


def check(sql: str) -> str:
    """What became of ``sql``: ``unchanged``, ``replaced``, ``command``, or an error class.

    Raises:
        AssertionError: A property does not hold.
        Exception: That is no PlanningError, which is a finding too.
    """
    begin = time.process_time()
    became = _condition(lambda: _became(sql), sql)
    if "match_trend" in sql.lower():
        context = (None, Literals(True), Literals(False))[len(sql) % 3]
        _condition(lambda: _check_parameters(sql, _filled(sql, context), context), sql)
    seconds = time.process_time() - begin
    assert seconds < SECONDS, f"{seconds:.1f} s"
    return became


def _condition(checked: Callable[[], str], sql: str) -> str:
    """What ``checked`` returns, or the class of its error, which must name a place in ``sql``."""
    raised: PlanningError
    try:
        return checked()
    except PlanningError as error:
        raised = error
    assert 0 <= raised.start <= raised.end <= len(sql), f"{raised.condition} at {raised.start}..{raised.end}"
    return raised.condition


def _became(sql: str) -> str:
    result, stub = rewritten(sql)
    try:
        tokens = tokenize(sql)
    except TokenError:
        assert result is sql
        return "unchanged"
    _check_tokens(sql, tokens)
    if command(tokens) is not None:
        return "command"
    spans = [] if sets_conf(tokens) else find_clauses(tokens)
    assert len(stub.uses) == len(spans)
    if not spans:
        assert result is sql
        return "unchanged"
    _check_replacement(sql, result, spans)
    return "replaced"


def _check_tokens(sql: str, tokens: Sequence[Token]) -> None:
    """Tokens are in order, spell the text, and leave nothing out but blanks, comments and hints."""
    end = 0
    for token in tokens:
        assert sql[token.start : token.end] == token.text != ""
        between = sql[end : token.start].strip()
        assert between == "" or between.startswith(("--", "/*")), between
        end = token.end


def _check_replacement(sql: str, result: str, spans: Sequence[ClauseSpan]) -> None:
    """Only clauses are replaced, by a query and blanks that keep the line and column of what follows."""
    at = position = 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.end <= at:
            continue  # inside of another
        assert result.startswith(sql[at : span.start], position)
        position += span.start - at
        lines = sql[span.start : span.end].split("\n")
        instead = result[position:].split("\n")[: len(lines)]
        instead[-1] = instead[-1][: len(lines[-1])]
        assert re.fullmatch(rf"\s*\(SELECT\s+\* FROM\s+{FUNCTION}\(\d+\)\)\s*", "\n".join(instead))
        assert len(instead) == len(lines)
        assert [*map(len, instead)] == [*map(len, lines)] or all(len(line) < len("\n".join(instead)) for line in lines)
        position += len("\n".join(instead))
        at = span.end
    assert result[position:] == sql[at:]


def _check_parameters(sql: str, filled: str, context: Literals | None) -> str:
    """Without values nothing is filled in, and else nothing outside of clauses."""
    if context is None:
        assert filled == sql
    try:
        spans = find_clauses(tokenize(sql))
    except TokenError:
        spans = []
    if not spans:
        assert filled == sql
    else:
        assert filled.startswith(sql[: min(span.keyword for span in spans)])
        assert filled.endswith(sql[max(span.end for span in spans) :])
    return "filled"


def spaced(sql: str, chance: random.Random) -> str:
    """``sql`` with comments and blanks of all kinds between its tokens."""
    blanks = (
        " ",
        "\n",
        "\r\n",
        "\t",
        " /* MATCH_TREND ( */ ",
        " -- ' MATCH_TREND\n",
        "/* /* nested ' */ ; */",
        " --\\\n(\n ",
    )
    tokens = tokenize(sql)
    pieces = [token.text + (" " if after.start > token.end else "") for token, after in pairwise(tokens)]
    return "".join(p + chance.choice(blanks) if p.endswith(" ") else p for p in pieces) + tokens[-1].text


def meaning(sql: str) -> list[tuple[str, ...]]:
    """The clauses of ``sql`` without the places where they stand."""
    return [
        (
            str(use.clause.pattern),
            str(use.relation),
            *(" ".join(token.text for token in item.expression.tokens) for item in use.clause.measures),
            *(" ".join(token.text for token in d.condition.tokens) for d in use.clause.define),
        )
        for use in rewritten(sql)[1].uses
    ]


def good_statements() -> list[str]:
    """Those of `CORPUS` that hold clauses and are right."""
    return [sql for sql in CORPUS if check(sql) == "replaced"]


def _from_vocabulary(chance: random.Random) -> str:
    return chance.choice((" ", "")).join(chance.choices(VOCABULARY, k=chance.randint(1, 40)))


def _pieces(sql: str) -> list[str]:
    return re.findall(r"\w+|\s+|[^\w\s]", sql)


def _mutated(chance: random.Random) -> str:
    pieces = _pieces(chance.choice(CORPUS))
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        at = chance.randrange(len(pieces) + 1)
        to = chance.randrange(len(pieces) + 1)
        low, high = min(at, to), max(at, to)
        match chance.randrange(8):
            case 0:
                del pieces[at : at + chance.choice((1, 1, 2, 5))]
            case 1:
                pieces[at:at] = pieces[to : to + 3]
            case 2 if low < high < len(pieces):
                pieces[low], pieces[high] = pieces[high], pieces[low]
            case 3 | 4:
                pieces[at:at] = [chance.choice((" ", "")), chance.choice(VOCABULARY), " "]
            case 5:
                del pieces[at:]
            case 6:
                spliced = _pieces(chance.choice(CORPUS))
                pieces[at:] = spliced[chance.randrange(len(spliced)) :]
            case _:
                pieces[low:high] = [chance.choice("([{"), *pieces[low:high], chance.choice(")]}")]
        pieces = pieces or [" "]
    return "".join(pieces)


def _clause_of_words(chance: random.Random) -> str:
    """A clause whose sections hold anything."""
    sections = ["PARTITION BY", "GROUP BY", "ORDER BY", "TYPE BY", "MEASURES", "PATTERN (", "DEFINE", "WITHIN", "SLIDE"]
    chance.shuffle(sections)
    right = {
        "ORDER BY": "t",
        "MEASURES": "COUNT(*) AS n",
        "PATTERN (": "A B",
        "TYPE BY": "ty",
        "DEFINE": "A AS v > 1",
    }
    body = ""
    for section in sections[: chance.randint(3, 9)]:
        words = right.get(section, "1")
        if chance.random() < 0.3:
            words = " ".join(chance.choices(VOCABULARY, k=chance.randint(1, 9)))
        body += f" {section} {words}" + ")" * section.endswith("(")
    return f"SELECT * FROM e MATCH_TREND ({body})"


def _pattern(chance: random.Random) -> str:
    words = re.split(" ", "A B C ( ) ( ) + * ? | & , NOT AND( SEQ( OR( PERMUTE( {2} {1,} {,3} {1,2} {0} `a` 1 - { }")
    pattern = " ".join(chance.choices(words, k=chance.randint(1, 14)))
    return f"SELECT * FROM e MATCH_TREND (ORDER BY t TYPE BY ty MEASURES COUNT(*) AS n PATTERN ({pattern}))"


def _expressions(chance: random.Random) -> str:
    words = re.split(
        " ",
        "A.v B.v v e.v A B ( ) ( ) + - , COUNT( SUM( FIRST( LAST( MIN( MAX( AVG( COUNT(*) * PREV( PREV(v) PREV(A.v) "
        ". 1 'x'",
    )
    measure, condition = (" ".join(chance.choices(words, k=chance.randint(1, 9))) for _ in range(2))
    return (
        f"SELECT * FROM e MATCH_TREND (ORDER BY t TYPE BY ty MEASURES {measure} AS n, COUNT(*) AS c PATTERN (A B)"
        f" DEFINE A AS {condition})"
    )


def _raw(chance: random.Random) -> str:
    text = "".join(chr(chance.choice((chance.randrange(32, 127), chance.randrange(0x2FFF)))) for _ in range(30))
    return text if chance.random() < 0.3 else f"{text} MATCH_TREND ({text})"


def _deep(chance: random.Random) -> str:
    depth = chance.choice((50, 101, 500, 3000))
    opening, closing = chance.choice((("(", ")"), ("((", "))"), ("[", "]"), ("(SELECT * FROM (", "))"), ("NOT ", "")))
    before, after = opening * depth, closing * depth
    good = CORPUS[0]
    return chance.choice(
        (
            f"SELECT * FROM {before}e MATCH_TREND ({BODY}){after}",
            f"SELECT * FROM {before}e{after} MATCH_TREND ({BODY})",
            good.replace("A+ B", f"{before}A{after}"),
            good.replace("SUM(B.v)", f"SUM({before}B.v{after})"),
            good.replace("COUNT(*)", f"{before}COUNT(*){after}"),
            good.replace("BY k", f"BY {before}k{after}"),
            f"SELECT * FROM e MATCH_TREND {before}{BODY}{after}",
            "SELECT * FROM e" + f" MATCH_TREND ({BODY})" * (depth // 50),
            f"WITH {'c AS (SELECT 1), ' * (depth // 10)} d AS (SELECT 1) {good}",
            "/* " * depth + good + " */" * depth,
            before,
            after + good,
        )
    )


KINDS: tuple[tuple[Callable[[random.Random], str], float], ...] = (
    (_from_vocabulary, 25),
    (_mutated, 40),
    (_clause_of_words, 12),
    (_pattern, 8),
    (_expressions, 8),
    (_raw, 7),
    (_deep, 0.5),
)


def statements(seed: int, count: int) -> Iterator[str]:
    """``count`` random texts."""
    chance = random.Random(seed)
    makers, weights = zip(*KINDS, strict=True)
    for _ in range(count):
        yield chance.choices(makers, weights)[0](chance)


def problem(sql: str) -> str | None:
    """What is wrong with how ``sql`` is read; None if nothing is."""
    try:
        check(sql)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {where.name}: {str(error)[:100]}"
    return None


def shrunk(sql: str) -> str:
    """A shorter text that has the same problem."""
    wanted = (problem(sql) or "").split(":")[0]
    pieces = _pieces(sql)
    size = len(pieces) // 2
    while size:
        at = 0
        while at < len(pieces):
            shorter = pieces[:at] + pieces[at + size :]
            if (problem("".join(shorter)) or "").split(":")[0] == wanted:
                pieces = shorter
            else:
                at += size
        size //= 2
    return "".join(pieces)


def main() -> int:
    """Check random statements; print what became of them and what was found."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    begin = time.perf_counter()
    became: Counter[str] = Counter()
    faults: dict[str, str] = {}
    slowest = (0.0, "")
    for sql in statements(asked.seed, asked.inputs):
        started = time.process_time()
        try:
            became[check(sql)] += 1
        except Exception:
            became["finding"] += 1
            kind = (problem(sql) or "?").split(":")[0]
            if kind not in faults:
                faults[kind] = shrunk(sql)
                print(f"{problem(faults[kind])}\n  {faults[kind]!r:.400}", flush=True)
        slowest = max(slowest, (time.process_time() - started, sql))
    for name, count in became.most_common():
        print(f"{count:8} {name}")
    print(f"{asked.inputs} statements in {time.perf_counter() - begin:.0f} s, {len(faults)} findings")
    print(f"the slowest took {slowest[0]:.2f} s: {slowest[1]!r:.80}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
