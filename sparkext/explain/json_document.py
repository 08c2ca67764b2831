"""``EXPLAIN SHARING JSON``: the workload's plans for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sparkext.explain.bursts import burst_json
from sparkext.explain.comparison import comparison_json
from sparkext.explain.report import PassReport, PoolReport, duration, report, source_of_pool
from sparkext.planner.optimizers import NOTHING, QUICK
from sparkext.planner.problem.plan_cost import PartCosts, part_costs
from sparkext.planner.sharing.sharing_plan import QSet, TransitionPlan, snapshot_name
from sparkext.workload.trend_query import TrendQuery

_NO_GRAPH: dict[str, Any] = {"nodes": 0, "edges": 0, "pruned_nodes": 0, "pruned_edges": 0, "trace": []}
"""Of plans that are not searched for in a graph."""


def compare_json(queries: Sequence[TrendQuery], only: str | None = None) -> str:
    """The document of `explain_json`, in which each pass has what all optimizers make of it as well.

    Raises:
        PlanningError: ``TREND_UNKNOWN_QUERY`` when ``only`` is no query.
    """
    return explain_json(queries, only, compares=True)


def explain_json(queries: Sequence[TrendQuery], only: str | None = None, compares: bool = False) -> str:
    """One document with a key ``pools``: an entry for each pass over the source of a pool.

    Costs are in nanoseconds, or in touches with the cost model ``paper``, per group and window.

    Raises:
        PlanningError: ``TREND_UNKNOWN_QUERY`` when ``only`` is no query.
    """
    entries: list[dict[str, Any]] = []
    for pool in report(queries, only):
        for number, one in enumerate(pool.passes, 1):
            compared = {"compared": comparison_json(one)} if compares else {}
            entries.append(_pass(pool, one, number) | compared)
        if not pool.passes:
            broken = [_query(query, None) for query in pool.queries]
            entries.append(_head(pool, pool.name) | {"state": "broken", "queries": broken})
    return json.dumps({"pools": entries}, indent=2, ensure_ascii=False)


def _head(pool: PoolReport, name: str) -> dict[str, Any]:
    first = pool.queries[0].bound
    return {
        "name": name,
        "source": source_of_pool(pool.queries),
        "group_by": [key.canonical for key in first.groups],
        "other_keys": [key.canonical for key in first.partitions],
        "order_by": first.time_canonical,
    }


def _pass(pool: PoolReport, one: PassReport, number: int) -> dict[str, Any]:
    run, optimized = one.run, one.run.optimized
    found, states = optimized.found, run.template.states
    served = [query for query in pool.queries if query.run is run]
    costs = part_costs(replace(optimized.problem), optimized.model, found.plan)
    document = _head(pool, pool.name if len(pool.passes) == 1 else f"{pool.name}, pass {number}")
    document |= {
        "state": "computed" if run.is_computed() else "planned",
        "results_kept": run.persisted,
        "optimizer": optimized.optimizer,
        "queries": [
            _query(query, index) | _applicable(one, index)
            for query, index in ((query, run.index_of(query.bound)) for query in served)
        ],
        "partners": [{"number": partner + 1, "names": list(one.names[partner])} for partner in one.partners()],
        "statistics": {
            str(event): {"events": expected.events, "origin": expected.origin}
            | ({} if (counted := one.counted(event)) is None else {"counted": counted})
            for event, expected in run.expected.items()
            if event in {states[state].event for state in one.states()}
        },
        "template": [
            {
                "state": str(states[state]),
                "event": str(states[state].event),
                "starts": _names(one, run.template.starts[state]),
                "ends": _names(one, run.template.ends[state]),
                "start_numbers": _numbers(one, run.template.starts[state]),
                "end_numbers": _numbers(one, run.template.ends[state]),
                "cost": costs.states[state],
            }
            for state in one.states()
        ],
        "transitions": [
            {
                "from": str(states[transition.source]),
                "to": str(states[transition.target]),
                "qsets": [_qset(one, transition, qset, costs) for qset in transition.qsets],
            }
            for transition in one.transitions()
        ],
        **burst_json(one),
        "conditions_on_the_event_before": [
            {"condition": condition, "found_by": found} for condition, found in one.comparisons()
        ],
        **_looking_back(one),
        "cost": {
            "model": optimized.model.name,
            "chosen": found.cost,
            "none": run.cost_by(NOTHING),
            "greedy": run.cost_by(QUICK),
            "published_rules": found.published,
            "bound": found.bound,
        },
        "graph": _NO_GRAPH,
        **one.search().document,
        "budget_used_up": optimized.is_cut_short,
        "optimization_ms": round(1000 * optimized.seconds, 3),
        "running_totals": len(run.plan.cells),
        "events_by_fallback": run.counted.by_fallback(),
        **({"events_interpreted": slow} if (slow := run.counted.interpreted()) else {}),
    }
    return document


def _looking_back(one: PassReport) -> dict[str, Any]:
    """The conditions on earlier events, if there are any."""
    found = [{"condition": condition, "found_by": found} for condition, found in one.looking_back()]
    return {"conditions_on_earlier_events": found} if found else {}


def _query(query: TrendQuery, index: int | None) -> dict[str, Any]:
    bound = query.bound
    window = bound.query.window
    within, slide = (None, None) if window is None else (window.within, window.slide)
    return {
        "number": None if index is None else index + 1,
        "name": bound.query.name,
        "pattern": str(bound.query.pattern),
        "selection": bound.query.selection.value,
        "measures": [measure.name for measure in bound.measures],
        "aggregates": [str(aggregate) for aggregate in bound.query.aggregates],
        "within": None if within is None else duration(within, bound.time_kind),
        "slide": None if slide is None else duration(slide, bound.time_kind),
        **({} if bound.query.span is None else {"span": duration(bound.query.span, bound.time_kind)}),
        "sql": query.use.sql,
    }


def _applicable(one: PassReport, query: int | None) -> dict[str, Any]:
    """Whether a query was planned, and if not why; nothing for optimizers that plan all."""
    if one.run.optimized.found.not_planned is None or query is None:
        return {}
    reason = one.not_planned().get(query)
    return {"applicable": reason is None, "reason": None if reason is None else reason.name}


def _names(one: PassReport, queries: Sequence[int]) -> list[str]:
    return [name for query in queries for name in one.names[query]]


def _numbers(one: PassReport, queries: Sequence[int]) -> list[int]:
    wanted = {*one.shown, *one.partners()}
    return [query + 1 for query in queries if query in wanted]


def _qset(one: PassReport, transition: TransitionPlan, qset: QSet, costs: PartCosts) -> dict[str, Any]:
    return {
        "queries": _names(one, qset.queries),
        "numbers": [query + 1 for query in qset.queries],
        "snapshot": snapshot_name(one.run.template, qset),
        "while": one.guarded(transition, qset),
        "cost": costs.qsets[transition.source, transition.target, qset],
    }
