"""Which branches of a UNION ALL are read from the results of one run at once, and not each by itself.

Spark reads kept rows once for each branch, by a job of its own first, and each of the tasks that follow has the plans
of all branches to unpack: of a hundred views, that takes several times as long as the results take to read.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sparkext.jvm.plans import Plan
from sparkext.jvm.unions import Selection, has_union, in_one, with_selections
from sparkext.workload.run import Run

LEAST = 8
"""Branches from which on it is worth the look at all of them."""


class _Thread(threading.local):
    """What the statement that a thread analyses has read so far.

    Attributes:
        read: Runs, by the numbers of their results; None between statements.
        times: How often.
    """

    read: dict[int, Run] | None = None
    times = 0


class ResultUnions:
    """Finds UNION ALLs of many clauses whose results are not on the driver. Several threads may ask.

    Rows then come in another order than that of the branches. Where a pass has one task they are left as they are: that
    many tasks of small results cost little.
    """

    def __init__(self) -> None:
        """Of a session."""
        self._thread = _Thread()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """While this thread analyses a statement."""
        before = self._thread.read, self._thread.times
        self._thread.read, self._thread.times = {}, 0
        try:
            yield
        finally:
            self._thread.read, self._thread.times = before

    def note(self, run: Run) -> None:
        """Take note that the statement selects the rows of a clause from the results of a run."""
        if self._thread.read is not None and run.planned.cutting.tasks > 1:
            self._thread.read[run.number] = run
            self._thread.times += 1

    def at_once(self, plan: Plan) -> Plan:
        """A statement, as Spark has analysed it, that reads the results of a run once for many branches of a UNION ALL.

        Args:
            plan: Of the statement that this thread is reading.
        """
        if self._thread.times < LEAST or not has_union(plan):
            return plan
        return with_selections(plan, self._union)

    def _union(self, branches: Sequence[Selection]) -> list[Plan]:
        """What stands for the branches of a union."""
        assert self._thread.read is not None
        members: dict[int, list[Selection]] = {}
        for branch in branches:
            if branch.relation in self._thread.read:
                members.setdefault(branch.relation, []).append(branch)
        stands_for: dict[Selection, Plan | None] = {}
        for number, those in members.items():
            results = self._thread.read[number].results.analysed_plan
            plan = _in_one(results, those)
            if plan is None:
                those = [branch for branch in those if not branch.problem]
                plan = _in_one(results, those)
            if plan is not None:
                stands_for |= {branch: plan if branch is those[0] else None for branch in those}
        plans = (stands_for.get(branch, branch.plan) for branch in branches)
        return [plan for plan in plans if plan is not None]


def _in_one(results: Plan, branches: Sequence[Selection]) -> Plan | None:
    """The rows of branches that select from results, which are read once; None if they are few, or it cannot be."""
    return in_one(branches[0].plan, results, branches) if len(branches) >= LEAST else None
