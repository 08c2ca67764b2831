"""Options: the valid labels of one query, with what each costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from sparkext.planner.problem.burst_labels import is_burst
from sparkext.planner.problem.labels import ALONE, Labelling, Labels, forms
from sparkext.planner.problem.pricer import Bundle, Pricer, spot
from sparkext.planner.problem.problem import Problem

MAX_TRIES = 20_000
"""Most labels that are tried for the transitions of a query."""

MAX_LABELS = 1_000_000
"""Most labels of transitions that are looked at for a query by `some_labels`; they take some fifty megabytes."""

OPTIONS_PART = 0.7
"""Part of the budget after which no options are added, so that some is left for choosing among them."""


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """A way to label one query.

    Attributes:
        labels: Of what others might share.
        forms: Numbers of the forms that the query then has in common with others.
        bundles: All that it then has to pay for, with others or by itself.
    """

    labels: Labels
    forms: frozenset[int]
    bundles: tuple[Bundle, ...]

    @property
    def own(self) -> float:
        """What it costs if the forms in it cost nothing."""
        return sum([bundle.own_cost for bundle in self.bundles])


@dataclass(frozen=True, slots=True)
class Core:
    """What of a query others might share. Queries with equal cores have the same valid labels there.

    Attributes:
        transitions: That the query may share, by number.
        states: At their ends, each with what matters of the rest of the query: whether it comes there,
            leaves there, ends or starts by itself, and whether its forms may be passed on.
        bursts: Of the loops in which all transitions may be shared, the transitions and their labels.
    """

    transitions: tuple[int, ...]
    states: tuple[tuple[int, bool, bool, bool, bool, bool], ...]
    bursts: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()


def core(problem: Problem, fewest: int, query: int) -> Core:
    """The core of a query, when a Q-set has at least ``fewest`` queries."""
    shareable = tuple(number for number in problem.transitions_of[query] if can_share(problem, fewest, query, number))
    inner = frozenset(shareable)
    links = [problem.transitions[number] for number in shareable]
    return Core(
        shareable,
        tuple(
            (
                state,
                any(number not in inner for number in problem.arrivals[query][state]),
                any(number not in inner for number in problem.departures[query][state]),
                state in problem.ends[query],
                state in problem.starts[query],
                state in problem.passing[query],
            )
            for state in dict.fromkeys(state for link in links for state in (link.source, link.target))
        ),
        tuple(
            (loop.inside, tuple(problem.bursts.labels(loop)))
            for loop in problem.loops[query]
            if inner.issuperset(loop.inside)
        ),
    )


def options(
    problem: Problem,
    pricer: Pricer,
    query: int,
    own_core: Core,
    candidates: Iterable[tuple[Labelling, Mapping[int, int]]],
    given: Labelling,
) -> list[Option]:
    """The options of a query; when their part of the budget is spent, only those in which nothing or what is given is
    shared.

    Args:
        problem: The problem.
        pricer: Of its cost model.
        query: The query.
        own_core: Its core.
        candidates: Labels of the core, each with the forms that they give; the first share nothing.
        given: Those of the candidates that the query has in the plan to begin with.
    """
    alone: Labelling = dict.fromkeys(problem.transitions_of[query], ALONE)
    around = {state for state, *_ in own_core.states}
    rest = [
        pricer.at(query, (state, pricer.behind(query, state, alone, {})), alone, {})
        for state in problem.arrivals[query]
        if state not in around
    ]
    inner = set(own_core.transitions)
    spots = [
        (
            state,
            [number for number in problem.arrivals[query][state] if number in inner],
            [number for number in problem.departures[query][state] if number in inner],
        )
        for state in sorted(around)
    ]
    ends = {number: (problem.transitions[number].source, problem.transitions[number].target) for number in inner}
    priced: list[Option] = []
    # Where nothing is shared, all is as in the first option, but for totals that are equal as long as it is.
    nothing: dict[int, Bundle] = {}
    for some, form_of in candidates:
        if form_of and some != given and problem.budget.is_spent(OPTIONS_PART):
            continue
        labels = {**alone, **some}
        touched = {state for number in form_of for state in ends[number]}
        bundles: list[Bundle] = []
        for state, arriving, leaving in spots:
            behind = pricer.behind(query, state, labels, form_of)
            bundle = nothing.get(state) if state not in touched and not behind else None
            if bundle is None:
                bundle = pricer.at(query, spot(state, arriving, leaving, labels, form_of, behind), labels, form_of)
            if not form_of:
                nothing[state] = bundle
            bundles.append(bundle)
        priced.append(Option(some, frozenset(form_of.values()), (*rest, *bundles)))
    return priced


class TooManyLabelsError(Exception):
    """A query has too many labels to try them all."""


def all_labels(
    problem: Problem, fewest: int, query: int, tries: int = MAX_TRIES
) -> Iterator[tuple[Labelling, Mapping[int, int]]]:
    """All valid labels of a query, with its forms, but for Q-sets that cannot have ``fewest`` queries.

    Raises:
        TooManyLabelsError: It would take more than ``tries`` to find them, or more than is left of the budget.
    """
    tried = 0
    numbers = problem.transitions_of[query]
    transitions, passing = problem.transitions, problem.passing[query]
    arrivals, departures = problem.arrivals[query], problem.departures[query]
    sharable = {number for number in numbers if can_share(problem, fewest, query, number)}
    labels: Labelling = {}
    bursts: dict[int, list[int]] = {
        number: problem.bursts.labels(loop)
        for loop in problem.loops[query]
        if sharable.issuperset(loop.inside)
        for number in loop.inside
    }
    if bursts and not problem.bursts.are_all:
        raise TooManyLabelsError

    def choices(number: int) -> list[int | None]:
        if number not in sharable:
            return [ALONE]
        source = transitions[number].source
        snapshots: list[int | None] = [ALONE, source]
        around = bursts.get(number, [])
        if around:
            loop = problem.loop_of[query][number]
            chosen = {labels[sibling] for sibling in loop.inside if sibling in labels}
            if any(map(is_burst, chosen)):
                return list(chosen)
            if not chosen and all(labels.get(sibling) is ALONE for sibling in loop.entering):
                snapshots += around
        if source in passing:
            arriving = {labels[before] for before in arrivals[source] if before in labels}
            if len(arriving) == 1:
                snapshots += [
                    snapshot for snapshot in arriving if snapshot not in (ALONE, source) and not is_burst(snapshot)
                ]
            elif not arriving and arrivals[source]:
                # Only what comes round a cycle gets here.
                snapshots += [state for state in arrivals if state != source]
        return snapshots

    def fits(number: int) -> bool:
        """Whether nothing that is passed on from the target was taken to come in another way."""
        nonlocal tried
        tried += 1
        if tried > tries or problem.budget.is_spent(OPTIONS_PART):
            raise TooManyLabelsError
        target, label = transitions[number].target, labels[number]
        passed_on = (labels.get(after, ALONE) for after in departures[target])
        return all(snapshot in (ALONE, target, label) for snapshot in passed_on)

    for _ in _labelled(numbers, labels, choices, fits):
        form_of = forms(problem, query, labels)
        if form_of is not None:
            yield dict(labels), form_of


def _labelled(
    numbers: Sequence[int],
    labels: Labelling,
    choices: Callable[[int], Iterable[int | None]],
    fits: Callable[[int], bool],
) -> Iterator[None]:
    """Label transitions in all ways: one after another, and back where nothing is left to try.

    Args:
        numbers: Of the transitions.
        labels: To be filled in; complete whenever this yields.
        choices: What a transition may have, given the labels of those before.
        fits: Whether the label that a transition has been given may stay.
    """
    left: list[Iterator[int | None]] = []
    while True:
        if len(left) < len(numbers):
            left.append(iter(choices(numbers[len(left)])))
        else:
            yield
        while left:
            number = numbers[len(left) - 1]
            labels.pop(number, None)
            for labels[number] in left[-1]:
                if fits(number):
                    break
                del labels[number]
            else:
                left.pop()
                continue
            break
        else:
            return


def some_labels(
    problem: Problem, fewest: int, query: int, most: int = MAX_TRIES
) -> list[tuple[Labelling, Mapping[int, int]]]:
    """The simplest labels of a query, with its forms: snapshots at a state, from where forms go on as far as they can.

    Forms stop where they cannot be passed on, or at one state more, behind which the query goes alone. As long as
    these are less than ``most`` there are others, with snapshots at two states. Of too many, those that share
    most are kept. Up to half are those of loops that are shared by bursts.
    """
    transitions = problem.transitions
    steps = [(n, transitions[n].source, can_share(problem, fewest, query, n)) for n in problem.transitions_of[query]]
    sources = list(dict.fromkeys(source for _, source, may in steps if may))
    carriers = list(_carriers(problem, query, {number for number, _, may in steps if may}, sources))
    seen: set[tuple[int | None, ...]] = set()

    def one_state() -> Iterator[Labelling]:
        for source in sources:
            far = _spread(carriers, {source: source})
            yield far
            yield from (_spread(carriers, {source: source, stop: ALONE}) for stop in far if stop != source)

    def two_states() -> Iterator[Labelling]:
        yield from (_spread(carriers, {first: first, second: second}) for first, second in combinations(sources, 2))

    def new(ways: Iterable[Labelling], most: int) -> list[tuple[Labelling, Mapping[int, int]]]:
        simplest: list[tuple[Labelling, Mapping[int, int]]] = []
        for out in islice(ways, MAX_LABELS // max(1, len(steps))):
            if problem.budget.is_spent(OPTIONS_PART):
                break
            shown = tuple(map(out.get, sources))
            if shown not in seen:
                seen.add(shown)
                labels = {number: out.get(source) if may else ALONE for number, source, may in steps}
                form_of = forms(problem, query, labels)
                if form_of is not None:
                    simplest.append((labels, form_of))
        if len(simplest) > most:
            simplest.sort(key=lambda way: -len(way[1]))
        return simplest[:most]

    bursts = list(islice(_burst_labels(problem, fewest, query), most // 2))
    most -= len(bursts)
    simple = new(one_state(), most)
    if len(simple) < most:
        simple += new(two_states(), most - len(simple))
    if not bursts or len(simple) == most:
        return bursts + simple
    both = (
        _with_loops(problem, query, simple_labels, burst_labels)
        for simple_labels, _ in simple
        for burst_labels, _ in bursts
    )
    distinct = {tuple(labels[number] for number in problem.transitions_of[query]): labels for labels in both}
    for burst_labels, _ in bursts:
        distinct.pop(tuple(burst_labels[number] for number in problem.transitions_of[query]), None)
    valid = (
        (labels, form_of) for labels in distinct.values() if (form_of := forms(problem, query, labels)) is not None
    )
    return bursts + simple + list(islice(valid, most - len(simple)))


def _burst_labels(problem: Problem, fewest: int, query: int) -> Iterator[tuple[Labelling, Mapping[int, int]]]:
    """Labels of a query that shares by bursts alone: all its loops, or one, beginning with those ended most often."""
    shareable = [
        loop for loop in problem.loops[query] if all(can_share(problem, fewest, query, n) for n in loop.inside)
    ]
    every = [dict.fromkeys(loop.inside, label) for loop in shareable for label in reversed(problem.bursts.labels(loop))]
    if len(shareable) > 1:
        every.insert(0, {n: problem.bursts.labels(loop)[-1] for loop in shareable for n in loop.inside})
    for some in every:
        labels: Labelling = {**dict.fromkeys(problem.transitions_of[query], ALONE), **some}
        form_of = forms(problem, query, labels)
        if form_of is not None:
            yield labels, form_of


def _with_loops(problem: Problem, query: int, labels: Labels, by_bursts: Labels) -> Labelling:
    """Labels with those of loops that are shared by bursts: values go to them, and from them."""
    combined = dict(labels)
    for loop in problem.loops[query]:
        if is_burst(by_bursts[loop.inside[0]]):
            for state in loop.states:
                combined.update({n: ALONE for n in problem.departures[query][state] if combined[n] != state})
            combined.update(dict.fromkeys(loop.entering, ALONE))
            combined.update({number: by_bursts[number] for number in loop.inside})
    return combined


def can_share(problem: Problem, fewest: int, query: int, number: int) -> bool:
    """Whether a query may be in some Q-set of a transition."""
    return query in problem.plain[number] and len(problem.plain[number]) >= fewest


def _carriers(
    problem: Problem, query: int, sharable: set[int], sources: Iterable[int]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """States that may pass on forms, those before first but in cycles, each with the states these come from."""
    for state in sources:
        arriving = problem.arrivals[query][state]
        if state in problem.passing[query] and arriving and sharable.issuperset(arriving):
            yield state, tuple(problem.transitions[number].source for number in arriving)


def _spread(carriers: Iterable[tuple[int, tuple[int, ...]]], given: Labelling) -> Labelling:
    """Per state the label of what leaves it: as given, or passed on wherever all that arrives is over the same.

    A state on a cycle is taken to pass on what comes from outside it, until something else is found.
    """
    out = dict(given)
    guessed = [(state, before) for state, before in carriers if state not in given]
    unknown = {state for state, _ in guessed}
    around = False
    changed = True
    while changed and unknown:
        changed = False
        for state, before in guessed:
            if state not in unknown:
                continue
            coming = {out.get(arriving) for arriving in before if arriving not in unknown}
            if coming:
                around |= not unknown.isdisjoint(before)
                out[state] = coming.pop() if len(coming) == 1 else ALONE
                unknown.discard(state)
                changed = True
    if not around:
        return out
    changed = True
    while changed:
        changed = False
        for state, before in guessed:
            label = out.get(state)
            if label is not ALONE and any(out.get(arriving) != label for arriving in before):
                out[state] = ALONE
                changed = True
    return out
