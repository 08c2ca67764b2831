"""Choices: one option for each query, so that all that is to be paid for is least.

What several queries pay for together is paid once. This is what is left of the workload once the options of
its queries are known: no rule of the graph, and no cost model, is needed to look for the best choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sparkext.planner.budget import Budget
from sparkext.planner.disjoint_sets import put_together
from sparkext.planner.plan_completion.options import Option
from sparkext.planner.problem.labels import Labels
from sparkext.planner.problem.pricer import Bundle


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
        budget: How long may be looked for the best choice.
    """

    def __init__(
        self,
        fewest: int,
        options: Sequence[Sequence[Option]],
        queries: Sequence[Sequence[int]],
        budget: Budget | None = None,
    ) -> None:
        """Take in the options.

        Args:
            fewest: Fewest queries that may use a form.
            options: Per what is chosen for.
            queries: For which queries that is; each of several pays for all but forms by itself.
            budget: For looking; as long as it takes if left out.
        """
        self.fewest = fewest
        self.budget = budget or Budget()
        self.queries = queries
        payers: Counter[object] = Counter()
        users: Counter[int] = Counter()
        for own_options, many in zip(options, map(len, queries), strict=True):
            bundles = {bundle for option in own_options for bundle in option.bundles}
            payers.update({key for bundle in bundles for key, _ in (*bundle.own, *bundle.of_forms)})
            users.update(dict.fromkeys({form for option in own_options for form in option.forms}, many))
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
        for own_options, together in zip(options, queries, strict=True):
            split: dict[Bundle, tuple[float, list[int]]] = {}
            priced: list[Priced] = []
            for option in own_options:
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
        self.numbers = [
            list(dict.fromkeys(n for option in own_options for n in option.common)) for own_options in self.options
        ]

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
        labels_of = {
            query: option.labels for queries, option in zip(self.queries, chosen, strict=True) for query in queries
        }
        return [labels_of[query] for query in sorted(labels_of)]

    def choice(self, labels: Sequence[Labels]) -> list[Priced]:
        """The choice that gives the queries their labels; where it would be one for several, the first one's."""
        return [
            next(
                o for o in own_options if all(labels[queries[0]][number] == label for number, label in o.labels.items())
            )
            for queries, own_options in zip(self.queries, self.options, strict=True)
        ]

    def groups(self) -> Iterator[list[int]]:
        """Queries that have something in common, directly or through others."""
        users: dict[int, set[int]] = {}
        for query, numbers in enumerate(self.numbers):
            for number in numbers:
                users.setdefault(number, set()).add(query)
        yield from put_together(len(self.options), [sorted(queries) for queries in users.values()])


def least_of(options: Sequence[Priced], costs: Sequence[float]) -> Priced:
    """The first of the options that cost least when what may be common costs this, by number."""
    cost_of = costs.__getitem__
    values = [option.private + sum(map(cost_of, option.common)) for option in options]
    return options[values.index(min(values))]
