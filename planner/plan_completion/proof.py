"""Proof: branch and bound shows that a choice is the best, or finds a better one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from sparkext.planner.plan_completion.choices import Choices, Priced


@dataclass(frozen=True, slots=True)
class Proof:
    """The best choice that is known, with what is proved of it.

    Attributes:
        chosen: The choice.
        bound: No choice costs less than this.
        looked_at: Number of partial choices looked at.
    """

    chosen: list[Priced]
    bound: float
    looked_at: int


def best(choices: Choices, chosen: list[Priced], effort: int) -> Proof:
    """The best choice, or what can be said of it with limited effort: branch and bound.

    Args:
        choices: All options.
        chosen: A good choice.
        effort: Most options to look at, in each group of queries that have something in common.
    """
    result, bound, looked_at = list(chosen), 0.0, 0
    for queries in choices.groups():
        part = _Search(choices, queries, [chosen[query] for query in queries], effort)
        part.run()
        bound += part.bound
        looked_at += part.looked_at
        for query, option in zip(queries, part.chosen, strict=True):
            result[query] = option
    return Proof(result, bound, looked_at)


class _Search:
    """Branch and bound over one group of queries.

    A lower bound of what is still to be chosen lets every query pay an equal part of what all could share.
    """

    def __init__(self, choices: Choices, queries: list[int], chosen: list[Priced], effort: int) -> None:
        self._choices = choices
        self._costs = choices.costs
        self._effort = effort
        self.chosen = chosen
        self.cost = choices.cost(chosen)
        self.bound = 0.0
        self.looked_at = 0
        self._looks = 0
        self._options = [self._worth_taking(choices.options[query]) for query in queries]

    def _worth_taking(self, options: list[Priced]) -> list[Priced]:
        """Without options that are no better than one that is cheap by itself, whatever others pay for.

        An option may be needed for others to have enough users of a form, where a fewest number is asked for.
        """
        if self._choices.fewest > 1:
            return options
        costs = self._costs
        cheap = min(options, key=lambda option: option.private + sum(costs[number] for number in option.common))

        def more(option: Priced) -> float:
            return cheap.private + sum(costs[number] for number in set(cheap.common) - set(option.common))

        return [option for option in options if option is cheap or option.private < more(option)]

    def run(self) -> None:
        while True:
            if self._choices.budget.is_spent():
                return
            left = self._rest(range(len(self._options)), frozenset())
            self.bound = sum(min(values) for values in left)
            # An option without which the bound is above the cost of a known choice cannot be part of a better one.
            slack = self._slack() - self.bound
            kept = [
                [o for o, value in zip(own_options, values, strict=True) if value - min(values) <= slack]
                for own_options, values in zip(self._options, left, strict=True)
            ]
            if any(not own_options for own_options in kept):
                break
            shrunk = sum(map(len, kept)) < sum(map(len, self._options))
            self._options = kept
            if not shrunk:
                break
        if self.bound >= self._slack() or any(not own_options for own_options in self._options):
            self.bound = self.cost
            return
        order = sorted(range(len(self._options)), key=lambda index: len(self._options[index]))
        lowest = self._branch({}, order, 0.0, frozenset())
        self.bound = min(self.cost, lowest)

    def _slack(self) -> float:
        """What a choice must cost less than to be better, but for rounding."""
        return self.cost * (1 - 1e-12)

    def _rest(self, indexes: Iterable[int], paid: frozenset[int]) -> list[list[float]]:
        """Per query and option, the least that it adds."""
        indexes = list(indexes)
        users: Counter[int] = Counter()
        for index in indexes:
            self._looks += len(self._options[index])
            users.update({number for option in self._options[index] for number in option.common})
        costs = self._costs
        share = {number: 0.0 if number in paid else costs[number] / count for number, count in users.items()}
        return [
            [option.private + sum(share[number] for number in option.common) for option in self._options[index]]
            for index in indexes
        ]

    def _branch(self, taken: dict[int, Priced], order: list[int], private: float, paid: frozenset[int]) -> float:
        """Look at all choices that begin with ``taken``; returns a lower bound of those not looked at."""
        self.looked_at += 1
        if len(taken) == len(order):
            complete = [taken[index] for index in range(len(order))]
            cost = self._choices.cost(complete)
            if cost < self.cost:
                self.chosen, self.cost = complete, cost
            return float("inf")
        left = self._rest(order[len(taken) :], paid)
        so_far = private + sum(self._costs[number] for number in paid)
        least_of_others = sum(min(values) for values in left[1:])
        index = order[len(taken)]
        lowest = float("inf")
        for value, option in sorted(zip(left[0], self._options[index], strict=True), key=lambda pair: pair[0]):
            bound = so_far + value + least_of_others
            if bound >= self._slack():
                break
            if self._looks >= self._effort or self._choices.budget.is_spent():
                return min(lowest, bound)
            lower_bound = self._branch(
                {**taken, index: option}, order, private + option.private, paid | frozenset(option.common)
            )
            lowest = min(lowest, lower_bound)
        return lowest
