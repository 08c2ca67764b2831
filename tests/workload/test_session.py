"""The enabled session: what it has of the given one, and that Spark is otherwise as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkNotImplementedError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect.dataframe import DataFrame as ConnectFrame
from pyspark.sql.connect.session import SparkSession as ConnectSession

import sparkext
from sparkext.session import parsers_of
from tests.support.sql_cases import fails, stream, trends, values
from tests.support.tiers import every

ROOT = Path(__file__).parents[2]


def test_enable_is_idempotent(spark: SparkSession) -> None:
    assert sparkext.enable(spark) is spark


def test_sessions_of_spark_connect_are_refused() -> None:
    """By each function that takes one: they have no JVM to extend."""
    session = ConnectSession.__new__(ConnectSession)
    frame = ConnectFrame.__new__(ConnectFrame)
    frame._session = session
    with pytest.raises(PySparkNotImplementedError, match="sparkext with Spark Connect"):
        sparkext.enable(session)  # type: ignore[arg-type]
    with pytest.raises(PySparkNotImplementedError, match="sparkext with Spark Connect"):
        sparkext.explain_sharing(session)  # type: ignore[arg-type]
    with pytest.raises(PySparkNotImplementedError, match="sparkext with Spark Connect"):
        sparkext.match_trend(frame, pattern="A", order_by="t", type_by="ty", measures={"n": "COUNT(*)"})


def test_switching_off_and_on_again(spark: SparkSession) -> None:
    """Off, the session is Spark's own: no trend views, nothing kept, and the clause is a syntax error."""
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A B')}")
    spark.sql(f"CREATE TEMP VIEW w AS {trends('A')}")
    assert values(spark.table("v")) == [("x", 1)]
    [parser] = parsers_of(spark)
    [run] = {query.run for query in parser.workload.queries()}
    assert run is not None
    assert run.is_computed()
    sparkext.disable(spark)
    sparkext.disable(spark)
    try:
        assert not run.is_computed()
        assert [table.name for table in spark.catalog.listTables()] == ["e"]
        fails(spark, trends("A B"), "PARSE_SYNTAX_ERROR")
        assert values(spark.sql("SELECT count(*) FROM e WHERE ty = :ty", {"ty": "A"})) == [(1,)]
    finally:
        assert sparkext.enable(spark) is spark
    assert values(spark.sql(trends("A B"))) == [("x", 1)]


def test_tables_that_the_user_keeps_are_not_touched(spark: SparkSession) -> None:
    """Neither when results are dropped, nor when a view that reads the table goes, nor when all is switched off."""
    stream(spark, {"x": "a1 b2"})
    spark.sql("CACHE TABLE e")
    for number in range(2):
        spark.sql(f"CREATE TEMP VIEW v{number} AS {trends('A B', f'COUNT(*) + {number} AS n')}")
    assert values(spark.table("v1")) == [("x", 2)]
    spark.sql("REFRESH SHARING")
    assert spark.catalog.isCached("e")
    spark.sql("DROP VIEW v0")
    sparkext.disable(spark)
    sparkext.enable(spark)
    assert spark.catalog.isCached("e")
    spark.sql("UNCACHE TABLE e")


def test_spark_gives_the_enabled_session_to_whoever_asks(spark: SparkSession) -> None:
    sparkext.enable(spark)
    assert SparkSession.getActiveSession() is spark
    assert SparkSession.builder.getOrCreate() is spark
    stream(spark, {"x": "a1 b2"})
    frame: DataFrame = spark.table("e")
    assert values(frame.sparkSession.sql(trends("A B"))) == [("x", 1)]


def test_other_sessions_are_enabled_with_what_they_have(spark: SparkSession) -> None:
    """Temporary views, settings and functions come along; what is made later stays apart."""
    given = spark.newSession()
    given.sql("CREATE TEMP VIEW numbers AS SELECT 'x' AS k, id AS t, 'A' AS ty FROM range(3)")
    given.udf.register("plus_one", lambda number: number + 1, "bigint")
    given.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        enabled = sparkext.enable(given)
        assert enabled is not spark
        assert sparkext.enable(given) is enabled
        assert enabled.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
        assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
        assert values(
            enabled.sql(trends("A+", "COUNT(*) AS n", "DEFINE A AS plus_one(A.t) > 1", source="numbers"))
        ) == [("x", 3)]
        given.sql("CREATE TEMP VIEW later AS SELECT 1")
        assert not enabled.catalog.tableExists("later")
    finally:
        SparkSession._instantiatedSession = SparkSession._activeSession = spark
        sessions = spark.sparkContext._jvm.org.apache.spark.sql.classic.SparkSession  # type: ignore[union-attr]
        sessions.setDefaultSession(spark._jsparkSession)
        sessions.setActiveSession(spark._jsparkSession)


