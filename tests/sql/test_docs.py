"""The documentation: every example of the language is run, and every refusal is listed.

``SPARKEXT_UPDATE_GOLDEN=1 python -m pytest tests/sql/test_docs.py`` writes the results of the examples anew.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from pyspark.errors import AnalysisException, PySparkNotImplementedError
from pyspark.sql import SparkSession

import sparkext
from sparkext.cli.compile_command import smallest_plan
from sparkext.cli.submit import PROGRAMS
from sparkext.jvm.spark_errors import CONDITIONS
from sparkext.settings import BUDGET, KNOWN
from sparkext.udfs.workers.every_variant import every_variant
from tests.cluster import page as cluster_page
from tests.support import sql_clients_page
from tests.support.pages import blocks
from tests.support.sql_cases import settings, stream, trends, values
from tests.support.versions import PYTHONS, SPARKS, supported

ROOT = Path(__file__).parents[2]
LANGUAGE = ROOT / "docs" / "language.md"
LIMITS = ROOT / "docs" / "limits.md"
EXAMPLE = re.compile(r"```sql\n(?P<sql>.*?)\n```\n\n(?P<result>(?:\|[^\n]*\n)+|```text\n.*?\n```\n|\?\n)", re.DOTALL)
PLAIN = {"spark_sql_adaptive_enabled": "false", "spark_sql_codegen_wholeStage": "false"}
"""Settings with which Spark is quick with a few rows."""


@dataclass(frozen=True, slots=True)
class Example:
    """Statements, and what the last of them gives as the page shows it."""

    statements: tuple[str, ...]
    result: str


def examples() -> list[Example]:
    """Those of the page, in order."""
    page = LANGUAGE.read_text()
    in_page = [Example(tuple(m["sql"].split(";\n")), m["result"].rstrip()) for m in EXAMPLE.finditer(page)]
    assert len(in_page) == page.count("```sql"), "an example has no result"
    return in_page


@pytest.mark.long
def test_examples(spark: SparkSession) -> None:
    """Each has the result that stands below it: rows in any order, a text, or an error."""
    of_pages = examples()
    with settings(spark, **PLAIN):
        actual = [result(spark, example) for example in of_pages]
    if os.environ.get("SPARKEXT_UPDATE_GOLDEN"):
        fresh = iter(actual)
        page = EXAMPLE.sub(lambda m: f"```sql\n{m['sql']}\n```\n\n{next(fresh)}\n", LANGUAGE.read_text())
        LANGUAGE.write_text(page)
        return
    for example, text in zip(of_pages, actual, strict=True):
        assert sorted(text.splitlines()) == sorted(example.result.splitlines()), example.statements[-1]


def result(spark: SparkSession, example: Example) -> str:
    """What the statements of an example give, which leave nothing behind."""
    try:
        for statement in example.statements:
            frame = spark.sql(statement)
            rows = frame.selectExpr(*(f"CAST(`{name}` AS STRING)" for name in frame.columns)).collect()
    except AnalysisException as error:
        message = str(error).split("\n== SQL")[0].strip()
        return f"```text\n{message}\n```"
    finally:
        if len(example.statements) > 1:
            for kept in spark.catalog.listTables():
                spark.sql(f"DROP VIEW {kept.name}")
            spark.conf.unset("spark.sparkext.cache")
    if frame.columns == ["plan"]:
        plan = re.sub(r"[\d.]+ ms", "0.5 ms", rows[0].plan)
        plan = re.sub(r"Made \S+ \S+ UTC, in [\d.]+ s", "Made 2026-11-27 22:46:17 UTC, in 0.4 s", plan)
        return f"```text\n{plan}\n```"
    lines = [frame.columns, *([shown(value) for value in row] for row in rows)]
    head, *rest = ["| " + " | ".join(cells) + " |" for cells in lines]
    return "\n".join([head, "|---" * len(frame.columns) + "|", *rest])


def shown(value: str | None) -> str:
    return "NULL" if value is None else value.replace("|", "\\|")


def test_all_refusals_are_listed() -> None:
    """With the SQLSTATE that they have."""
    conditions = {name: condition["sqlState"] for name, condition in json.loads(CONDITIONS.read_text()).items()}
    listed = dict(re.findall(r"^\| `(TREND_\w+)` \| (\w{5}) \|", LIMITS.read_text(), re.MULTILINE))
    assert listed == dict.fromkeys(raised_while_running(), "P0001") | conditions


def raised_while_running() -> Iterator[str]:
    """Classes of the errors that queries raise themselves, by `raise_error`, out of the code that says so."""
    for path in (ROOT / "sparkext").rglob("*.py"):
        yield from re.findall(r"\[(TREND_\w+)\]", path.read_text())


def test_versions_that_the_page_of_platforms_lists() -> None:
    """Are those that tests are run under, with what is tried of each; they are those that the package allows."""
    page = ROOT / "docs" / "platforms.md"
    table = re.compile(r"\| sparkext [^\n]*\n(?:\|[^\n]*\n)+")
    if os.environ.get("SPARKEXT_UPDATE_GOLDEN"):
        page.write_text(table.sub(supported() + "\n", page.read_text(), count=1))
    assert table.findall(page.read_text()) == [supported() + "\n"]
    project = (ROOT / "pyproject.toml").read_text()
    assert f'requires-python = ">={PYTHONS[0]}"' in project
    oldest, newest = SPARKS[0], SPARKS[-1].split(".")
    assert f'"pyspark>={oldest},<{newest[0]}.{int(newest[1]) + 1}"' in project


def test_all_blocks_about_sql_clients_are_checked() -> None:
    """By the tests of the programs."""
    kinds = {heading: [kind for kind, _ in inside] for heading, inside in blocks(sql_clients_page.PAGE).items()}
    assert kinds == sql_clients_page.CHECKED


def test_logging_as_the_page_says(spark: SparkSession, capfd: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("sparkext")
    before = logger.level
    try:
        exec(sql_clients_page.block("What is planned, and why", 1), {})
        handler = logging.StreamHandler()  # in place of the one that pytest has prevented
        logger.addHandler(handler)
        stream(spark, {"x": "a1 b2"})
        spark.sql("REFRESH SHARING")  # of what other tests have asked
        assert values(spark.sql(trends("A B"))) == [("x", 1)]
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
    assert "planned sparkext: pool 1, 1 query\n  Queries\n    (1) " in capfd.readouterr().err


@pytest.mark.parametrize("heading", ["Paste and run", "Trends of any length"])
def test_what_the_readme_lets_people_paste(
    spark: SparkSession, capsys: pytest.CaptureFixture[str], heading: str
) -> None:
    """It prints what stands below it."""
    (_, example), (_, printed) = blocks(ROOT / "README.md")[heading]
    exec(example, {"spark": spark})
    assert capsys.readouterr().out.strip() == printed.strip()


def test_the_commands_of_the_readme() -> None:
    """`make` knows its targets, and `sparkext` its commands."""
    text = "".join(block for inside in blocks(ROOT / "README.md").values() for kind, block in inside if kind == "sh")
    targets = re.findall(r"^make (\w+)", text, re.MULTILINE)
    assert set(targets) == {"bench", "demo", "test", "wheel"}
    for target in targets:
        assert re.search(rf"^{target}:.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    commands = re.findall(r"^sparkext (\S+)", text, re.MULTILINE)
    assert commands
    assert set(commands) <= {*PROGRAMS, "demo", "explain"}


FLIGHTS = "tailnum STRING, carrier STRING, origin STRING, dest STRING, departs TIMESTAMP, delay INT, kind STRING"


def test_what_limits_and_how_it_works_show(spark: SparkSession) -> None:
    """The query that is followed is one, and the error is what a misspelled column gives."""
    spark.createDataFrame([], FLIGHTS).createOrReplaceTempView("flights")
    statement = re.search(r"```sql\n(.*?)```", (ROOT / "docs" / "how_it_works.md").read_text(), re.DOTALL)
    assert statement is not None
    spark.sql(statement[1])
    assert spark.table("build_up").columns == ["carrier", "window_start", "window_end", "chains", "mean_before"]
    shown = re.search(r"```text\n(.*?)```", LIMITS.read_text(), re.DOTALL)
    assert shown is not None
    with pytest.raises(AnalysisException) as caught:
        spark.sql(
            "SELECT * FROM flights MATCH_TREND (\n  PARTITION BY tailnum ORDER BY departs\n  TYPE BY kind\n"
            "  MEASURES COUNT(*) AS chains, AVG(Late.dely) AS mean_delay\n  PATTERN (Late+))"
        )
    said = str(caught.value)
    for line in shown[1].splitlines():
        assert line.startswith("Did you mean") or line.strip(". ") in said, line
    assert "Did you mean one of: `delay`, " in said


def test_all_blocks_about_clusters_are_checked() -> None:
    """By the tests of the cluster, and here."""
    kinds = {heading: [kind for kind, _ in inside] for heading, inside in blocks(cluster_page.PAGE).items()}
    assert kinds == cluster_page.CHECKED


def test_executors_get_the_packages_that_sparkext_asks_for() -> None:
    """But for Spark, which brings its own, and for the parser of the driver."""
    asked = re.search(r"^dependencies = \[\n(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.MULTILINE | re.DOTALL)
    assert asked is not None
    all_but_spark = [name for name in re.findall(r'"(.*)"', asked[1]) if not name.startswith("pyspark")]
    wanted = [name for name in all_but_spark if not name.startswith("sqlglot")]
    assert re.findall(r'"(.*?)"', cluster_page.block("What each machine needs")) == wanted
    [(_, commands)] = blocks(ROOT / "docs" / "platforms.md")["EMR, Dataproc and the like"]
    assert re.findall(r'"(.*?)"', commands) == all_but_spark


def test_what_is_compiled_ahead_of_time() -> None:
    """Variants in commands that docs/cluster.md shows are there."""
    asked = re.findall(r"sparkext compile([a-z -]*)", cluster_page.PAGE.read_text())
    variant_names = {arguments.name for arguments in every_variant(smallest_plan())}
    assert len(asked) >= 4
    assert {name for names in asked for name in names.split()} <= variant_names


def test_what_troubleshooting_quotes(spark: SparkSession, plain: SparkSession) -> None:
    """Is what is said."""
    quoted = blocks(ROOT / "docs" / "troubleshooting.md")
    (_, syntax), (_, connect) = quoted.pop("Spark does not know MATCH_TREND")
    with pytest.raises(AnalysisException) as not_enabled:
        plain.sql("SELECT n FROM t MATCH_TREND (PARTITION BY k ORDER BY at MEASURES COUNT(*) AS n PATTERN (A B))")
    assert syntax.strip() in str(not_enabled.value)
    with pytest.raises(PySparkNotImplementedError) as not_classic:
        sparkext.enable(cast("SparkSession", object()))
    assert str(not_classic.value) == connect.strip()

    *_, (_, command) = quoted.pop("Results are not up to date")  # the warnings are those of test_files.py
    assert spark.sql(command).count() == 1
    del quoted["The result is empty"]  # see test_missing_types.py
    [(_, quiet)] = quoted.pop("Errors are logged twice")
    names = re.findall(r'getLogger\("(\w+)"\)', quiet)
    assert sorted(names) == ["DataFrameQueryContextLogger", "SQLQueryContextLogger"]
    assert not quoted


@pytest.mark.parametrize("page", sorted(path.name for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]))
def test_links(page: str) -> None:
    """To files of the project, and to headings of a page."""
    path = ROOT / page if page == "README.md" else ROOT / "docs" / page
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if target.startswith("http"):
            continue
        file, _, heading = target.partition("#")
        linked = path.parent / file if file else path
        assert linked.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.*)$", linked.read_text(), re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
            assert heading in anchors, target


def test_the_settings_of_the_page_are_those_that_there_are(spark: SparkSession) -> None:
    """And each takes the value that it has by default."""
    listed = re.findall(r"^\| `(spark\.sparkext\.[\w.]+)` \|", LANGUAGE.read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(KNOWN)
    spark.sql(f"SET {BUDGET} = 2")
    assert values(spark.sql(f"SET {BUDGET}")) == [(BUDGET, "2")]
