"""Pictures out of a session: what notebooks show for EXPLAIN SHARING, and the command ``sparkext explain``.

``SPARKEXT_UPDATE_GOLDEN=1 python -m pytest tests/explain/test_sharing_picture.py`` draws the pictures of the docs anew.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from IPython.core.formatters import DisplayFormatter
from pyspark.errors import ParseException
from pyspark.sql import DataFrame, SparkSession

import sparkext
from sparkext.cli import explain_command
from sparkext.cli.sql_file import statements
from sparkext.explain.pictures.document import read
from tests.support.sql_cases import deliveries, relation, stream, trends, values

ROOT = Path(__file__).parents[2]


@pytest.fixture
def queries(spark: SparkSession) -> SparkSession:
    stream(spark, {"x": "a1 b2 a3 b4"})
    spark.sql(f"CREATE TEMP VIEW up AS {trends('A+ B')}")
    spark.sql(f"CREATE TEMP VIEW pairs AS {trends('A B')}")
    return spark


def shown(value: object) -> dict[str, str]:
    """What a notebook shows, by MIME type."""
    formatter = DisplayFormatter()
    formatter.active_types = ["text/plain", "text/html"]
    formats: dict[str, str] = formatter.format(value)[0]  # type: ignore[no-untyped-call]
    return formats


def test_data_frame_is_a_picture(queries: SparkSession) -> None:
    """What EXPLAIN SHARING returns is a data frame with its text, which notebooks show as the picture."""
    frame = queries.sql("EXPLAIN SHARING;")
    assert isinstance(frame, DataFrame)
    ((text,),) = values(frame)
    picture = sparkext.explain_sharing(queries)
    assert repr(picture) == picture.text == text
    assert shown(frame)["text/html"] == shown(picture)["text/html"]
    assert shown(picture)["text/plain"] == text
    drawing = "".join(ElementTree.fromstring(shown(frame)["text/html"]).itertext())
    assert "up" in drawing
    assert "A+ B" in drawing


def test_other_data_frames_are_as_ever(queries: SparkSession) -> None:
    for statement in ("SELECT 1 AS sharing", "SHOW TREND QUERIES", "EXPLAIN SHARING JSON", "EXPLAIN SELECT 1"):
        assert "text/html" not in shown(queries.sql(statement)), statement
    assert values(queries.sql("SELECT :a AS sharing", {"a": 7})) == [(7,)]
    assert values(queries.sql("SELECT t AS sharing FROM {frame} WHERE t > 3", frame=queries.table("e"))) == [(4,)]


def test_picture_says_that_the_plan_has_changed(queries: SparkSession) -> None:
    frame = queries.sql("EXPLAIN SHARING")
    assert "it was another" not in shown(frame)["text/html"]
    queries.sql(f"CREATE TEMP VIEW third AS {trends('B A')}")
    assert "it was another" in shown(frame)["text/html"]
    assert "third" in shown(frame)["text/html"]
    assert "third" not in values(frame)[0][0]


def test_one_query(queries: SparkSession) -> None:
    picture = sparkext.explain_sharing(queries, "pairs")
    ((text,),) = values(queries.sql("EXPLAIN SHARING FOR pairs"))
    assert picture.text == text
    assert [query.name for source_pass in read(picture.json) for query in source_pass.queries] == ["pairs"]
    assert shown(queries.sql("EXPLAIN SHARING FOR pairs"))["text/html"] == shown(picture)["text/html"]
    with pytest.raises(ParseException, match="TREND_UNKNOWN_QUERY"):
        sparkext.explain_sharing(queries, "no`pe")


def test_no_queries(spark: SparkSession) -> None:
    picture = sparkext.explain_sharing(spark)
    assert "No views of this session hold trend queries" in shown(picture)["text/html"]
    assert picture.svg == {}


def test_broken_query(queries: SparkSession) -> None:
    """A pool whose source is gone has no template, and says so."""
    queries.catalog.dropTempView("e")
    picture = sparkext.explain_sharing(queries)
    assert "could not be planned" in shown(picture)["text/html"]
    assert "could not be planned" in picture.html


def test_saved_page(queries: SparkSession, tmp_path: Path) -> None:
    picture = sparkext.explain_sharing(queries)
    picture.save(tmp_path / "plan.html")
    assert (tmp_path / "plan.html").read_text(encoding="utf-8") == picture.html
    (drawing,) = picture.svg.values()
    ElementTree.fromstring(drawing)


def test_the_picture_of_the_docs(spark: SparkSession) -> None:
    """It is of the example that stands beside it."""
    deliveries(spark)
    picture = sparkext.explain_sharing(spark)
    (text,) = picture.svg.values()
    file = ROOT / "docs" / "sharing.svg"
    if os.environ.get("SPARKEXT_UPDATE_GOLDEN"):
        file.write_text(text)
    assert text == file.read_text()


FILE = f"""
CREATE TEMP VIEW e AS SELECT * FROM VALUES ('x', 1, 'A', 1D), ('x', 2, 'B', 2D) AS r(k, t, ty, v);
CREATE TEMP VIEW up AS {trends("A+ B")};
{trends("A B")};
SELECT * FROM up;
SET spark.sparkext.optimizer = greedy;
"""


@pytest.mark.long
def test_command(tmp_path: Path) -> None:
    """A page of the queries of a file, also of one outside of views; other queries are left out."""
    file, target = tmp_path / "queries.sql", tmp_path / "plan.html"
    file.write_text(FILE)
    done = command(file, "--compare", "--html", target, "--conf", "spark.sparkext.costModel=paper", where=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{target}: 2 trend queries in 1 pass; 1 statement that only reads was left out\n"
    text = "".join(ElementTree.fromstring(target.read_text(encoding="utf-8")).itertext())
    for expected in ("Sharing plan of queries.sql", "up", "line_4", "greedy, in use", "touches", "hamlet"):
        assert expected in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.html", "queries.sql"]


@pytest.mark.long
def test_command_with_an_error(tmp_path: Path) -> None:
    """It names the file and the line, and writes nothing."""
    file, target = tmp_path / "queries.sql", tmp_path / "plan.html"
    file.write_text(FILE.replace("A B)", "A B,)"))
    done = command(file, "--html", target)
    assert done.returncode == 1
    assert f"{file}, line 4: [TREND_PATTERN_SYNTAX]" in done.stderr
    position = trends("A B,)").index(",)") + len(",")
    assert f"(line 1, position {position})" in done.stderr, done.stderr
    assert not target.exists()


def test_command_without_a_file(tmp_path: Path) -> None:
    done = command(tmp_path / "missing.sql")
    assert done.returncode == 1
    assert "missing.sql cannot be read" in done.stderr


def test_definitions(spark: SparkSession) -> None:
    """What defines is run, and a query with trends becomes a view; what only reads or shows is not run."""
    relation(spark, "e", "k, t, ty, v", ["'x', 1, 'A', 1D", "'x', 2, 'B', 2D"])
    lines = (
        f"CREATE TEMP VIEW up AS {trends('A+ B')};\nSELECT * FROM missing;\nSHOW TABLES IN missing;\n{trends('A B')}"
    )
    for statement in statements(lines):
        explain_command.define(spark, statement)
    assert sorted(row.tableName for row in spark.sql("SHOW TABLES").collect()) == ["e", "line_4", "up"]
    shown = [(row.name, row.pattern, row.state) for row in spark.sql("SHOW TREND QUERIES").collect()]
    assert sorted(shown) == [("line_4", "A B", "planned"), ("up", "A+ B", "planned")]


def command(*arguments: str | Path, where: Path | None = None) -> subprocess.CompletedProcess[str]:
    """``sparkext explain`` in a process of its own, in the directory ``where``."""
    return subprocess.run(
        [sys.executable, "-m", "sparkext", "explain", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=where,
        env=os.environ | {"PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1"},
        timeout=600,
        check=False,
    )