def test_new_sessions_understand_the_clause_and_have_their_own_workload(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW mine AS {trends('A B')}")
    new_session = spark.newSession()
    assert values(new_session.sql("SHOW TREND QUERIES")) == []
    assert sparkext.explain_sharing(new_session).text.endswith(
        "No views of this session hold trend queries; queries outside of views are not listed."
    )
    assert not new_session.catalog.tableExists("mine")
    stream(new_session, {"x": "a1 b2 b3"})
    new_session.sql(f"CREATE TEMP VIEW mine AS {trends('A B')}")
    assert values(new_session.table("mine")) == [("x", 2)]
    assert values(spark.table("mine")) == [("x", 1)]
    assert [len(values(session.sql("SHOW TREND QUERIES"))) for session in (spark, new_session)] == [1, 1]


WRONG = [
    "SELEC 1",
    "SELECT\n  zz FROM range(3)",
    "SELECT * FROM nowhere.to_be_found",
    "SELECT 1 +",
    "SELECT 'never closed",
    "SELECT MATCH_TREND",
    "SHOW TREND",
    "REFRESH",
    "CREATE TEMP VIEW broken AS SELECT nope",
    "SELECT assert_true(id > 5) FROM range(3) WHERE zz",
    "",
    "/* only a comment */",
    "SELECT * FROM range(3) MATCH_RECOGNIZE (PATTERN (A))",
]


@pytest.mark.parametrize("statement", every(3, WRONG))
def test_errors_of_plain_statements_are_those_of_spark(
    spark: SparkSession, plain: SparkSession, statement: str
) -> None:
    seen = []
    for session in (spark, plain):
        with pytest.raises(AnalysisException) as caught:
            session.sql(statement)
        error = caught.value
        contexts = [(c.startIndex(), c.stopIndex(), c.fragment()) for c in error.getQueryContext()]
        text = str(error).split("\n'", 1)[0]
        seen.append(
            (type(error), error.getCondition(), error.getSqlState(), error.getMessageParameters(), text, contexts)
        )
    assert seen[0] == seen[1]


@pytest.mark.parametrize("statement", ["SELECT :named", "SELECT *\nFROM range(?)"])
def test_parameters_without_a_value(spark: SparkSession, plain: SparkSession, statement: str) -> None:
    seen = []
    for session in (spark, plain):
        with pytest.raises(AnalysisException) as caught:
            session.sql(statement)
        error = caught.value
        seen.append((error.getCondition(), error.getSqlState(), error.getMessageParameters()))
    assert seen[0] == seen[1]


UNTOUCHED = [
    "SELECT  1  AS  `a  b` -- MATCH_TREND (\n , /* MATCH_TREND (x */ 'MATCH_TREND (PATTERN (A))' AS s",
    "SELECT /*+ COALESCE(1) */ id,\tid AS match_trend FROM range(2)",
    "select 'a' 'b' as `MATCH_TREND (`, \"two\" as d",
    "SELECT r'\\n' AS raw, '\\n' AS escaped, 'é😀' AS wide FROM range(1) AS match_trend",
]


@pytest.mark.parametrize("statement", UNTOUCHED)
def test_other_statements_reach_spark_byte_for_byte(spark: SparkSession, plain: SparkSession, statement: str) -> None:
    assert spark.sql(statement).collect() == plain.sql(statement).collect()
    assert spark.sql(statement).columns == plain.sql(statement).columns
    spark.sql(f"CREATE TEMP VIEW kept AS {statement}")
    view = spark._jsparkSession.sessionState().catalog().getRawTempView("kept").get()
    assert view.tableMeta().viewText().get() == statement


def test_statements_without_a_query_work(spark: SparkSession) -> None:
    assert spark.sql("SET spark.sparkext.cache=off").collect()[0].value == "off"
    spark.sql("USE default")
    spark.sql("CREATE OR REPLACE TEMP VIEW one AS SELECT 1 AS a;")
    assert spark.sql("DESCRIBE one").collect()[0].col_name == "a"
    assert spark.sql("EXPLAIN SELECT a FROM one").collect()[0][0].startswith("== Physical Plan ==")
    assert spark.range(3).selectExpr("id + 1 AS n").where("n > 2").collect()[0].n == 3


def test_errors_on_their_way_are_not_logged(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    for statement in ("SELEC 1", "SELECT * FROM range(1) MATCH_TREND (PATTERN (A))"):
        with pytest.raises(AnalysisException):
            spark.sql(statement)
    assert not [record for record in caplog.records if record.name.startswith(("py4j", "sparkext"))]


OWN_MODULES = """
import planner, udfs
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
import sparkext

plain = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark = sparkext.enable(plain)
for name in ("planner", "udfs"):
    spark.sparkContext.addPyFile(f"{name}.py")
spark.udf.register("own", udf(lambda t: __import__("udfs").OWN + __import__("planner").OWN + t, "int"))
spark.sql("CREATE TEMP VIEW e AS SELECT * FROM VALUES (1, 'A'), (2, 'B'), (3, 'B') AS r(t, ty)")
clause = "MATCH_TREND (ORDER BY t TYPE BY ty MEASURES COUNT(*) AS n PATTERN (A B+) DEFINE B AS own(t) > 0)"
print(spark.sql(f"SELECT own(CAST(n AS INT)) AS n FROM (SELECT * FROM e {clause})").head().n, udfs.OWN, planner.OWN)
"""
"""A program beside which there are modules with the names of two of our folders."""


@pytest.mark.long
def test_users_may_have_modules_of_their_own_called_planner_and_udfs(tmp_path: Path) -> None:
    """On the driver, and on workers, to which they are shipped."""
    (tmp_path / "planner.py").write_text("OWN = 100\n")
    (tmp_path / "udfs.py").write_text("OWN = 20\n")
    (tmp_path / "program.py").write_text(OWN_MODULES)
    ran = subprocess.run(
        [sys.executable, "program.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["123", "20", "100"]
