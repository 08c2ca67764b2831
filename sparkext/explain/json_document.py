"""``EXPLAIN SHARING JSON``: a report for programs, see ``docs/explain_sharing.schema.json``."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from sparkext.explain.report import ComparedStrategy, Loop, Pass, Plan, QSet, Query, Report


def json_text(report: Report) -> str:
    """One document with a key ``pools``: an entry for each pass over the source of a pool."""
    entries = [_pass(source_pass) for pool in report.pools for source_pass in pool.passes]
    return json.dumps({"pools": entries}, indent=2, ensure_ascii=False)


def _pass(source_pass: Pass) -> dict[str, Any]:
    head = {
        "name": source_pass.name,
        "source": source_pass.source,
        "group_by": source_pass.group_by,
        "other_keys": source_pass.other_keys,
        "order_by": source_pass.order_by,
        "state": source_pass.state,
    }
    if source_pass.plan is None:
        return head | {"queries": list(map(_query, source_pass.queries))}
    made = {} if source_pass.made is None else {"made": asdict(source_pass.made)}
    return head | {"results_kept": source_pass.kept} | made | _plan(source_pass.plan, source_pass.queries)


def _plan(plan: Plan, queries: tuple[Query, ...]) -> dict[str, Any]:
    states, costs = plan.states, plan.costs
    return {
        "optimizer": plan.optimizer,
        "queries": [_query(query) | _applicable(plan, query.number) for query in queries],
        "partners": [{"number": partner.number, "names": partner.names} for partner in plan.partners],
        "statistics": {
            statistic.event: {"events": statistic.events, "origin": statistic.known_from}
            | ({} if statistic.counted is None else {"counted": statistic.counted})
            for statistic in plan.statistics
        },
        "template": [
            {
                "state": state.name,
                "event": state.event,
                "starts": state.starting,
                "ends": state.ending,
                "start_numbers": state.starts,
                "end_numbers": state.ends,
                "cost": state.cost,
            }
            for state in states
        ],
        "transitions": [
            {
                "from": states[transition.source].name,
                "to": states[transition.target].name,
                "qsets": list(map(_qset, transition.qsets)),
            }
            for transition in plan.transitions
        ],
        **({"bursts": list(map(_loop, plan.loops))} if plan.loops else {}),
        "conditions_on_the_event_before": _conditions(plan.conditions),
        **({"conditions_on_earlier_events": _conditions(plan.looking_back)} if plan.looking_back else {}),
        "cost": {
            "model": costs.model,
            "chosen": costs.chosen,
            "none": costs.none,
            "greedy": costs.greedy,
            "published_rules": costs.published,
            "bound": costs.bound,
        },
        "graph": plan.graph,
        **plan.search.document,
        "budget_used_up": plan.budget is not None,
        "optimization_ms": round(plan.milliseconds, 3),
        "running_totals": plan.running_totals,
        "events_by_fallback": plan.figures.by_fallback,
        **({"events_interpreted": slow} if (slow := plan.figures.interpreted) else {}),
        **({"compared": [_compared(row, costs.compared_none) for row in costs.compared]} if costs.compared else {}),
    }


def _conditions(conditions: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"condition": condition, "found_by": how} for condition, how in conditions]


def _query(query: Query) -> dict[str, Any]:
    clause = query.clause
    return {
        "number": query.number,
        "name": query.name,
        "pattern": clause.pattern,
        "selection": clause.selection.value,
        "measures": clause.measures,
        "aggregates": clause.aggregates,
        "within": clause.within,
        "slide": clause.slide,
        **({} if clause.span is None else {"span": clause.span}),
        "sql": query.sql,
    }


def _applicable(plan: Plan, number: int | None) -> dict[str, Any]:
    """Whether a query was planned, and if not why; nothing for optimizers that plan all."""
    if plan.plans_all or number is None:
        return {}
    left = next(member.left_alone for member in plan.members if member.number == number)
    return {"applicable": left is None, "reason": None if left is None else left.reason}


def _qset(qset: QSet) -> dict[str, Any]:
    return {
        "queries": qset.names,
        "numbers": qset.numbers,
        "snapshot": qset.snapshot,
        "while": qset.guard,
        "cost": qset.cost,
    }


def _loop(loop: Loop) -> dict[str, Any]:
    seen = {} if loop.seen is None else dict(zip(("bursts", "shared", "events"), loop.seen, strict=True))
    return {"states": loop.states, "numbers": loop.qset.numbers, "shared_from": loop.least, **seen}


def _compared(row: ComparedStrategy, none: float) -> dict[str, Any]:
    return {
        "optimizer": row.optimizer,
        "cost": row.cost,
        "of_none": None if row.cost is None else row.cost / none if none else 1.0,
        "planning_ms": None if row.milliseconds is None else round(row.milliseconds, 3),
        "budget_used_up": row.is_cut_short,
        "not_planned": [
            {"number": apart.number, "names": apart.names, "reason": apart.reason, "why": apart.why}
            for apart in row.not_planned
        ],
    }
