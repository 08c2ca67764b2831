"""Choices of options, held against all that there are."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from sparkext.planner.plan_completion.bargaining import bargained
from sparkext.planner.plan_completion.choices import Choices
from sparkext.planner.plan_completion.improvement import improved
from sparkext.planner.plan_completion.options import Option
from sparkext.planner.plan_completion.proof import best
from sparkext.planner.problem.pricer import Bundle


def option(own: dict[object, float], of_forms: dict[object, float], forms: set[int], number: int) -> Option:
    charged = tuple((("form", form), cost) for form, cost in of_forms.items())
    return Option({0: number, 1: 0}, frozenset(forms), (Bundle(tuple(own.items()), charged, sum(own.values())),))


def drawn(random: Random, fewest: int) -> Choices:
    """Options of a few queries: what each pays by itself, and forms that others have too."""
    prices = {form: float(random.randint(1, 20)) for form in range(5)}
    options = []
    for query in range(random.randint(2, 5)):
        of_query = [option({query: float(random.randint(10, 25))}, {}, set(), 0)]
        for number in range(1, random.randint(2, 5)):
            forms = set(random.sample(sorted(prices), random.randint(1, 3)))
            own: dict[object, float] = {(query, number): float(random.randint(0, 8))}
            of_query.append(option(own, {form: prices[form] for form in forms}, forms, number))
        options.append(of_query)
    return Choices(fewest, options, [(query,) for query in range(len(options))])


@pytest.mark.parametrize("fewest", [1, 2, 3])
@pytest.mark.parametrize("seed", range(40))
def test_best_is_best(seed: int, fewest: int) -> None:
    choices = drawn(Random(seed), fewest)
    least = min(choices.cost(chosen) for chosen in product(*choices.options))
    begin = bargained(choices, 8, range(len(choices.options)))
    assert choices.cost(begin) < float("inf")
    better = improved(choices, begin, 10_000)
    assert least <= choices.cost(better) <= choices.cost(begin)
    proof = best(choices, better, 10_000)
    assert choices.cost(proof.chosen) == pytest.approx(least)
    assert proof.bound == pytest.approx(least)


@pytest.mark.parametrize("seed", range(20))
def test_bound_without_effort(seed: int) -> None:
    choices = drawn(Random(seed), 2)
    least = min(choices.cost(chosen) for chosen in product(*choices.options))
    proof = best(choices, [of_query[0] for of_query in choices.options], 0)
    assert proof.bound <= least * (1 + 1e-9)


def test_all_change_together() -> None:
    """No query gains by itself from what only pays for all three."""
    options = [
        [option({query: 10.0}, {}, set(), 0), option({(query, 1): 1.0}, {0: 20.0}, {0}, 1)] for query in range(3)
    ]
    choices = Choices(2, options, [(0,), (1,), (2,)])
    alone = [of_query[0] for of_query in choices.options]
    assert choices.cost(alone) == 30
    better = improved(choices, alone, 1000)
    assert choices.cost(better) == 23
    assert [labels[0] for labels in choices.labels(better)] == [1, 1, 1]


def test_forms_have_enough_users() -> None:
    """One query cannot have a form by itself where a Q-set has two."""
    options = [
        [option({0: 10.0}, {}, set(), 0), option({}, {0: 1.0}, {0}, 1)],
        [option({1: 10.0}, {}, set(), 0), option({(1, 1): 90.0}, {0: 1.0}, {0}, 1)],
    ]
    choices = Choices(2, options, [(0,), (1,)])
    assert choices.cost([choices.options[0][1], choices.options[1][0]]) == float("inf")
    assert choices.cost(best(choices, bargained(choices, 8, (0, 1)), 1000).chosen) == 20


def test_several_pay_by_themselves_but_for_forms() -> None:
    options = [[option({0: 10.0}, {}, set(), 0), option({(0, 1): 2.0}, {0: 7.0}, {0}, 1)]]
    choices = Choices(2, options, [(0, 1, 2)])
    assert [choices.cost([only]) for only in choices.options[0]] == [30, 13]
