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
        labels: Where others might share.
        users: Number of the queries.
        private: Cost of what nobody else pays for, of all these queries.
        common: Numbers of what others may pay for too.
        forms: Which of them stand for forms, and need a fewest number of payers.
    """

    labels: Labels
    users: int
    private: float
    common: tuple[int, ...]
    forms: tuple[int, ...]


class Choices:
    """Options of all queries.

    Attributes:
        fewest: Fewest queries that may use a form.
        queries: What is chosen for: single queries, or several for which the same is chosen.
        options: For each of these its options; the first shares nothing.
        numbers: For each of these all that its options have in common with others.
        costs: Per common number, its cost.
    """

    def __init__(self, fewest: int, options: Sequence[Sequence[Option]], queries: Sequence[Sequence[int]]) -> None:
        """Take in the options.

        Args:
            fewest: Fewest queries that may use a form.
            options: Per what is chosen for.
            queries: For which queries that is; each of several pays for all but forms by itself.
        """
        self.fewest = fewest
        self.queries = queries
        payers: Counter[object] = Counter()
        users: Counter[int] = Counter()
        for mine, many in zip(options, map(len, queries), strict=True):
            bundles = {bundle for option in mine for bundle in option.bundles}
            payers.update({key for bundle in bundles for key, _ in (*bundle.own, *bundle.of_forms)})
            users.update(dict.fromkeys({form for option in mine for form in option.forms}, many))
        numbers: dict[object, int] = {}
        self.costs: list[float] = []

        def number(key: object, cost: float) -> int:
            if key not in numbers:
                numbers[key] = len(numbers)
                self.costs.append(cost)
            return numbers[key]

        def parted(bundle: Bundle, many: int) -> tuple[float, list[int]]:
            """What nobody else pays for, and what others may pay for too."""
            private = many * sum([cost for key, cost in bundle.own if payers[key] == 1])
            private += sum([cost for key, cost in bundle.of_forms if payers[key] == 1])
            common = [number(key, cost) for key, cost in (*bundle.own, *bundle.of_forms) if payers[key] > 1]
            return private, common

        self.options: list[list[Priced]] = []
        for mine, together in zip(options, queries, strict=True):
            split: dict[Bundle, tuple[float, list[int]]] = {}
            priced: list[Priced] = []
            for option in mine:
                if fewest > 1 and any(users[form] < fewest for form in option.forms):
                    continue
                forms = tuple([number(form, 0.0) for form in sorted(option.forms)]) if fewest > 1 else ()
                private, common = 0.0, list(forms)
                for bundle in option.bundles:
                    if bundle not in split:
                        split[bundle] = parted(bundle, len(together))
                    cost, shared = split[bundle]
                    private += cost
                    common += shared
                priced.append(Priced(option.labels, len(together), private, tuple(common), forms))
            self.options.append(priced)
        self.numbers = [list(dict.fromkeys(n for option in mine for n in option.common)) for mine in self.options]

    def cost(self, chosen: Sequence[Priced]) -> float:
        """Of one option for each; infinite when a form has too few users."""
        used: Counter[int] = Counter()
        for option in chosen:
            for form in option.forms:
                used[form] += option.users
        if any(users < self.fewest for users in used.values()):
            return float("inf")
        common = {number for option in chosen for number in option.common}
        return sum(option.private for option in chosen) + sum(self.costs[number] for number in common)

    def labels(self, chosen: Sequence[Priced]) -> list[Labels]:
        """Per query the labels that a choice gives it, where others might share."""
        found = {
            query: option.labels for queries, option in zip(self.queries, chosen, strict=True) for query in queries
        }
        return [found[query] for query in sorted(found)]

    def choice(self, labels: Sequence[Labels]) -> list[Priced]:
        """The choice that gives the queries their labels; where it would be one for several, the first one's."""
        return [
            next(o for o in mine if all(labels[queries[0]][number] == label for number, label in o.labels.items()))
            for queries, mine in zip(self.queries, self.options, strict=True)
        ]

    def groups(self) -> Iterator[list[int]]:
        """Queries that have something in common, directly or through others."""
        users: dict[int, set[int]] = {}
        for query, numbers in enumerate(self.numbers):
            for number in numbers:
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


def least_of(options: Sequence[Priced], costs: Sequence[float]) -> Priced:
    """The first of the options that cost least when what may be common costs this, by number."""
    cost_of = costs.__getitem__
    values = [option.private + sum(map(cost_of, option.common)) for option in options]
    return options[values.index(min(values))]


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
            changed |= state.try_all({query: state.best_of(query)})
        for query, leader in leaders:
            if state.looks >= effort:
                break
            if leader is not state.chosen[query]:
                changed |= state.try_all(state.led(query, leader))
    return state.chosen


def bargained(choices: Choices, rounds: int, order: Sequence[int]) -> list[Priced]:
    """A choice in which everybody pays an equal part of what is shared and cannot do better by itself.

    In the beginning everybody is thought to share all that they could; then they choose one after another.

    Args:
        choices: All options.
        rounds: Most rounds.
        order: In which they choose.

    Returns:
        A choice that is valid.
    """
    costs = choices.costs
    part = [0.0] * len(costs)
    users = [0] * len(costs)
    for mine, numbers in zip(choices.options, choices.numbers, strict=True):
        for number in numbers:
            users[number] += mine[0].users
    chosen: list[Priced | None] = [None] * len(choices.options)
    for _ in range(rounds):
        before = list(chosen)
        for query in order:
            mine, numbers = choices.options[query], choices.numbers[query]
            many = mine[0].users
            old = chosen[query]
            for number in numbers if old is None else old.common:
                users[number] -= many
            for number in numbers:
                part[number] = costs[number] * many / (users[number] + many)
            best = least_of(mine, part)
            for number in best.common:
                users[number] += many
            chosen[query] = best
        if chosen == before:
            break
    result = [option for option in chosen if option is not None]
    while True:
        payers: Counter[int] = Counter()
        for option in result:
            payers.update(dict.fromkeys(option.forms, option.users))
        few = [any(payers[form] < choices.fewest for form in option.forms) for option in result]
        if not any(few):
            return result
        result = [mine[0] if bad else o for mine, o, bad in zip(choices.options, result, few, strict=True)]


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
        found: dict[tuple[int, ...], tuple[int, Priced]] = {}
        for query, mine in enumerate(self._choices.options):
            for option in mine:
                if option.common:
                    found.setdefault(option.common, (query, option))
        interest = {number: len(queries) for number, queries in self._interested.items()}
        return sorted(found.values(), key=lambda leader: -sum(interest[number] for number in leader[1].common))

    def best_of(self, query: int) -> Priced:
        """The best option of a query given what others pay for."""
        mine, costs, due = self._choices.options[query], self._choices.costs, self._due
        self.looks += len(mine)
        own, many = self.chosen[query].common, mine[0].users
        alone = [number for number in own if self.users[number] == many]
        for number in alone:
            due[number] = costs[number]
        best = least_of(mine, due)
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
            mine, own = self._choices.options[follower], self.chosen[follower]
            self.looks += len(mine)
            # What it pays for already is not worth leaving for something that costs as much.
            best, least = own, own.private + sum(map(cost_of, own.common))
            for option in mine:
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
