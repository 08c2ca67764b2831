"""Which branches of a UNION ALL are read from the results of one run at once, and not each by itself.

Spark reads kept rows once for each branch, by a job of its own first, and each of the tasks that follow has the plans
of all branches to unpack: of a hundred views, that takes several times as long as the results take to read.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple
from weakref import WeakKeyDictionary

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.plans import Plan
from sparkext.jvm.unions import Branch, has_union, in_one, marked, new_number, over, with_unions
from sparkext.workload.run import Run

LEAST = 8
"""Branches from which on it is worth the look at all of them."""


class _Read(NamedTuple):
    """The rows of a clause, and the run from the results of which they are selected."""

    run: Run
    rows: AnalysedFrame


class _Thread(threading.local):
    """What the statement that a thread analyses has read so far.

    Attributes:
        read: By numbers of plans; None between statements.
        times: How often.
    """

    read: dict[int, _Read] | None = None
    times = 0


class ResultUnions:
    """Finds UNION ALLs of many clauses whose results are not on the driver. Several threads may ask.

    Rows then come in another order than that of the branches. Where a pass has one task they are left as they are: that
    many tasks of small results cost little.
    """

    def __init__(self) -> None:
        """Of a session."""
        self._thread = _Thread()
        self._numbers: WeakKeyDictionary[AnalysedFrame, int] = WeakKeyDictionary()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """While this thread analyses a statement."""
        before = self._thread.read, self._thread.times
        self._thread.read, self._thread.times = {}, 0
        try:
            yield
        finally:
            self._thread.read, self._thread.times = before

    def stand_in(self, plan: Plan, run: Run, rows: AnalysedFrame) -> Plan:
        """The plan of the rows of a clause, which is found again in the statement that reads it.

        Args:
            plan: The plan.
            run: That computes the rows.
            rows: Selected from its results.
        """
        if self._thread.read is None or run.planned.cutting.tasks == 1:
            return plan
        number = self._numbers.setdefault(rows, new_number())
        self._thread.read[number] = _Read(run, rows)
        self._thread.times += 1
        return marked(plan, number)

    def at_once(self, plan: Plan) -> Plan:
        """A statement, as Spark has analysed it, that reads the results of a run once for many branches of a UNION ALL.

        Args:
            plan: Of the statement that this thread is reading.
        """
        if self._thread.times < LEAST or not has_union(plan):
            return plan
        return with_unions(plan, self._union, has_union)

    def _union(self, branches: Sequence[Branch]) -> list[Plan]:
        """What stands for the branches of a union."""
        members: dict[Run, list[tuple[Branch, AnalysedFrame]]] = {}
        for branch in branches:
            if (one := self._read_by(branch)) is not None:
                members.setdefault(one.run, []).append((branch, one.rows))
        stands_for: dict[Branch, Plan | None] = {}
        for run, those in members.items():
            first = those[0][0]
            rows = [over(branch, rows.analysed_plan) for branch, rows in those] if len(those) >= LEAST else []
            plan = in_one(first, run.results.analysed_plan, rows) if rows else None
            if plan is not None:
                stands_for |= {branch: plan if branch is first else None for branch, _ in those}
        plans = (stands_for.get(branch, branch.plan) for branch in branches)
        return [plan for plan in plans if plan is not None]

    def _read_by(self, branch: Branch) -> _Read | None:
        """What a branch reads; None if that is nothing of the statement, or more than rows one by one."""
        assert self._thread.read is not None
        return None if branch.stand_in is None or branch.problem else self._thread.read.get(branch.stand_in)
