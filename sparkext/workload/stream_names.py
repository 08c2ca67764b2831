"""What operators over streams are called where people look at their metrics."""

from __future__ import annotations

import hashlib
import itertools
import threading
from collections.abc import Callable, Sequence
from weakref import WeakValueDictionary

from sparkext.binding.bound_query import BoundQuery
from sparkext.execution.stream_pass import StreamOperator
from sparkext.workload.trend_query import TrendQuery

_DIGITS = 8
"""Of a name that is made of what is computed."""


class StreamNames:
    """Names of the operators of a session. Several threads may ask."""

    def __init__(self, collect: Callable[[], object]) -> None:
        """None yet.

        Args:
            collect: Forgets operators of views that are gone.
        """
        self._collect = collect
        self._naming = threading.Lock()
        self._operators: WeakValueDictionary[str, StreamOperator] = WeakValueDictionary()

    def of(self, operator: StreamOperator, queries: Sequence[TrendQuery]) -> tuple[str, str]:
        """The name of an operator to a reader, the same in each process, and which views are read.

        The name is that of the first view, or made of what is computed. Spark refuses a streaming query with one name
        for two things. So where another operator that is in use has it, or other views are read of this one, there is
        a number behind it.

        Args:
            operator: The operator.
            queries: That are read of it, in the order in which a statement has them.
        """
        called = next(filter(None, (query.lasting_name for query in queries)), None)
        if called is None:
            called = _digest(queries)
        elif len({query.written.number for query in queries}) > 1:
            called = f"pool_of_{called}"
        views = _views(queries)
        if not self._is_for(called, operator, views):
            self._collect()
        names = (called if number == 1 else f"{called}_{number}" for number in itertools.count(1))
        return next(name for name in names if self._is_for(name, operator, views)), views

    def _is_for(self, name: str, operator: StreamOperator, views: str) -> bool:
        """Whether a name is that of some views of an operator, which it becomes if it is of no others."""
        with self._naming:
            is_its_own = self._operators.setdefault(name, operator) is operator
            return is_its_own and operator.views.setdefault(name, views) == views


def text_of(bound: BoundQuery) -> str:
    """A text of what is computed for a query, the same in each process."""
    query = bound.query
    parts = query.pattern, query.selection.value, query.window, query.span, query.wait, query.completion
    conditions = [*(str(one) for _, one in query.classes), *(f"{name}: {step.text}" for name, step in query.steps)]
    keys = [key.canonical for key in (*bound.sorted_groups, *bound.sorted_partitions)]
    return repr((*map(str, parts), *map(str, query.aggregates), *conditions, *keys, bound.time_canonical))


def _digest(queries: Sequence[TrendQuery]) -> str:
    text = "\n".join(sorted(text_of(query.bound) for query in queries))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _views(queries: Sequence[TrendQuery]) -> str:
    """What is read, for people: the names of views, and of clauses that none has the patterns."""
    return ", ".join(dict.fromkeys(query.lasting_name or str(query.bound.query.pattern) for query in queries))
