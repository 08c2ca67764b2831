"""Choices: one option for each query, so that all that is to be paid for is least.

What several queries pay for together is paid once. This is what is left of the workload once the options of
its queries are known: no rule of the graph, and no cost model, is needed to look for the best choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.gloria.costs import Bundle
from planner.gloria.labels import Labels
from planner.gloria.options import Option


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """An option of some queries, with what it is charged split into what no others pay for, and the rest.

    Attributes:
        labels: Per query.
        private: Cost of what nobody else pays for, of all these queries.
        common: Numbers of what others may pay for too.
        forms: Which of them stand for forms, and need a fewest number of payers.
    """

    labels: tuple[Labels, ...]
    private: float
    common: tuple[int, ...]
    forms: tuple[int, ...]


class Choices:
    """Options of all queries.

    Attributes:
        fewest: Fewest queries that may use a form.
        queries: What is chosen for: single queries, or several for which the same is chosen.
        options: For each of these its options; the first shares nothing.
        costs: Per common number, its cost.
    """

    def __init__(self, fewest: int, options: Sequence[Sequence[Option]], merge: bool = False) -> None:
        """Take in the options of the queries.

        Args:
            fewest: Fewest queries that may use a form.
            options: Per query.
            merge: Whether the same is to be chosen for queries whose options differ in nothing but a
                constant cost. There is less to choose then, and hardly ever anything to lose.
        """
        self.fewest = fewest
        bundles = [{bundle for option in mine for bundle in option.bundles} for mine in options]
        payers: Counter[object] = Counter()
        for mine, paid in zip(options, bundles, strict=True):
            payers.update({key for bundle in paid for key, _ in bundle.charges})
            payers.update({form for option in mine for form in option.forms})
        numbers: dict[object, int] = {}
        self.costs: list[float] = []

        def number(key: object, cost: float) -> int:
            if key not in numbers:
                numbers[key] = len(numbers)
                self.costs.append(cost)
            return numbers[key]

        split: dict[Bundle, tuple[float, tuple[int, ...]]] = {}

        def parted(bundle: Bundle) -> tuple[float, tuple[int, ...]]:
            if bundle not in split:
                split[bundle] = (
                    sum([cost for key, cost in bundle.charges if payers[key] == 1]),
                    tuple([number(key, cost) for key, cost in bundle.charges if payers[key] > 1]),
                )
            return split[bundle]

        alike: dict[object, list[int]] = {}
        priced: list[list[Priced]] = []
        for query, mine in enumerate(options):
            priced.append([])
            for option in mine:
                if fewest > 1 and any(payers[form] < fewest for form in option.forms):
                    continue
                forms = tuple([number(form, 0.0) for form in sorted(option.forms)]) if fewest > 1 else ()
                private, common = 0.0, []
                for bundle in option.bundles:
                    cost, shared = parted(bundle)
                    private += cost
                    common += shared
                priced[-1].append(Priced((option.labels,), private, (*common, *forms), forms))
            first = priced[-1][0].private
            same = tuple((o.common, round(o.private - first, 6)) for o in priced[-1]) if merge else query
            alike.setdefault(same, []).append(query)
        self.queries = list(alike.values())
        self.options = [
            [_together(same) for same in zip(*(priced[q] for q in mine), strict=True)] for mine in self.queries
        ]

    def cost(self, chosen: Sequence[Priced]) -> float:
        """Of one option for each; infinite when a form has too few users."""
        used: Counter[int] = Counter()
        for option in chosen:
            for form in option.forms:
                used[form] += len(option.labels)
        if any(users < self.fewest for users in used.values()):
            return float("inf")
        common = {number for option in chosen for number in option.common}
        return sum(option.private for option in chosen) + sum(self.costs[number] for number in common)

    def labels(self, chosen: Sequence[Priced]) -> list[Labels]:
        """Per query the labels that a choice gives it."""
        found = [
            (query, labels)
            for queries, option in zip(self.queries, chosen, strict=True)
            for query, labels in zip(queries, option.labels, strict=True)
        ]
        return [labels for _, labels in sorted(found, key=lambda pair: pair[0])]

    def choice(self, labels: Sequence[Labels]) -> list[Priced]:
        """The choice that gives the queries their labels; where it would be one for several, the first one's."""
        return [
            next(option for option in mine if option.labels[0] == labels[queries[0]])
            for queries, mine in zip(self.queries, self.options, strict=True)
        ]

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


