"""EXPLAIN SHARING and SHOW TREND QUERIES, against golden files.

``SPARKEXT_UPDATE_GOLDEN=1 python -m pytest tests/explain/test_explain.py`` writes the files anew.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from types import NoneType
from typing import Any

import pytest
from pyspark.errors import ParseException, PySparkException
from pyspark.sql import Row, SparkSession

import sparkext
from sparkext.explain.builder import report
from sparkext.explain.comparison import table_text
from sparkext.explain.report import NOTHING_REGISTERED, TOO_MANY_PLANS, Pass, Plan, QSet, Report
from sparkext.parser import rewrite
from sparkext.planner.amounts import size
from sparkext.planner.optimizers import OPTIMIZERS
from sparkext.planner.patterns.query import Selection
from sparkext.workload import pass_jobs
from sparkext.workload.trend_query import TrendQuery
from tests.support.json_documents import faults, laid_out
from tests.support.picture_documents import part_for_q2
from tests.support.sql_cases import deliveries, relation, stream, trends, values

GOLDEN = Path(__file__).parents[1] / "golden"

RIDES = "PARTITION BY driver GROUP BY district ORDER BY ts TYPE BY action"
DRIVERS = "PARTITION BY driver ORDER BY ts TYPE BY action"
DAYS = "ORDER BY CAST(ts AS DATE) TYPE BY action"
FAST = "(SELECT *\n  FROM rides WHERE speed > 1)"

WORKLOADS: dict[str, dict[str, str]] = {
    "empty": {},
    "one": {"only": trends("A+ B")},
    "same": {"first": trends("A B+"), "second": trends("A B+"), "third": trends("A B+", "COUNT(*) AS other")},
    "prefixes": {
        "q1": trends("A+ B", "COUNT(*) AS n, AVG(A.v) AS m", "WITHIN 10 SLIDE 5"),
        "q2": trends("A+ C", "COUNT(*) AS n, MAX(C.v) AS top", "WITHIN 10 SLIDE 5"),
        "q3": trends("A+ B", more="WITHIN 10 SLIDE 2"),
        "q4": trends("A+ B C?", more="DEFINE A AS A.v > 10 WITHIN 10 SLIDE 5"),
        "q5": trends("(A B)+ | C", "COUNT(B) / COUNT(*) AS share"),
    },
    "selections": {
        "any_match": trends("A+ B"),
        "next_match": trends("A+ B", more="SKIP TILL NEXT MATCH"),
        "next_lower": trends("A+ B", more="SKIP TILL NEXT MATCH DEFINE B AS v < PREV(v)"),
        "next_longer": trends("A+ B C", more="SKIP TILL NEXT MATCH"),
        "contiguous": trends("A+ B", more="CONTIGUOUS"),
        "contiguous_lower": trends("A+ B", more="CONTIGUOUS DEFINE B AS v < PREV(v)"),
        "contiguous_longer": trends("A+ B C", more="CONTIGUOUS"),
    },
    "published": {"q1": trends("F A B C D"), "q2": trends("A B C D"), "q3": trends("E C D")},
    "doubles": {
        "approximate": trends("A+ B", "APPROX_COUNT(*) AS n, LOG10_COUNT(A) AS a, SUM(A.v) AS s"),
        "exact": trends("A+ B", "COUNT(*) AS n, log10_count(A.v) AS a"),
    },
    "pools": {
        "trips": trends(
            "Request (Pickup Travel)+ Delivery",
            "COUNT(*) AS trips, SUM(Travel.duration) AS total",
            "DEFINE Travel AS Travel.speed < 10 WITHIN INTERVAL 20 MINUTES SLIDE INTERVAL 5 MINUTES",
            RIDES,
            "rides",
        ),
        "cancelled": trends("Request Cancel", more="WITHIN INTERVAL 1 DAY", keys=RIDES, source="rides"),
        "per_driver": trends(
            "Request+",
            more="WITHIN '90 seconds'",
            keys=DRIVERS,
            source="rides",
        ),
        "all_rides": trends("Travel+", keys="ORDER BY ts TYPE BY action", source=FAST),
        "by_day": trends(
            "Travel+",
            more="WITHIN INTERVAL 7 DAYS SLIDE INTERVAL 1 DAY",
            keys=DAYS,
            source="rides",
        ),
    },
}


MADE = [
    ("computed_at", "timestamp"),
    ("seconds", "double"),
    *((name, "bigint") for name in ("rows_read", "bytes_read", "events", "rows_kept", "bytes_kept")),
]
"""Columns that say how a pass has been made."""


@pytest.fixture
def sources(spark: SparkSession) -> SparkSession:
    stream(spark, {"x": "a1 b2 a3 c4"})
    columns = "driver, district, ts, action, duration, speed"
    relation(spark, "rides", columns, ["1, 'north', TIMESTAMP'2024-01-01 00:00:00', 'Request', 1, 2"])
    return spark


def register(spark: SparkSession, name: str) -> None:
    for view, statement in WORKLOADS[name].items():
        spark.sql(f"CREATE TEMP VIEW {view} AS {statement}")


def explained(spark: SparkSession, form: str = "") -> str:
    """What EXPLAIN SHARING says, but for the times that optimization took."""
    frame = spark.sql(f"EXPLAIN SHARING {form}")
    assert frame.dtypes == [("plan", "string")]
    ((text,),) = values(frame)
    if "JSON" in form.split(" FOR ")[0]:
        assert faults(text) == []
    return re.sub(r'(?<="optimization_ms": )[\d.]+', "0", re.sub(r"[\d.]+ ms", "0 ms", str(text)))


def document(spark: SparkSession, form: str = "") -> Any:
    """What EXPLAIN SHARING JSON says, which is what its schema says."""
    return json.loads(explained(spark, f"JSON {form}"))


def same_as_file(name: str, text: str) -> None:
    file = GOLDEN / name
    if os.environ.get("SPARKEXT_UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(text)
    assert text == file.read_text()


def shown(spark: SparkSession) -> str:
    """What SHOW TREND QUERIES says, but for how passes have been made."""
    frame = spark.sql("SHOW TREND QUERIES")
    columns = ["name", "pool", "source", "pattern", "window", "measures", "state"]
    assert frame.dtypes == [*((name, "string") for name in columns), *MADE]
    assert all((row.state == "computed") == (row.computed_at is not None) for row in frame.collect())
    rows = [tuple(columns), *(tuple(row)[: len(columns)] for row in frame.collect())]
    widths = [max(len(str(row[index])) for row in rows) for index in range(len(columns))]
    return "\n".join(" | ".join(str(v).ljust(w) for v, w in zip(row, widths, strict=True)).rstrip() for row in rows)


@pytest.mark.parametrize("name", WORKLOADS)
def test_golden(sources: SparkSession, name: str) -> None:
    """What is shown before anything is computed is in the files; afterwards only the states differ."""
    register(sources, name)
    same_as_file(f"{name}.txt", f"{explained(sources)}\n\n{shown(sources)}\n")


@pytest.mark.parametrize("name", ["prefixes", "pools", "empty"])
@pytest.mark.parametrize(("form", "ending"), [("DOT", "dot"), ("MERMAID", "mmd")])
def test_golden_forms(sources: SparkSession, name: str, form: str, ending: str) -> None:
    register(sources, name)
    same_as_file(f"{name}.{ending}", explained(sources, form) + "\n")


def test_golden_document(sources: SparkSession) -> None:
    """Also of one query: what concerns it, and whom it shares with."""
    register(sources, "prefixes")
    same_as_file("prefixes.json", laid_out(document(sources)) + "\n")
    assert document(sources, "FOR `Q2`") == json.loads(part_for_q2())


@pytest.mark.parametrize("name", WORKLOADS)
def test_documents_say_what_the_texts_say(sources: SparkSession, name: str) -> None:
    """Pools, passes, numbers of queries, states and transitions; their form is that of the schema."""
    register(sources, name)
    text, passes = explained(sources), document(sources)["pools"]
    assert len(passes) == len(re.findall(r"^  Pass \d+ ", text, re.MULTILINE))
    queries = [query for source_pass in passes for query in source_pass["queries"]]
    assert sorted(query["name"] for query in queries) == sorted(WORKLOADS[name])
    assert [query for query in queries if query["name"] not in text or f": {query['pattern']}" not in text] == []
    assert [source_pass["source"] for source_pass in passes if f"  source: {source_pass['source']}\n" not in text] == []
    totals = re.findall(r"; (\d+) running totals?", text)
    assert [source_pass["running_totals"] for source_pass in passes] == [int(total) for total in totals]
    shown = set(re.findall(r"^    (\S.* -> \S[^:]*): \(", text, re.MULTILINE))
    assert {f"{t['from']} -> {t['to']}" for source_pass in passes for t in source_pass["transitions"]} == shown


def test_document_of_a_pool_that_cannot_be_planned(sources: SparkSession) -> None:
    register(sources, "same")
    sources.catalog.dropTempView("e")
    (pool,) = document(sources)["pools"]
    assert (pool["state"], [query["number"] for query in pool["queries"]]) == ("broken", [None] * 3)


def test_golden_of_one_query(sources: SparkSession) -> None:
    register(sources, "prefixes")
    same_as_file("prefixes_for_q2.txt", explained(sources, "FOR q2") + "\n")


@pytest.mark.parametrize("optimizer", ["greedy", "exhaustive", "none", "sharon", "mcep"])
def test_golden_of_optimizers(sources: SparkSession, optimizer: str) -> None:
    sources.conf.set("spark.sparkext.optimizer", optimizer)
    sources.conf.set("spark.sparkext.costModel", "paper")
    sources.conf.set("spark.sparkext.statistics", '{"F": 10, "A": 5, "B": 10, "C": 12, "D": 4, "E": 3}')
    register(sources, "published")
    same_as_file(f"table_3_{optimizer}.txt", explained(sources) + "\n")


TRAFFIC = {
    "q1": trends("Oak Main State West"),
    "q2": trends("Oak Main State West Elm"),
    "q3": trends("Park Oak Main State"),
    "q4": trends("Park Oak Main State Elm"),
    "q5": trends("Main State West", "COUNT(*) AS n, SUM(West.v) AS s"),
    "q6": trends("Main State West Elm"),
    "q7": trends("Oak Main+ State"),
    "q8": trends("Oak Main? State"),
    "q9": trends("Oak NOT Elm Main State"),
    "q10": trends("Oak Main State", more="DEFINE Main AS v > PREV(v)"),
    "q11": trends("Elm Park"),
}
"""Sequences with parts in common, some of which are in conflict, and what SHARON does not plan."""


def traffic_explained(sources: SparkSession, strategy: str, form: str) -> str:
    """What EXPLAIN SHARING says of them under a strategy."""
    sources.conf.set("spark.sparkext.optimizer", strategy)
    sources.conf.set("spark.sparkext.costModel", "paper")
    sources.conf.set(
        "spark.sparkext.statistics", '{"Oak": 3, "Park": 2, "Main": 10, "State": 10, "West": 10, "Elm": 4}'
    )
    for view, statement in TRAFFIC.items():
        sources.sql(f"CREATE TEMP VIEW {view} AS {statement}")
    return explained(sources, form)


@pytest.mark.parametrize(("form", "name"), [("", "sharon.txt"), ("FOR q3", "sharon_for_q3.txt")])
def test_golden_of_sharon(sources: SparkSession, form: str, name: str) -> None:
    """Candidates, benefits, conflicts, what was pruned and chosen, the proof, and why queries were not planned."""
    same_as_file(name, traffic_explained(sources, "sharon", form) + "\n")


def test_document_of_sharon(sources: SparkSession) -> None:
    """What its text says, in numbers: a candidate that is chosen, one that is not, and queries left alone."""
    (pool,) = json.loads(traffic_explained(sources, "sharon", "JSON"))["pools"]
    by_name = {candidate["candidate"]: candidate for candidate in pool["sharon"]["candidates"]}
    assert (by_name["c3"]["states"], by_name["c3"]["benefit"]) == (["Oak", "Main", "State", "West"], 337.0)
    assert (by_name["c3"]["fate"], by_name["c1"]["fate"]) == ("chosen", "saves_nothing")
    assert "c3" in by_name["c2"]["conflicts"]
    assert {query["name"]: query["reason"] for query in pool["queries"] if not query["applicable"]} == {
        "q7": "KLEENE",
        "q8": "BRANCHES",
        "q9": "NOT",
        "q10": "PREV",
        "q11": "NOTHING_IN_COMMON",
    }
    assert (pool["cost"]["model"], pool["cost"]["chosen"], pool["cost"]["none"]) == ("paper", 1325.0, 1956.0)


@pytest.mark.parametrize(("form", "ending"), [("", "txt"), ("DOT", "dot")])
def test_golden_of_hamlet(sources: SparkSession, form: str, ending: str) -> None:
    """Loops that are shared by bursts, and why queries were not planned."""
    hamlet(sources)
    same_as_file(f"hamlet.{ending}", explained(sources, form) + "\n")


def test_document_of_hamlet(sources: SparkSession) -> None:
    """The loop that is shared, by which queries, and from how many events on."""
    hamlet(sources)
    (pool,) = document(sources)["pools"]
    (repeated,) = pool["hamlet"]["repeated"]
    assert (repeated["state"], repeated["numbers"], repeated["shared"]) == ("Main", [1, 2, 3], [[1, 2]])
    assert pool["bursts"] == [{"states": ["Main"], "numbers": [1, 2], "shared_from": 8}]


def hamlet(sources: SparkSession) -> None:
    """Views for it, which share a loop of Main."""
    sources.conf.set("spark.sparkext.optimizer", "hamlet")
    sources.conf.set("spark.sparkext.statistics", '{"Oak": 10, "Park": 10, "Main": 100, "State": 5, "Elm": 300}')
    patterns = ("Oak Main+", "Park Main+ State", "Elm Main+", "Oak (Main State)+", "Oak State", "Elm State+")
    for index, pattern in enumerate(patterns, 1):
        sources.sql(f"CREATE TEMP VIEW q{index} AS {trends(pattern)}")


def test_golden_of_mcep(sources: SparkSession) -> None:
    """What is built of what, how much of it is expected, for which queries, and why others are not planned."""
    same_as_file("mcep.txt", traffic_explained(sources, "mcep", "") + "\n")
    steps = document(sources)["pools"][0]["mcep"]["steps"]
    assert {"events": ["State", "West"], "of": ["West", "State"], "expected": 50.0, "numbers": [5, 6]} in steps


def compared(spark: SparkSession, only: str = "") -> list[Row]:
    """The rows of a comparison, which say how long planning took."""
    frame = spark.sql(f"EXPLAIN SHARING COMPARE {only}")
    assert [name for name, kind in frame.dtypes if kind == "double"] == ["cost", "share", "seconds"]
    assert [name for name, kind in frame.dtypes if kind == "boolean"] == ["in_use"]
    rows = frame.collect()
    assert all(row.cost is None or row.seconds >= 0 for row in rows)
    return [Row(**row.asDict() | {"seconds": 0.0}) for row in rows]


def test_golden_of_the_comparison(sources: SparkSession) -> None:
    """A row for each optimizer, which changes nothing and looks at no event where all is given; the page has bars."""
    sources.conf.set("spark.sparkext.costModel", "paper")
    sources.conf.set("spark.sparkext.statistics", '{"F": 10, "A": 5, "B": 10, "C": 12, "D": 4, "E": 3}')
    register(sources, "published")
    sources.sql(f"CREATE TEMP VIEW repeats AS {trends('A B+')}")
    before = explained(sources)
    sources.sparkContext.setJobGroup("compare", "")
    rows = compared(sources)
    same_as_file("compare.txt", table_text(rows[0].__fields__, rows) + "\n")
    (pool,) = json.loads(explained(sources, "COMPARE JSON"))["pools"]
    assert not sources.sparkContext.statusTracker().getJobIdsForGroup("compare")
    assert explained(sources) == before
    assert [row["optimizer"] for row in pool["compared"]] == list(OPTIMIZERS)
    costs = {row["optimizer"]: row["cost"] for row in pool["compared"]}
    assert costs["gloria"] == pool["cost"]["chosen"]
    assert costs["none"] == pool["cost"]["none"]
    assert {row["optimizer"]: row["of_none"] for row in pool["compared"]}["none"] == 1
    apart = {
        row["optimizer"]: [(left_alone["names"], left_alone["reason"]) for left_alone in row["not_planned"]]
        for row in pool["compared"]
    }
    assert apart["mcep"] == [(["repeats"], "INFINITE")]
    assert apart["gloria"] == []
    html = sparkext.explain_sharing(sources, compare=True).html
    assert html.count("of sharing nothing") == 1
    for name in OPTIMIZERS:
        assert f"<td>{name}" in html
    assert "of sharing nothing" not in sparkext.explain_sharing(sources).html
    for name, left_alone in {"repeats": "repeats: it repeats", "q1": None}.items():
        (sharon,) = (row for row in compared(sources, f"FOR {name}") if row.optimizer == "sharon")
        assert sharon.left_alone == left_alone
    lines = sparkext.explain_sharing(sources, compare=True).text.splitlines()
    of_rows = table_text(rows[0].__fields__, rows).splitlines()
    assert [line.split()[:2] for line in lines] == [line.split()[:2] for line in of_rows]


def test_golden_of_the_published_example(sources: SparkSession) -> None:
    """Every number of Table 3 of the GLORIA paper can be read."""
    sources.conf.set("spark.sparkext.costModel", "paper")
    sources.conf.set("spark.sparkext.statistics", '{"F": 10, "A": 5, "B": 10, "C": 12, "D": 4, "E": 3}')
    register(sources, "published")
    text = explained(sources)
    same_as_file("table_3.txt", text + "\n")
    assert "Cost: 307 touches" in text
    assert "(1,2)^A, (3): 159 to get here from n1, n7, 148 to the end" in text


def test_golden_of_the_example(spark: SparkSession) -> None:
    """The example of the docs, in which snapshots are taken."""
    deliveries(spark)
    same_as_file("deliveries.txt", explained(spark) + "\n")
    same_as_file("deliveries.json", laid_out(document(spark)) + "\n")


def test_unknown_query(sources: SparkSession) -> None:
    register(sources, "one")
    with pytest.raises(ParseException, match=r"(?s)TREND_UNKNOWN_QUERY.*'nope'.*There are: only"):
        sources.sql("EXPLAIN SHARING FOR nope")


def test_states(sources: SparkSession) -> None:
    sources.conf.set("spark.sparkext.statistics", "none")  # a sample is taken when something is read
    register(sources, "prefixes")
    before = explained(sources), shown(sources)
    sources.table("q1").collect()
    after = explained(sources), shown(sources)
    assert "(planned, results are kept)" in before[0]
    # How the kernel ran depends on what has been compiled on the machine.
    is_new = "; the pass has counted [0-9.]+|\n  Kernels: .*|\n  Made .*"
    assert re.sub(is_new, "", after[0]) == before[0].replace("(planned,", "(computed,")
    assert after[1].replace("computed", "planned ").replace(" \n", "\n").rstrip() == before[1]


def test_those_that_are_gone(sources: SparkSession) -> None:
    """A pass that has been made goes on serving the views that are left."""
    register(sources, "prefixes")
    sources.table("q1").collect()
    sources.catalog.dropTempView("q2")
    said = re.findall(r"^    \(\d\) (.*)$", explained(sources, "FOR q1"), re.MULTILINE)
    assert said[0].startswith("q1: ")
    assert "(no longer registered): shares with them" in said


def test_what_it_says_is_true(sources: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Transitions, Q-sets and totals are those of the plan that runs, and those that queries share are one."""
    seen: list[TrendQuery] = []

    def spy(queries: Sequence[TrendQuery], only: str | None, compares: bool) -> Report:
        seen.extend(queries)
        return report(queries, only, compares)

    monkeypatch.setattr(rewrite, "report", spy)
    register(sources, "prefixes")
    text = explained(sources)
    run = seen[0].run
    assert run is not None
    assert all(query.run is run for query in seen)
    transitions = dict(re.findall(r"^    (\S.* -> \S[^:]*): (\(.*)$", text, re.MULTILINE))
    assert len(transitions) == len(run.template.transitions)
    numbers = [[set(part.split(",")) for part in re.findall(r"\(([\d,]+)\)", sets)] for sets in transitions.values()]
    for sets in numbers:
        assert len(set().union(*sets)) == sum(map(len, sets)), "a query is in two Q-sets of one transition"
    match = re.search(r"(\d+) transitions of queries are propagated as (\d+); (\d+) running totals", text)
    assert match is not None
    total = sum(len(part) for sets in numbers for part in sets)
    shared = sum(len(sets) for sets in numbers)
    assert [int(number) for number in match.groups()] == [total, shared, len(run.plan.cells)]


