"""Documents of EXPLAIN SHARING JSON for tests of pictures: golden files, and what is made of them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[1] / "golden"

HOSTILE = (
    "<script>document.title='broken'</script>",
    '"><img src=x onerror="document.title=\'broken\'">',
    "' onmouseover='document.title=1",
    "</style></svg></title></pre></script><b>&amp;&lt;",
    "]]><!-- {{ }} ${1} \\u003c",
    "größe 数量 \U0001f680 \u202eabc",
    "\x00\x07\x1b\ud800",
)
"""Names that would break a page which does not escape them."""


def golden(name: str) -> str:
    """A document of the tests of EXPLAIN."""
    return (GOLDEN / f"{name}.json").read_text()


def part_for_q2() -> str:
    """The part of ``prefixes`` that concerns its second query, which shares its beginning with the first."""
    (pool,) = json.loads(golden("prefixes"))["pools"]
    pool["queries"] = [query for query in pool["queries"] if query["name"] == "q2"]
    pool["partners"] = [{"number": 1, "names": ["q1"]}]
    pool["template"] = [state for state in pool["template"] if state["state"] in ("A", "C")]
    for state in pool["template"]:
        for key in ("start_numbers", "end_numbers"):
            state[key] = [number for number in state[key] if number in (1, 2)]
    pool["statistics"] = {state["event"]: pool["statistics"][state["event"]] for state in pool["template"]}
    for transition in pool["transitions"]:
        transition["qsets"] = [qset for qset in transition["qsets"] if 2 in qset["numbers"]]
    pool["transitions"] = [transition for transition in pool["transitions"] if transition["qsets"]]
    return json.dumps({"pools": [pool]})


def pools() -> str:
    """Three pools: that of ``prefixes``, one without keys, and one that could not be planned."""
    ((first,), (second,)) = (json.loads(text)["pools"] for text in (golden("prefixes"), many(3)))
    head = ("name", "source", "group_by", "other_keys", "order_by", "queries")
    third = {key: first[key] for key in head} | {"name": "pool 3", "state": "broken"}
    third["queries"] = [query | {"number": None, "name": f"broken_{query['name']}"} for query in first["queries"]]
    return json.dumps({"pools": [first, second | {"name": "pool 2", "group_by": []}, third]})


def hostile() -> str:
    """A document in which whatever a user can write is hostile."""
    document = json.loads(golden("prefixes"))
    texts = {
        "q1": HOSTILE[0], "q2": HOSTILE[1], "q3": HOSTILE[2], "q4": HOSTILE[3], "q5": HOSTILE[4],
        "A": HOSTILE[5], "B": HOSTILE[6], "C": HOSTILE[0], "A[v > 10]": f"X[{HOSTILE[3]}]",
    }  # fmt: skip
    renamed: dict[str, Any] = _renamed(document, texts)
    for source_pass in renamed["pools"]:
        source_pass["source"] = source_pass["order_by"] = HOSTILE[1]
        source_pass["group_by"] = source_pass["other_keys"] = list(HOSTILE)
        source_pass["conditions_on_the_event_before"] = [{"condition": text, "found_by": text} for text in HOSTILE]
        for query, text in zip(source_pass["queries"], HOSTILE, strict=False):
            query |= {"pattern": text, "sql": text, "aggregates": [text], "within": text}
        for transition in source_pass["transitions"]:
            for qset in transition["qsets"]:
                qset["while"] = HOSTILE[3]
        for node in source_pass["graph"]["trace"]:
            node["rule"] = HOSTILE[0]
    return json.dumps(renamed)


def _renamed(value: Any, texts: dict[str, str]) -> Any:
    if isinstance(value, str):
        return texts.get(value, value)
    if isinstance(value, list):
        return [_renamed(part, texts) for part in value]
    if isinstance(value, dict):
        return {texts.get(key, key): _renamed(part, texts) for key, part in value.items()}
    return value


def many(queries: int, middle: int = 1) -> str:
    """A document of a pool of many queries of the form ``Ai B+ Cj``, which share ``B+`` over snapshots.

    Args:
        queries: How many.
        middle: Of states in place of ``B``; every 25th query shares the transitions between them.
    """
    middles = ["B", *(f"B{i}" for i in range(2, middle + 1))]
    types = [f"A{i}" for i in range(5)] + middles + [f"C{i}" for i in range(7)]
    starts = {name: [q for q in range(1, queries + 1) if f"A{q % 5}" == name] for name in types}
    ends = {name: [q for q in range(1, queries + 1) if f"C{q % 7}" == name] for name in types}

    def transition(source: str, target: str, sets: list[list[int]], snapshot: str | None = None) -> dict[str, Any]:
        qsets = [{"numbers": s, "queries": [], "snapshot": snapshot, "while": None, "cost": 10.5} for s in sets]
        return {"from": source, "to": target, "qsets": qsets}

    def alone(numbers: list[int]) -> list[list[int]]:
        return [[number] for number in numbers]

    everyone = list(range(1, queries + 1))
    transitions = [transition(name, "B", alone(starts[name])) for name in types[:5]]
    transitions.append(transition("B", "B", [everyone], "B"))
    fours = [everyone[first::25] for first in range(25)]
    transitions += [transition(first, second, fours) for first, second in pairwise(middles)]
    transitions += [transition(middles[-1], name, alone(ends[name])) for name in types[-7:]]
    described = [
        {
            "number": number,
            "name": f"view_{number}",
            "pattern": f"A{number % 5} B+ C{number % 7}",
            "selection": "SKIP TILL ANY MATCH",
            "measures": ["n"],
            "aggregates": ["COUNT(*)"],
            "within": "1 hour",
            "slide": "1 minute",
            "sql": f"CREATE TEMP VIEW view_{number} AS SELECT 1",
        }
        for number in everyone
    ]
    pool = {
        "name": "pool 1",
        "source": "e",
        "group_by": ["k"],
        "other_keys": [],
        "order_by": "t",
        "state": "planned",
        "results_kept": True,
        "optimizer": "gloria",
        "queries": described,
        "partners": [],
        "statistics": {name: {"events": 100.0, "origin": "assumed"} for name in types},
        "template": [
            {
                "state": name,
                "event": name,
                "starts": [f"view_{number}" for number in starts[name]],
                "ends": [f"view_{number}" for number in ends[name]],
                "start_numbers": starts[name],
                "end_numbers": ends[name],
                "cost": 0.0,
            }
            for name in types
        ],
        "transitions": [t for t in transitions if t["qsets"]],
        "conditions_on_the_event_before": [],
        "cost": {
            "model": "measured",
            "chosen": 10.0,
            "none": 99.0,
            "greedy": 12.0,
            "published_rules": None,
            "bound": 1.0,
        },
        "graph": {"nodes": 0, "edges": 0, "pruned_nodes": 0, "pruned_edges": 0, "trace": []},
        "budget_used_up": False,
        "optimization_ms": 1.0,
        "running_totals": 12,
        "events_by_fallback": 0,
    }
    return json.dumps({"pools": [pool]})
