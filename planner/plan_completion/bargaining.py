"""Bargaining: everybody pays an equal part of what is shared, and chooses what is best then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sparkext.planner.plan_completion.choices import Choices, Priced, least_of


def bargained(choices: Choices, rounds: int, order: Sequence[int]) -> list[Priced]:
    """A choice in which everybody pays an equal part of what is shared and cannot do better by itself.

    In the beginning everybody is thought to share all that they could; then they choose one after another. All do so
    once, whatever is left of the budget.

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
    for own_options, numbers in zip(choices.options, choices.numbers, strict=True):
        for number in numbers:
            users[number] += own_options[0].users
    chosen: list[Priced | None] = [None] * len(choices.options)
    for finished in range(rounds):
        if finished and choices.budget.is_spent():
            break
        before = list(chosen)
        for query in order:
            own_options, numbers = choices.options[query], choices.numbers[query]
            many = own_options[0].users
            old = chosen[query]
            for number in numbers if old is None else old.common:
                users[number] -= many
            for number in numbers:
                part[number] = costs[number] * many / (users[number] + many)
            best = least_of(own_options, part)
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
        result = [
            own_options[0] if bad else o for own_options, o, bad in zip(choices.options, result, few, strict=True)
        ]