@pytest.mark.parametrize("optimizer", ["gloria", "sharon", "hamlet", "mcep"])
def test_report_is_of_plain_values(sources: SparkSession, monkeypatch: pytest.MonkeyPatch, optimizer: str) -> None:
    """What all forms are written from leads to nothing of a run, a plan, a graph or Spark."""
    seen: list[Report] = []

    def spy(queries: Sequence[TrendQuery], only: str | None, compares: bool) -> Report:
        seen.append(report(queries, only, compares))
        return seen[-1]

    monkeypatch.setattr(rewrite, "report", spy)
    sources.conf.set("spark.sparkext.optimizer", optimizer)
    register(sources, "prefixes")
    compared(sources)
    plain = (str, int, float, bool, NoneType, tuple, list, dict, Selection)
    types = {type(value) for value in inside(seen)} - set(plain)
    assert {Pass, Plan, QSet} <= types
    assert {type_.__module__ for type_ in types} == {"sparkext.explain.report", "sparkext.planner.problem.strategy"}
    assert all(type_.__dataclass_params__.frozen for type_ in types)


def inside(value: Any) -> Iterator[Any]:
    """All values that a value is made of."""
    yield value
    if is_dataclass(value):
        yield from inside([getattr(value, field.name) for field in fields(value)])
    elif isinstance(value, dict):
        yield from inside([*value.items()])
    elif isinstance(value, list | tuple):
        for part in value:
            yield from inside(part)


