"""What automata are held against: words that a pattern matches, and runs of an automaton, counted one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

from hypothesis import strategies as st

from sparkext.planner.automata.automaton import Automaton, AutomatonTooLargeError
from sparkext.planner.automata.guards import TooManyGuardsError
from sparkext.planner.automata.unambiguous import automaton_of
from sparkext.planner.patterns.pattern import Alternation, Node, Not, Pattern, Repeat, Shuffle, Variable, negations
from sparkext.planner.patterns.pattern import Sequence as Parts
from sparkext.planner.patterns.pattern_grammar import lexemes, parse_pattern
from tests.support.enumerator import Forbidden, whole
from tests.support.workloads import random_pattern

LETTERS = ("A", "B", "C")

NUMBERS = tuple(map(str, range(20)))
"""Names of guards: their numbers."""

Gaps = Sequence[frozenset[int]]
"""Guards that are intact before each event of a word, and after the last."""


def parse(text: str) -> Pattern:
    """The pattern that ``text`` spells."""
    return parse_pattern(lexemes(text, 0), 0, len(text))


def patterns(depth: int, negate: bool = False) -> st.SearchStrategy[Pattern]:
    """Random patterns of at most ``depth`` nested operators whose automata are small."""
    randoms = st.randoms(use_true_random=False)
    drawn = st.builds(
        lambda random, depth: random_pattern(random, LETTERS, depth, negate), randoms, st.integers(0, depth)
    )
    return drawn.filter(_is_small)


def _is_small(pattern: Pattern) -> bool:
    try:
        return len(automaton_of(pattern).labels) <= 25
    except (AutomatonTooLargeError, TooManyGuardsError):
        return False


def all_words(longest: int) -> list[str]:
    """All words over `LETTERS` that are not empty."""
    return ["".join(word) for length in range(1, longest + 1) for word in product(LETTERS, repeat=length)]


def some_words(random: Random) -> list[str]:
    """All short words, and some that are longer."""
    return [*all_words(3), *("".join(random.choices(LETTERS, k=random.randint(4, 6))) for _ in range(15))]


def language(node: Node, longest: int) -> set[str]:
    """The words of at most so many letters that match when nothing forbidden happens; maybe the empty word."""
    match node:
        case Variable(name):
            return {name}
        case Not():
            return {""}
        case Parts(parts):
            return _joined([language(part, longest) for part in parts], longest)
        case Alternation(parts):
            return {word for part in parts for word in language(part, longest)}
        case Shuffle(parts):
            words = {""}
            for part in parts:
                words = {
                    word
                    for prefix in words
                    for suffix in language(part, longest)
                    if len(prefix + suffix) <= longest
                    for word in interleavings(prefix, suffix)
                }
            return words
        case Repeat(operand, least, most):
            once = language(operand, longest)
            rounds = _joined([once] * least, longest)
            # More rounds than letters add nothing.
            for _ in range(longest if most is None else most - least):
                rounds |= _joined([rounds, once], longest)
            return rounds


def _joined(parts: list[set[str]], longest: int) -> set[str]:
    words = {""}
    for part in parts:
        words = {prefix + suffix for prefix in words for suffix in part if len(prefix + suffix) <= longest}
    return words


def interleavings(left: str, right: str) -> Iterator[str]:
    """The ways to mix two words."""
    if not left or not right:
        yield left + right
        return
    yield from (left[0] + rest for rest in interleavings(left[1:], right))
    yield from (right[0] + rest for rest in interleavings(left, right[1:]))


def runs(automaton: Automaton, word: str, gaps: Gaps | None = None) -> int:
    """The number of runs that accept ``word``.

    Args:
        automaton: The automaton.
        word: Not empty.
        gaps: What is intact; by default everything is.
    """
    everything = frozenset(range(100))
    intact = gaps or [everything] * (len(word) + 1)
    at = {
        state: 1
        for state, condition in automaton.starts.items()
        if automaton.labels[state] == word[0] and condition.holds(intact[0])
    }
    for name, now in zip(word[1:], intact[1:], strict=False):
        after: dict[int, int] = {}
        for state, number in at.items():
            for target, condition in automaton.follows[state].items():
                if automaton.labels[target] == name and condition.holds(now):
                    after[target] = after.get(target, 0) + number
        at = after
    return sum(n for state, n in at.items() if state in automaton.ends and automaton.ends[state].holds(intact[-1]))


def matches(pattern: Pattern, word: str, gaps: Gaps) -> bool:
    """Whether ``word`` matches, as the enumerator reads patterns, when these guards are intact."""
    numbers = {negated: number for number, negated in enumerate(negations(pattern))}

    def allowed(forbidden: Forbidden, intact: frozenset[int]) -> bool:
        return all(numbers[negated] in intact for negated in forbidden)

    left = whole(pattern)
    for name, intact in zip(word, gaps, strict=False):
        ways = left.after().get(name, set())
        left = left.among(rest for forbidden, rest in ways if allowed(forbidden, intact))
    return any(allowed(forbidden, gaps[-1]) for forbidden in left.ends)


def random_gaps(random: Random, pattern: Pattern, word: str) -> Gaps:
    """What is intact at each step of ``word``, at random."""
    guards = range(len(negations(pattern)))
    return [frozenset(guard for guard in guards if random.random() < 0.6) for _ in range(len(word) + 1)]


def shown(automaton: Automaton) -> list[str]:
    """The automaton in words: a line per start, step and end, states as label and number."""
    name = [f"{label}{state}" for state, label in enumerate(automaton.labels)]
    lines = [f"-> {name[state]}: {condition.text(NUMBERS)}" for state, condition in automaton.starts.items()]
    lines += [
        f"{name[state]} -> {name[target]}: {condition.text(NUMBERS)}"
        for state, after in enumerate(automaton.follows)
        for target, condition in after.items()
    ]
    lines += [f"{name[state]} ->: {condition.text(NUMBERS)}" for state, condition in automaton.ends.items()]
    return sorted(lines)
