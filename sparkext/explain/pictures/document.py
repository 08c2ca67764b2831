"""The document of ``EXPLAIN SHARING JSON``, read back into passes of a report."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sparkext.explain.report import (
    Clause,
    ComparedStrategy,
    Costs,
    LeftAlone,
    Made,
    Partner,
    Pass,
    Plan,
    QSet,
    Query,
    Statistic,
    TemplateState,
    Transition,
    names_by_number,
)
from sparkext.planner.patterns.query import Selection
from sparkext.planner.problem.strategy import Report as Search


def read(document: str) -> tuple[Pass, ...]:
    """The passes of a document, as far as it has them.

    Raises:
        ValueError: It is not JSON.
        KeyError: It is another document.
    """
    return tuple(map(_pass, json.loads(document)["pools"]))


def _pass(entry: dict[str, Any]) -> Pass:
    queries = tuple(map(_query, entry["queries"]))
    partners = tuple(Partner(partner["number"], tuple(partner["names"])) for partner in entry.get("partners", ()))
    return Pass(
        name=entry["name"],
        source=entry["source"],
        group_by=tuple(entry["group_by"]),
        other_keys=tuple(entry["other_keys"]),
        order_by=entry["order_by"],
        state=entry["state"],
        kept=entry.get("results_kept", False),
        queries=queries,
        names=names_by_number(queries, partners),
        plan=_plan(entry, partners) if "template" in entry else None,
        made=Made(**entry["made"]) if "made" in entry else None,
    )


def _query(entry: dict[str, Any]) -> Query:
    clause = Clause(
        pattern=entry["pattern"],
        selection=Selection(entry.get("selection", Selection.ANY)),
        aggregates=tuple(entry["aggregates"]),
        completions=(),
        measures=tuple(entry["measures"]),
        within=entry["within"],
        slide=entry["slide"],
        span=entry.get("span"),
    )
    return Query(entry["number"], entry["name"], clause, entry["sql"])


def _plan(entry: dict[str, Any], partners: tuple[Partner, ...]) -> Plan:
    at = {state["state"]: number for number, state in enumerate(entry["template"])}
    costs = entry["cost"]
    return Plan(
        optimizer=entry["optimizer"],
        milliseconds=entry["optimization_ms"],
        statistics=tuple(
            Statistic(event, seen["events"], seen["origin"], seen.get("counted"))
            for event, seen in entry["statistics"].items()
        ),
        states=tuple(
            TemplateState(
                state["state"],
                state["event"],
                tuple(state["start_numbers"]),
                tuple(state["end_numbers"]),
                state["cost"],
            )
            for state in entry["template"]
        ),
        transitions=tuple(
            Transition(
                at[transition["from"]],
                at[transition["to"]],
                tuple(QSet(tuple(q["numbers"]), q["snapshot"], q["while"], q["cost"]) for q in transition["qsets"]),
            )
            for transition in entry["transitions"]
        ),
        conditions=_conditions(entry["conditions_on_the_event_before"]),
        looking_back=_conditions(entry.get("conditions_on_earlier_events", ())),
        costs=Costs(
            costs["model"],
            costs["chosen"],
            costs["none"],
            costs["greedy"],
            costs["published_rules"],
            costs["bound"],
            tuple(map(_compared, entry.get("compared", ()))),
        ),
        search=Search(document={"graph": entry["graph"]}),
        running_totals=entry["running_totals"],
        partners=partners,
    )


def _conditions(entries: Iterable[dict[str, Any]]) -> tuple[tuple[str, str], ...]:
    return tuple((condition["condition"], condition["found_by"]) for condition in entries)


def _compared(row: dict[str, Any]) -> ComparedStrategy:
    apart = tuple(
        LeftAlone(query["number"], tuple(query["names"]), query["reason"], query["why"]) for query in row["not_planned"]
    )
    cut_short = row["budget_used_up"]
    return ComparedStrategy(row["optimizer"], row["cost"], row["planning_ms"], cut_short, apart, len(apart))
