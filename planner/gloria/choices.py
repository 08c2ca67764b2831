"""Choices: one option for each query, so that all that is to be paid for is least.

What several queries pay for together is paid once. This is what is left of the workload once the options of
its queries are known: no rule of the graph, and no cost model, is needed to look for the best choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from planner.gloria.labels import Labels
from planner.gloria.options import Option


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """An option, with what it is charged split into what no other query pays for, and the rest.

    Attributes:
        labels: Of the option.
        private: Cost of what nobody else pays for.
        common: Numbers of what others may pay for too.
        forms: Which of them stand for forms, and need a fewest number of payers.
    """

    labels: Labels
    private: float
    common: tuple[int, ...]
    forms: tuple[int, ...]


class Choices:
    """Options of all queries.

    Attributes:
        fewest: Fewest queries that may use a form.
        options: Per query its options; the first shares nothing.
        costs: Per common number, its cost.
    """

    def __init__(self, fewest: int, options: Sequence[Sequence[Option]]) -> None:
        self.fewest = fewest
        payers: Counter[object] = Counter()
        for mine in options:
            payers.update({key for option in mine for key in (*option.charges, *option.forms)})
        numbers: dict[object, int] = {}
        self.costs: list[float] = []
        self.options: list[list[Priced]] = []

        def number(key: object, cost: float) -> int:
            if key not in numbers:
                numbers[key] = len(numbers)
                self.costs.append(cost)
            return numbers[key]

        for mine in options:
            self.options.append([])
            for option in mine:
                if any(payers[form] < fewest for form in option.forms):
                    continue
                common = tuple(number(key, cost) for key, cost in option.charges.items() if payers[key] > 1)
                forms = tuple(number(form, 0.0) for form in option.forms) if fewest > 1 else ()
                private = sum(cost for key, cost in option.charges.items() if payers[key] == 1)
                self.options[-1].append(Priced(option.labels, private, (*common, *forms), forms))

    def cost(self, chosen: Sequence[Priced]) -> float:
        """Of one option for each query; infinite when a form has too few users."""
        used = Counter(form for option in chosen for form in option.forms)
        if any(users < self.fewest for users in used.values()):
            return float("inf")
        common = {number for option in chosen for number in option.common}
        return sum(option.private for option in chosen) + sum(self.costs[number] for number in common)

    def groups(self) -> Iterator[list[int]]:
        """Queries that have something in common, directly or through others."""
        users: dict[int, set[int]] = {}
        for query, mine in enumerate(self.options):
            for number in {number for option in mine for number in option.common}:
                users.setdefault(number, set()).add(query)
        group = list(range(len(self.options)))

        def root(query: int) -> int:
            while group[query] != query:
                group[query] = group[group[query]]
                query = group[query]
            return query

        for queries in users.values():
            first, *others = sorted(queries)
            for other in others:
                group[root(other)] = root(first)
        found: dict[int, list[int]] = {}
        for query in range(len(self.options)):
            found.setdefault(root(query), []).append(query)
        yield from found.values()


def improved(choices: Choices, chosen: list[Priced], effort: int) -> list[Priced]:
    """Change the options of queries, one or several at a time, as long as that helps.

    A query takes the option that is best given what others pay for already. Or one query takes an option
    whatever that costs, and all others that then gain from what it pays for follow.

    Args:
        choices: All options.
        chosen: To begin with; valid.
        effort: Most options to look at.

    Returns:
        A choice that is valid and no worse.
    """
    best = choices.cost(chosen)
    users: dict[int, set[int]] = {}
    for query, mine in enumerate(choices.options):
        for number in {number for option in mine for number in option.common}:
            users.setdefault(number, set()).add(query)
    tried: set[tuple[int, ...]] = set()
    changed = True
    while changed and effort > 0:
        changed = False
        for query, mine in enumerate(choices.options):
            paid = Counter(number for place, option in enumerate(chosen) for number in option.common if place != query)
            effort -= len(mine)
            option = min(mine, key=lambda o: o.private + sum(choices.costs[n] for n in o.common if not paid[n]))
            better = [*chosen[:query], option, *chosen[query + 1 :]]
            if option is not chosen[query] and (cost := choices.cost(better)) < best:
                chosen, best, changed = better, cost, True
        for query, mine in enumerate(choices.options):
            for leader in mine:
                if not leader.common or leader is chosen[query] or leader.common in tried or effort <= 0:
                    continue
                tried.add(leader.common)
                followers = sorted(set().union(*(users[number] for number in leader.common)) - {query})
                better = _led(choices, chosen, query, leader, followers)
                effort -= sum(len(choices.options[follower]) for follower in followers)
                if (cost := choices.cost(better)) < best:
                    chosen, best, changed = better, cost, True
                    tried.clear()
    return chosen


def _led(choices: Choices, chosen: list[Priced], query: int, leader: Priced, followers: Iterable[int]) -> list[Priced]:
    """What is chosen when ``query`` takes the option ``leader`` and others may follow it."""
    better = list(chosen)
    better[query] = leader
    paid = {number for place, option in enumerate(better) for number in option.common}
    for follower in followers:
        better[follower] = min(
            (o for o in choices.options[follower] if paid.issuperset(o.forms)),
            key=lambda o: o.private + sum(choices.costs[number] for number in o.common if number not in paid),
        )
    return better


@dataclass(frozen=True, slots=True)
class Proof:
    """What is known about a choice.

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
        self._options = [choices.options[query] for query in queries]

    def run(self) -> None:
        while True:
            left = self._rest(range(len(self._options)), frozenset())
            self.bound = sum(min(values) for values in left)
            # An option without which the bound is above the cost of a known choice cannot be part of a better one.
            slack = self._slack() - self.bound
            kept = [
                [o for o, value in zip(mine, values, strict=True) if value - min(values) <= slack]
                for mine, values in zip(self._options, left, strict=True)
            ]
            if any(not mine for mine in kept):
                break
            shrunk = sum(map(len, kept)) < sum(map(len, self._options))
            self._options = kept
            if not shrunk:
                break
        if self.bound >= self._slack() or any(not mine for mine in self._options):
            self.bound = self.cost
            return
        order = sorted(range(len(self._options)), key=lambda place: len(self._options[place]))
        lowest = self._branch({}, order, 0.0, frozenset())
        self.bound = min(self.cost, lowest)

    def _slack(self) -> float:
        """What a choice must cost less than to be better, but for rounding."""
        return self.cost * (1 - 1e-12)

    def _rest(self, places: Iterable[int], paid: frozenset[int]) -> list[list[float]]:
        """Per query and option, the least that it adds."""
        places = list(places)
        users: Counter[int] = Counter()
        for place in places:
            self._looks += len(self._options[place])
            users.update({number for option in self._options[place] for number in option.common})
        costs = self._costs
        share = {number: 0.0 if number in paid else costs[number] / count for number, count in users.items()}
        return [
            [option.private + sum(share[number] for number in option.common) for option in self._options[place]]
            for place in places
        ]

    def _branch(self, taken: dict[int, Priced], order: list[int], private: float, paid: frozenset[int]) -> float:
        """Look at all choices that begin with ``taken``; returns a lower bound of those not looked at."""
        self.looked_at += 1
        if len(taken) == len(order):
            complete = [taken[place] for place in range(len(order))]
            cost = self._choices.cost(complete)
            if cost < self.cost:
                self.chosen, self.cost = complete, cost
            return float("inf")
        left = self._rest(order[len(taken) :], paid)
        so_far = private + sum(self._costs[number] for number in paid)
        others = sum(min(values) for values in left[1:])
        place = order[len(taken)]
        lowest = float("inf")
        for value, option in sorted(zip(left[0], self._options[place], strict=True), key=lambda pair: pair[0]):
            bound = so_far + value + others
            if bound >= self._slack():
                break
            if self._looks >= self._effort:
                return min(lowest, bound)
            found = self._branch(
                {**taken, place: option}, order, private + option.private, paid | frozenset(option.common)
            )
            lowest = min(lowest, found)
        return lowest
