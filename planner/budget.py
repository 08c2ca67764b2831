"""Budgets: how long may be looked for a plan, and whether somebody still waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable

from sparkext.planner.errors import PlanningError

DEFAULT_SECONDS = 2.0
"""Processor time that looking for the plan of one pool may take, unless a user says otherwise."""

_LOOK_SECONDS = 0.1
"""How often is looked whether the statement has been cancelled, which may be a question to another process."""


class BudgetSpentError(Exception):
    """The budget was used up before there was anything that could be used."""


class Budget:
    """Processor time of the thread that makes it, from then on.

    Attributes:
        seconds: How much; infinite for as long as it takes.
        is_used_up: Whether something has been cut short.
    """

    def __init__(self, seconds: float = float("inf"), cancelled: Callable[[], bool] | None = None) -> None:
        """Begin.

        Args:
            seconds: Processor time, none or more.
            cancelled: Whether the statement that is planned has been cancelled.
        """
        self.seconds = seconds
        self.is_used_up = False
        self._begin = time.thread_time()
        self._cancelled = cancelled
        self._looked = time.monotonic()

    def is_spent(self, part: float = 1.0) -> bool:
        """Whether a search is to stop with what it has, as this part of the budget has been used.

        Raises:
            PlanningError: ``TREND_CANCELLED``.
        """
        self.look()
        spent = time.thread_time() - self._begin >= part * self.seconds
        self.is_used_up |= spent
        return spent

    def check(self) -> None:
        """Raise an error if the budget is spent, for a search that has nothing yet that could be used.

        Raises:
            BudgetSpentError: All of the budget has been used.
            PlanningError: ``TREND_CANCELLED``.
        """
        if self.is_spent():
            raise BudgetSpentError

    def look(self) -> None:
        """Raise an error if the statement has been cancelled.

        Raises:
            PlanningError: ``TREND_CANCELLED``.
        """
        if self._cancelled is None or (now := time.monotonic()) < self._looked + _LOOK_SECONDS:
            return
        self._looked = now
        if self._cancelled():
            raise PlanningError("TREND_CANCELLED", 0, 0)