def test_commands_in_other_spellings(sources: SparkSession) -> None:
    register(sources, "one")
    for text in ("explain sharing", "EXPLAIN\n  SHARING;", "/* plan */ Explain Sharing -- now"):
        respelled, plain = (sources.sql(statement).collect()[0].plan for statement in (text, "EXPLAIN SHARING"))
        assert re.sub(r"[\d.]+ ms", "ms", respelled) == re.sub(r"[\d.]+ ms", "ms", plain)
    assert values(sources.sql("show trend\tqueries ;")) == values(sources.sql("SHOW TREND QUERIES"))
    assert sources.sql("refresh sharing").collect()[0].result.endswith("have been dropped.")
    assert sources.sql("SHOW TREND QUERIES").where("name = 'only'").count() == 1


def test_names_and_texts_of_any_kind(sources: SparkSession) -> None:
    """Quotes, line ends and letters of all alphabets survive."""
    relation(sources, "`it's`", "`k'\"`, t, ty", ["1, 1, 'é\\\\'"])
    sources.sql(
        'CREATE TEMP VIEW `größe "1"` AS '
        + trends("`é\\`", keys="PARTITION BY `k'\"` ORDER BY t TYPE BY ty", source="`it's`")
    )
    (row,) = sources.sql("SHOW TREND QUERIES").collect()
    assert row.name == 'größe "1"'
    assert row.source == "`it's`"
    assert row.pattern == "`é\\`"
    text = explained(sources)
    assert "`k'\"`" in text
    assert 'größe "1"' in text
    assert values(sources.table('`größe "1"`')) == [(1, 1)]