def _together(same: Sequence[Priced]) -> Priced:
    labels = tuple(labels for option in same for labels in option.labels)
    return Priced(labels, sum(option.private for option in same), same[0].common, same[0].forms)


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
    state = _Change(choices, chosen)
    leaders = state.leaders()
    changed = True
    while changed and state.looks < effort:
        changed = False
        for query in range(len(choices.options)):
            changed |= state.try_all({query: state.best_of(query, state.users)})
        for query, leader in leaders:
            if state.looks >= effort:
                break
            if leader is not state.chosen[query]:
                changed |= state.try_all(state.led(query, leader))
    return state.chosen


def bargained(choices: Choices, rounds: int) -> list[Priced]:
    """A choice in which everybody pays an equal part of what is shared and cannot do better by itself.

    In the beginning everybody is thought to share all that they could; then they choose one after another.

    Args:
        choices: All options.
        rounds: Most rounds.

    Returns:
        A choice that is valid.
    """
    costs = choices.costs
    users: Counter[int] = Counter()
    for mine in choices.options:
        users.update(dict.fromkeys({number for option in mine for number in option.common}, len(mine[0].labels)))
    chosen: list[Priced | None] = [None] * len(choices.options)
    for _ in range(rounds):
        before = list(chosen)
        for query, mine in enumerate(choices.options):
            many = len(mine[0].labels)
            old = chosen[query]
            leaving = {number for option in mine for number in option.common} if old is None else old.common
            users.subtract(dict.fromkeys(leaving, many))
            best, least = mine[0], float("inf")
            for option in mine:
                cost = option.private
                for number in option.common:
                    cost += costs[number] * many / (users[number] + many)
                if cost < least:
                    best, least = option, cost
            users.update(dict.fromkeys(best.common, many))
            chosen[query] = best
        if chosen == before:
            break
    result = [option for option in chosen if option is not None]
    while True:
        users = Counter()
        for option in result:
            users.update(dict.fromkeys(option.forms, len(option.labels)))
        few = [any(users[form] < choices.fewest for form in option.forms) for option in result]
        if not any(few):
            return result
        result = [mine[0] if bad else o for mine, o, bad in zip(choices.options, result, few, strict=True)]


class _Change:
    """A choice that is being changed."""

    def __init__(self, choices: Choices, chosen: Sequence[Priced]) -> None:
        self._choices = choices
        self.chosen = list(chosen)
        self.users: Counter[int] = Counter()
        for option in chosen:
            self.users.update(dict.fromkeys(option.common, len(option.labels)))
        self.looks = 0
        self._interested: dict[int, list[int]] = {}
        for query, mine in enumerate(choices.options):
            for number in {number for option in mine for number in option.common}:
                self._interested.setdefault(number, []).append(query)

    def leaders(self) -> list[tuple[int, Priced]]:
        """Options that others might follow, each with a query; those that most queries are interested in first."""
        found: dict[tuple[int, ...], tuple[int, Priced]] = {}
        for query, mine in enumerate(self._choices.options):
            for option in mine:
                if option.common:
                    found.setdefault(option.common, (query, option))
        interest = {number: len(queries) for number, queries in self._interested.items()}
        return sorted(found.values(), key=lambda leader: -sum(interest[number] for number in leader[1].common))

    def best_of(self, query: int, paid: Mapping[int, int]) -> Priced:
        """The best option of a query when the others have paid for what is in ``paid``, itself not counted."""
        mine, costs = self._choices.options[query], self._choices.costs
        self.looks += len(mine)
        own, many = self.chosen[query].common, len(mine[0].labels)
        free = {number for number, users in paid.items() if users - (number in own) * many > 0}
        return min(mine, key=lambda option: option.private + sum(costs[n] for n in option.common if n not in free))

    def led(self, query: int, leader: Priced) -> dict[int, Priced]:
        """What becomes of the queries when one takes an option, and those with something in common may follow."""
        costs, users = self._choices.costs, self.users
        changes = {query: leader}
        offered = set(leader.common)
        for follower in sorted({q for number in leader.common for q in self._interested[number]} - {query}):
            mine = self._choices.options[follower]
            self.looks += len(mine)
            best, least = self.chosen[follower], float("inf")
            for option in mine:
                cost = option.private
                for number in option.common:
                    if number not in offered and not users[number]:
                        cost += costs[number]
                if cost < least and all(form in offered or users[form] for form in option.forms):
                    best, least = option, cost
            if best is not self.chosen[follower]:
                changes[follower] = best
        return changes

    def try_all(self, changes: Mapping[int, Priced]) -> bool:
        """Make changes if they help together."""
        costs, users, fewest = self._choices.costs, self.users, self._choices.fewest
        delta = 0.0
        change: Counter[int] = Counter()
        for query, option in changes.items():
            old = self.chosen[query]
            delta += option.private - old.private
            change.update(dict.fromkeys(option.common, len(option.labels)))
            change.subtract(dict.fromkeys(old.common, len(old.labels)))
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
        users.update(change)
        return True


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
