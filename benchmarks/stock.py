"""Workloads over tickers, of the shape of those that the GLORIA authors published.

Queries have beginnings and ends of their own round a middle that some share, or round a nested Kleene part. Half of
them count trends, the others sum or average the price of the first ticker, which must have been traded in volume;
windows are of 5 to 20 minutes and slide by 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from benchmarks.kernel import COUNT, MINUTE, Stream, query
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.pattern import variables
from sparkext.planner.patterns.query import Aggregate, Function, Query, Window

TICKERS = [f"T{number}" for number in range(80)]
"""Types that queries begin and end with."""


def sequences(queries: int, random: Random) -> list[str]:
    """Six types: two of the query's own at the ends, and a middle that one query in twenty has too."""
    middles = [f"M{2 * number} M{2 * number + 1}" for number in range(max(1, min(20, queries // 5)))]
    return [" ".join((before, "S", random.choice(middles), "L", after)) for before, after in _ends(queries, random)]


def mixed(queries: int, random: Random) -> list[str]:
    """One query in six has a nested Kleene part, all others a window of five from the same chain of types."""
    chain = [f"M{number}" for number in range(24)]
    patterns = []
    for number, (before, after) in enumerate(_ends(queries, random)):
        if number % 6:
            index = random.randrange(len(chain) - 3)
            patterns.append(" ".join((before, "S", *chain[index : index + 3], after)))
        else:
            index = random.randrange(len(chain) - 11)
            inner = chain[index : index + 8]
            patterns.append(f"(S ({' '.join(inner)})+ {chain[index + 8]})+ {chain[index + 9]} {after}")
    return patterns


def kleene(queries: int, length: int, layers: int, random: Random) -> list[str]:
    """Nested Kleene parts with so many types innermost; five queries have the same."""
    parts = []
    for number in range(max(1, queries // 5)):
        text = f"({' '.join(f'K{number}_{index}' for index in range(length))})+"
        for layer in range(1, layers):
            text = f"(B{number}_{layer} {text} A{number}_{layer})+"
        parts.append(text)
    return [f"S {random.choice(parts)} {after}" for _, after in _ends(queries, random)]


def workload(patterns: Sequence[str], random: Random) -> list[Query]:
    """Queries with these patterns."""
    price = Attribute("open", "double")
    queries = []
    for number, text in enumerate(patterns):
        first = text.replace("(", "").split()[0]
        wanted = random.choice(
            (COUNT, COUNT, Aggregate(Function.SUM, first, price), Aggregate(Function.AVG, first, price))
        )
        window = Window(random.choice((5, 10, 15, 20)) * MINUTE, 5 * MINUTE)
        traded = {first: f"vol > {random.choice((30, 100))}"}
        queries.append(query(f"q{number}", text, wanted, window=window, conditions=traded, types="ticker"))
    return queries


def ticks(queries: Sequence[Query], events: int, each: float = 20.0) -> Stream:
    """Trades of all tickers that a workload names, of ten keys.

    Args:
        queries: The workload.
        events: How many.
        each: Events of a ticker, per key, in a window of twenty minutes.
    """
    types = sorted({name for asked in queries for name in variables(asked.pattern)})
    return Stream(events, 10, int(20 * MINUTE / (each * len(types))), dict.fromkeys(types, 1.0))


def _ends(queries: int, random: Random) -> Iterator[tuple[str, str]]:
    for _ in range(queries):
        before, after = random.sample(TICKERS, 2)
        yield before, after