def test_two_clauses_in_one_view(sources: SparkSession) -> None:
    sources.sql(f"CREATE TEMP VIEW pair AS {trends('A')} UNION ALL {trends('B', source='(SELECT * FROM e)')}")
    assert [row.name for row in sources.sql("SHOW TREND QUERIES").collect()] == ["pair#1", "pair#2"]
    assert values(sources.table("pair")) == [("x", 1), ("x", 2)]


def test_what_a_comparison_goes_by(sources: SparkSession) -> None:
    """A sample of what nothing has read, then what passes have counted; else it says that nothing is known."""
    stream(sources, {"x": "a1 b2 a3 c5"})  # which no other test has read
    register(sources, "prefixes")
    assert {row.statistics for row in compared(sources)} == {"sample of 4 rows"}
    sources.conf.set("spark.sparkext.statistics", "none")
    sources.sql("CREATE OR REPLACE TEMP VIEW computed AS SELECT DISTINCT * FROM e")
    for name, pattern in (("v", "A+ B"), ("w", "A+ C")):
        sources.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern, source='computed')}")
    assumed = "assumed to be 100 of each class, as nothing is known of the source before it is read"
    assert {row.statistics for row in compared(sources, "FOR v")} == {assumed}
    assert "    A  100 (assumed)\n" in explained(sources, "FOR v")
    sources.conf.set("spark.sparkext.costModel", "paper")
    for _ in range(2):
        assert values(sources.table("v")) == [("x", 1)]
    assert "    A  100 (assumed); the pass has counted 2\n" in explained(sources, "FOR v")
    (pool,) = json.loads(explained(sources, "COMPARE JSON FOR v"))["pools"]
    assert pool["statistics"]["B"] == {"events": 100.0, "origin": "assumed", "counted": 1.0}
    counted = compared(sources, "FOR v")
    assert {row.statistics for row in counted} == {"counted"}
    sources.conf.set("spark.sparkext.statistics", '{"A": 2, "B": 1, "C": 1}')
    sources.sql("REFRESH SHARING")
    given = compared(sources, "FOR v")
    assert [row.cost for row in given] == [row.cost for row in counted]
    assert {row.statistics for row in given} == {"given"}


