"""Improvement: a choice is changed as long as that helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sparkext.planner.plan_completion.choices import Choices, Priced, least_of


def improved(choices: Choices, chosen: list[Priced], effort: int) -> list[Priced]:
    """Change the options of queries, one or several at a time, as long as that helps and the budget lasts.

    A query takes the option that is best given what others pay for already. Or one query takes an option
    whatever that costs, and all others that then gain from what it pays for follow.

    Args:
        choices: All options.
        chosen: To begin with; valid.
        effort: Most options to look at.

    Returns:
        A choice that is valid and no worse.
    """
    state, budget = _Change(choices, chosen), choices.budget
    leaders = state.leaders()
    changed = True
    while changed and state.looks < effort:
        changed = False
        for query in range(len(choices.options)):
            if budget.is_spent():
                return state.chosen
            changed |= state.try_all({query: state.best_of(query)})
        for query, leader in leaders:
            if state.looks >= effort or budget.is_spent():
                break
            if leader is not state.chosen[query]:
                changed |= state.try_all(state.led(query, leader))
    return state.chosen


class _Change:
    """A choice that is being changed."""

    def __init__(self, choices: Choices, chosen: Sequence[Priced]) -> None:
        self._choices = choices
        self.chosen = list(chosen)
        self.users = [0] * len(choices.costs)
        for option in chosen:
            for number in option.common:
                self.users[number] += option.users
        self._due = [0.0 if users else cost for users, cost in zip(self.users, choices.costs, strict=True)]
        self.looks = 0
        self._interested: dict[int, list[int]] = {}
        for query, numbers in enumerate(choices.numbers):
            for number in numbers:
                self._interested.setdefault(number, []).append(query)

    def leaders(self) -> list[tuple[int, Priced]]:
        """Options that others might follow, each with a query; those that most queries are interested in first."""
        leader_of: dict[tuple[int, ...], tuple[int, Priced]] = {}
        for query, own_options in enumerate(self._choices.options):
            for option in own_options:
                if option.common:
                    leader_of.setdefault(option.common, (query, option))
        interest = {number: len(queries) for number, queries in self._interested.items()}
        return sorted(leader_of.values(), key=lambda leader: -sum(interest[number] for number in leader[1].common))

    def best_of(self, query: int) -> Priced:
        """The best option of a query given what others pay for."""
        own_options, costs, due = self._choices.options[query], self._choices.costs, self._due
        self.looks += len(own_options)
        own, many = self.chosen[query].common, own_options[0].users
        alone = [number for number in own if self.users[number] == many]
        for number in alone:
            due[number] = costs[number]
        best = least_of(own_options, due)
        for number in alone:
            due[number] = 0.0
        return best

    def led(self, query: int, leader: Priced) -> dict[int, Priced]:
        """What becomes of the queries when one takes an option, and those with something in common may follow."""
        users, due = self.users, self._due
        changes = {query: leader}
        offered = set(leader.common)
        before = [(number, due[number]) for number in offered]
        for number in offered:
            due[number] = 0.0
        cost_of = due.__getitem__
        for follower in sorted({q for number in offered for q in self._interested[number]} - {query}):
            own_options, own = self._choices.options[follower], self.chosen[follower]
            self.looks += len(own_options)
            # What it pays for already is not worth leaving for something that costs as much.
            best, least = own, own.private + sum(map(cost_of, own.common))
            for option in own_options:
                cost = option.private + sum(map(cost_of, option.common))
                if cost < least and all(form in offered or users[form] for form in option.forms):
                    best, least = option, cost
            if best is not own:
                changes[follower] = best
        for number, cost in before:
            due[number] = cost
        return changes

    def try_all(self, changes: Mapping[int, Priced]) -> bool:
        """Make changes if they help together."""
        costs, users, fewest = self._choices.costs, self.users, self._choices.fewest
        delta = 0.0
        change: Counter[int] = Counter()
        for query, option in changes.items():
            old = self.chosen[query]
            delta += option.private - old.private
            change.update(dict.fromkeys(option.common, option.users))
            change.subtract(dict.fromkeys(old.common, old.users))
        forms = {form for query, o in changes.items() for form in (*o.forms, *self.chosen[query].forms)}
        for number, by in change.items():
            before = users[number]
            if number in forms and 0 < before + by < fewest:
                return False
            if not before and by > 0:
                delta += costs[number]
            elif before and before + by == 0:
                delta -= costs[number]
        if delta >= -1e-9 * max(1.0, abs(sum(option.private for option in changes.values()))):
            return False
        for query, option in changes.items():
            self.chosen[query] = option
        for number, by in change.items():
            users[number] += by
            self._due[number] = 0.0 if users[number] else costs[number]
        return True
