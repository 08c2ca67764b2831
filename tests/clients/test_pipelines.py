"""Declarative pipelines: ``spark-pipelines`` with the jar, whose datasets have the clause."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.find_spark_home import _find_spark_home

from tests.clients.test_metastore import run
from tests.support.extension_jar import jar
from tests.support.spark_programs import variables

pytestmark = [pytest.mark.spark, pytest.mark.long]

SPEC = """
name: trends
storage: {storage}
libraries:
  - glob:
      include: transformations/**
configuration:
  spark.sql.shuffle.partitions: "2"
  spark.sparkext.stream.buckets: "2"
"""

CONF = """
spark.driver.extraClassPath {jar}
spark.sql.catalogImplementation hive
spark.sql.streaming.stateStore.providerClass org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider
spark.sparkext.python {python}
spark.ui.enabled false
"""

EVENTS = (
    "CREATE TABLE events USING parquet AS SELECT CAST(id % 7 AS INT) AS k, "
    "TIMESTAMP '2026-01-01 00:00:00' + make_interval(0, 0, 0, 0, 0, 0, id) AS ts, "
    "CASE WHEN id % 2 = 0 THEN 'A' ELSE 'B' END AS ty FROM range(1000)"
)

CLAUSE = "PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS n PATTERN (A B) WITHIN INTERVAL 60 SECONDS"

DATASETS = f"""
CREATE MATERIALIZED VIEW pairs AS SELECT * FROM events MATCH_TREND ({CLAUSE});

CREATE STREAMING TABLE running AS
SELECT * FROM STREAM events WATERMARK ts DELAY OF INTERVAL 10 SECONDS MATCH_TREND ({CLAUSE});
"""


def test_datasets_with_the_clause(tmp_path: Path) -> None:
    """A materialized view, and a streaming table whose rows are those of the view, but for windows that are open."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "transformations").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(CONF.format(jar=jar(), python=sys.executable))
    (tmp_path / "spark-pipeline.yml").write_text(SPEC.format(storage=(tmp_path / "storage").as_uri()))
    (tmp_path / "transformations" / "trends.sql").write_text(DATASETS)
    assert run(tmp_path, "plain", EVENTS) == [[]]
    ran = subprocess.run(
        [f"{_find_spark_home()}/bin/spark-pipelines", "run", "--spec", "spark-pipeline.yml"],
        cwd=tmp_path,
        env={**variables(), "SPARK_CONF_DIR": str(tmp_path / "conf"), "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    pairs, running = run(tmp_path, "plain", "SELECT * FROM pairs", "SELECT * FROM running")
    assert len(pairs) > 50
    last = max(row[2] for row in running)
    assert sorted(running) == sorted(row for row in pairs if row[2] <= last)