def test_a_comparison_of_nothing(sources: SparkSession) -> None:
    assert compared(sources) == []
    assert sparkext.explain_sharing(sources, compare=True).text == NOTHING_REGISTERED


def test_a_workload_that_is_too_large_for_an_optimizer(sources: SparkSession) -> None:
    """It has a row all the same, which says so."""
    for number in range(12):
        sources.sql(f"CREATE TEMP VIEW q{number} AS {trends(f'A B+ C{number}')}")
    row = next(row for row in compared(sources) if row.optimizer == "exhaustive")
    assert (row.cost, row.share, row.note) == (None, None, TOO_MANY_PLANS)


def test_how_passes_were_made(sources: SparkSession, tmp_path: Path) -> None:
    """When, how long they took, what they read and what is kept: as a text, a document, a page and rows.

    A view that is alone in its pool is computed by each read, and nothing is kept of it.
    """
    sources.table("e").write.parquet(f"{tmp_path}/e")
    sources.read.parquet(f"{tmp_path}/e").createOrReplaceTempView("written")
    for name, pattern, keys in (("v", "A+ B", "k"), ("w", "A+ C", "k"), ("alone", "A+ C", "k, ty")):
        keyed = f"PARTITION BY {keys} ORDER BY t TYPE BY ty"
        sources.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern, keys=keyed, source='written')}")
    assert " Made " not in explained(sources)
    before = time.time()
    for name in ("v", "w", "alone"):
        sources.table(name).collect()
    sources.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    by_name = {row.name: row for row in sources.sql("SHOW TREND QUERIES").collect()}
    for row in by_name.values():
        assert before - 1 <= row.computed_at.timestamp() <= time.time()
        assert 0 < row.seconds < time.time() - before
        assert row.rows_read == 4
        assert row.bytes_read > 100
    pooled, alone = by_name["v"], by_name["alone"]
    assert (pooled.events, alone.events) == (4, 3)
    assert tuple(by_name["w"])[-len(MADE) :] == tuple(pooled)[-len(MADE) :]
    assert (pooled.rows_kept, alone.rows_kept, alone.bytes_kept) == (1, None, None)
    assert pooled.bytes_kept > 0
    first, second = document(sources)["pools"]
    at = datetime.fromisoformat(first["made"]["at"].replace("Z", "+00:00"))
    assert at.timestamp() == pooled.computed_at.timestamp()
    assert (first["made"]["seconds"], first["made"]["bytes_kept"]) == (pooled.seconds, pooled.bytes_kept)
    assert (second["made"]["rows"], second["made"]["rows_read"]) == (None, 4)
    said = re.findall(r"  Made (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, in \d+\.\d s); (.*)", explained(sources))
    kept = f"1 row in {size(pooled.bytes_kept)} kept"
    assert [text for _, text in said] == [f"4 rows read ({size(pooled.bytes_read)}), 4 events; {kept}", said[1][1]]
    assert f"{said[0][0]}; {said[0][1]}</dd>" in sparkext.explain_sharing(sources).html
    sources.sql("REFRESH SHARING")
    assert " Made " not in explained(sources)


def test_passes_that_spark_has_forgotten(sources: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is still known when they were made, and of how many events; and one that fails has not been made."""
    register(sources, "same")
    monkeypatch.setattr(pass_jobs, "jobs_with_tag", lambda *_: None)
    assert values(sources.table("first")) != []
    (said,) = re.findall(r"\n  Made [-\d]+ [:\d]+ UTC; (.*)\n", explained(sources))
    assert re.fullmatch(r"3 events; 1 row in [\d.]+ \w+ kept", said)
    made = document(sources)["pools"][0]["made"]
    assert (made["seconds"], made["rows_read"], made["events"], made["rows"]) == (None, None, 3, 1)
    wrong = trends("A B", more="DEFINE A AS raise_error(ty) IS NULL", source="(SELECT DISTINCT * FROM e)")
    sources.sql(f"CREATE TEMP VIEW fails AS {wrong}")
    with pytest.raises(PySparkException, match="USER_RAISED"):
        sources.table("fails").collect()
    (row,) = sources.sql("SHOW TREND QUERIES LIKE 'fails'").collect()
    assert row.computed_at is None
