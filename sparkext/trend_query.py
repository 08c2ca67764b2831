"""A registered trend query, and the view that it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sparkext.bound_query import BoundQuery
from sparkext.files import Listing
from sparkext.pool import Pool, Run
from sparkext.use import Use

RELATION_PREFIX = "sparkext_trend_"
"""Names of the relations that stand in for clauses."""

_READ = re.compile(rf"(?<!Table: )\b{RELATION_PREFIX}\d+\b")
"""In the texts of views. What Spark shows of views also has their names, which is not to be taken for one of these."""


@dataclass(slots=True, eq=False)
class TrendQuery:
    """A registered query.

    Attributes:
        view: The view whose life it shares; None for a query that lives for one statement.
        relation: Name of the stand-in relation.
        use: Where it was written.
        bound: Resolved against the columns of its relation.
        files: Of that relation.
        pool: That computes it.
        run: That it is planned in; None while it is not.
        shown: The run that the stand-in relation shows, and whether it fails on overflow.
        checked: The run whose results have been found to be right, in debug mode.
    """

    view: View | None
    relation: str
    use: Use
    bound: BoundQuery
    files: tuple[Listing, ...]
    pool: Pool
    run: Run | None = None
    shown: tuple[Run, bool] | None = None
    checked: Run | None = None

    def is_named_in(self, texts: str) -> bool:
        """Whether a text in lower case has the name of the query's view or relation."""
        return self.relation in texts or (self.view is not None and self.view.name.lower() in texts)

    def is_read_by(self, text: str) -> bool:
        """Whether the text of a view refers to the query."""
        return self.relation in relations_read(text)

    def rename(self, view: View, name: str) -> None:
        """Follow its view, which has another name now."""
        known = self.bound.query
        self.view = replace(view, name=name)
        self.bound = replace(self.bound, query=replace(known, name=name + known.name[len(view.name) :]))


@dataclass(frozen=True, slots=True)
class View:
    """A temporary view that a statement creates.

    Attributes:
        name: Without its database.
        is_global: Whether all sessions see it.
        read_at_once: Whether the statement also reads it.
    """

    name: str
    is_global: bool
    read_at_once: bool


def by_pool(queries: Iterable[TrendQuery]) -> dict[str, list[TrendQuery]]:
    """Queries by their pools, which are called ``pool 1`` and so on in the order of their first queries."""
    pools: dict[Pool, list[TrendQuery]] = {}
    for query in queries:
        pools.setdefault(query.pool, []).append(query)
    return {f"pool {number}": members for number, members in enumerate(pools.values(), 1)}


def relations_read(texts: str) -> set[str]:
    """Stand-in relations that views refer to, by their texts."""
    return set(_READ.findall(texts))
