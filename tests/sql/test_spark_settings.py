"""The contract of the language under the settings of Spark, whatever a session or an administrator has chosen.

Settings that can only be true or false are turned round, all that there are, some at a time; of others those that
decide what is parsed, how rows reach a task, or how many of them it is given. docs/spark_settings.md has the results.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.support.sql_cases import values

CONTRACT = (
    # keys, windows that slide, sums, ends of trends
    "SELECT * FROM ev MATCH_TREND (PARTITION BY k ORDER BY t TYPE BY e MEASURES COUNT(*) AS n, SUM(B.v) AS s, "
    "MAX(B.v) + 1 AS m, SUM(LAST(v) - FIRST(v)) AS d PATTERN (A B+) WITHIN 10 SLIDE 5)",
    # the event before, an odd name, a text that is compared
    "SELECT * FROM ev MATCH_TREND (PARTITION BY k ORDER BY t TYPE BY e MEASURES COUNT(*) AS n PATTERN (A B+) "
    "DEFINE B AS v > PREV(v) AND `odd name` >= PREV(`odd name`) AND k = PREV(k))",
    # no key, a part of a relation, NOT, a timestamp
    "SELECT n FROM (SELECT * FROM ev WHERE v > 0) AS x MATCH_TREND (ORDER BY ts TYPE BY upper(e) "
    "MEASURES COUNT(*) AS n PATTERN (A NOT C B) WITHIN INTERVAL 1 DAY)",
    # groups above keys, a span, an extreme that is a timestamp
    "SELECT * FROM ev MATCH_TREND (PARTITION BY k GROUP BY v < 9 AS low ORDER BY ts TYPE BY e "
    "MEASURES COUNT(A) AS n, MIN(unix_seconds(A.ts)) AS m PATTERN (A+ B) SPAN INTERVAL 1 HOUR)",
    # an earlier event
    "SELECT * FROM ev MATCH_TREND (PARTITION BY k ORDER BY t TYPE BY e MEASURES COUNT(*) AS n PATTERN (A C* B) "
    "DEFINE B AS B.v > A.v)",
    # times without a zone, how long trends take
    "SELECT * FROM (SELECT *, TIMESTAMP_NTZ'2026-01-01 00:00:00' + make_dt_interval(0, 0, t) AS at FROM ev) "
    "MATCH_TREND (PARTITION BY k ORDER BY at TYPE BY e MEASURES COUNT(*) AS n, MAX(LAST(at) - FIRST(at)) AS d "
    "PATTERN (A B+) WITHIN INTERVAL 10 MINUTES SLIDE INTERVAL 5 MINUTES)",
    # a table of files, in partitions
    "SELECT * FROM kept_files MATCH_TREND (PARTITION BY k ORDER BY t TYPE BY e MEASURES COUNT(*) AS n PATTERN (A B))",
)

ALONE = frozenset(
    (
        "spark.sql.ansi.enabled",
        "spark.sql.caseSensitive",
        "spark.sql.execution.arrow.useLargeVarTypes",
        "spark.sql.legacy.inlineCTEInCommands",
        "spark.sql.legacy.storeAnalyzedPlanForView",
        "spark.sql.optimizer.disableHints",
        "spark.sql.parser.quotedRegexColumnNames",
        "spark.sql.ansi.enforceReservedKeywords",
    )
)
"""Settings that are turned round by themselves."""

NOT_TRIED = {
    "spark.sql.analyzer.singlePassResolver": "another analyzer, of which Spark says that it is not complete",
    "spark.sql.runSQLOnFiles": "nothing of a clause",
    "spark.sql.scripting.enabled": "nothing of a clause",
    "spark.sql.streaming.unsupportedOperationCheck": "nothing of a batch",
    "spark.sql.planChangeValidation": "checks of Spark's own rules, which some of them do not pass",
}
"""Beginnings of settings that stay as they are, and why."""

CHOSEN = (
    ("spark.sql.execution.arrow.maxRecordsPerBatch", "1"),
    ("spark.sql.execution.arrow.maxRecordsPerBatch", "0"),
    ("spark.sql.execution.arrow.maxRecordsPerBatch", "-1"),
    ("spark.sql.execution.arrow.maxBytesPerBatch", "1"),
    ("spark.sql.shuffle.partitions", "1"),
    ("spark.sql.shuffle.partitions", "7"),
    ("spark.sql.files.maxPartitionBytes", "1"),
    ("spark.sql.leafNodeDefaultParallelism", "5"),
    ("spark.sql.adaptive.advisoryPartitionSizeInBytes", "1"),
    ("spark.sql.codegen.factoryMode", "NO_CODEGEN"),
    ("spark.sql.codegen.hugeMethodLimit", "1"),
    ("spark.sql.codegen.maxFields", "1"),
    ("spark.sql.timestampType", "TIMESTAMP_NTZ"),
    ("spark.sql.storeAssignmentPolicy", "STRICT"),
    ("spark.sql.mapKeyDedupPolicy", "LAST_WIN"),
    ("spark.sql.error.messageFormat", "MINIMAL"),
    ("spark.sql.session.timeZone", "Asia/Kathmandu"),
    ("spark.sql.sources.useV1SourceList", ""),
    ("spark.sql.maxMetadataStringLength", "10"),
    ("spark.sql.debug.maxToStringFields", "1"),
    ("spark.sql.maxPlanStringLength", "100"),
    ("spark.sql.autoBroadcastJoinThreshold", "-1"),
    ("spark.sql.optimizer.maxIterations", "2"),
    ("spark.sql.defaultCacheStorageLevel", "DISK_ONLY"),
    ("spark.sql.ui.explainMode", "extended"),
    ("spark.sql.sortMergeJoinExec.buffer.in.memory.threshold", "1"),
    (
        "spark.sql.optimizer.excludedRules",
        "org.apache.spark.sql.catalyst.optimizer.PushDownPredicates,"
        "org.apache.spark.sql.catalyst.optimizer.ColumnPruning,"
        "org.apache.spark.sql.catalyst.optimizer.CollapseProject,"
        "org.apache.spark.sql.catalyst.optimizer.ConstantFolding",
    ),
)
"""Settings that are neither true nor false, with values that they usually do not have."""


@pytest.fixture(scope="module")
def tried(spark_session: SparkSession) -> Iterator[SparkSession]:
    """The session with a relation, a table of it, and what settings are is known."""
    rows = [("x" if i % 3 else "yö", i, "ABC"[(i * i + i // 2 + i // 5) % 3], i * 5 % 7, i // 4) for i in range(30)]
    frame = spark_session.createDataFrame(rows, "k STRING, t INT, e STRING, v INT, o INT").repartition(3)
    frame = frame.selectExpr("k", "t", "e", "v", "o AS `odd name`", "timestamp_seconds(t * 600) AS ts")
    frame.createOrReplaceGlobalTempView("settings_ev")
    frame.select("t", "e", "v", "k").write.mode("overwrite").partitionBy("k").saveAsTable("kept_files")
    yield spark_session
    spark_session.catalog.dropGlobalTempView("settings_ev")
    spark_session.sql("DROP TABLE kept_files")


def contract(spark: SparkSession) -> list[object]:
    """What the statements of the contract give: by themselves, as two views of a pool, and written to a table."""
    rows: list[object] = [values(spark.sql(text)) for text in CONTRACT]
    for name, text in zip(("one", "two"), CONTRACT, strict=False):
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {text}")
    rows.append([values(spark.table(name)) for name in ("one", "two", "one")])
    spark.sql("DROP TABLE IF EXISTS made_of_trends")
    spark.sql(f"CREATE TABLE made_of_trends USING parquet AS {CONTRACT[0]}")
    rows.append(values(spark.table("made_of_trends")))
    spark.sql("DROP TABLE made_of_trends")
    spark.sql("REFRESH SHARING")
    return rows


def switches(spark: SparkSession) -> list[tuple[str, str]]:
    """All settings of a session that are true or false, each with the other of the two."""
    jvm = spark._jvm
    assert jvm is not None
    entries = getattr(getattr(jvm, "org.apache.spark.sql.internal.SQLConf$"), "MODULE$").getConfigEntries().iterator()
    confs: list[tuple[str, str]] = []
    while entries.hasNext():
        name = str(entries.next().key())
        try:
            value = spark.conf.get(name) if spark.conf.isModifiable(name) else None
        except PySparkException:  # it has no value
            value = None
        if value in ("true", "false") and not name.startswith(tuple(NOT_TRIED)):
            confs.append((name, "false" if value == "true" else "true"))
    return sorted(confs)


def check(spark: SparkSession, changed: list[tuple[str, str]], wanted: list[object]) -> list[str]:
    """Settings of ``changed`` under which the contract does not hold; each is tried by itself if they fail together."""
    taken: list[str] = []
    try:
        for name, value in changed:
            spark.conf.set(name, value)
            taken.append(name)
        try:
            is_right = contract(spark) == wanted
        except Exception:
            is_right = False
    finally:
        for name in taken:
            spark.conf.unset(name)
    if is_right:
        return []
    if len(changed) == 1:
        return [changed[0][0]]
    half = len(changed) // 2
    apart = [*check(spark, changed[:half], wanted), *check(spark, changed[half:], wanted)]
    return apart or [" with ".join(name for name, _ in changed)]


@pytest.mark.long
@pytest.mark.usefixtures("tried")
def test_the_contract_holds(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TEMP VIEW ev AS SELECT * FROM global_temp.settings_ev")
    wanted = contract(spark)
    assert all(wanted)
    confs = switches(spark)
    assert len(confs) > 300
    alone = [[conf] for conf in confs if conf[0] in ALONE]
    rest = [conf for conf in confs if conf[0] not in ALONE]
    groups = [rest[at : at + 24] for at in range(0, len(rest), 24)]
    chosen = [[conf] for conf in CHOSEN]
    assert [name for group in (*alone, *groups, *chosen) for name in check(spark, group, wanted)] == []


@pytest.mark.usefixtures("tried")
def test_some_of_them(spark: SparkSession) -> None:
    """Those by which sparkext's own texts would mean something else, or nothing."""
    spark.sql("CREATE OR REPLACE TEMP VIEW ev AS SELECT * FROM global_temp.settings_ev")
    wanted = contract(spark)
    some = (
        "optimizer.disableHints",
        "parser.quotedRegexColumnNames",
        "ansi.enforceReservedKeywords",
        "legacy.interval.enabled",
    )
    changed = [*((f"spark.sql.{name_of_conf}", "true") for name_of_conf in some), CHOSEN[1]]
    assert [name for conf in changed for name in check(spark, [conf], wanted)] == []
