"""The fallback in a session: a source that is large enough for trials, with statistics that make linear forms."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from sparkext.cli.explain_command import define
from sparkext.cli.sql_file import statements
from tests.support.sql_cases import EXAMPLES, settings

EVENTS = 120_000

SOURCE = f"""
CREATE OR REPLACE TEMP VIEW deliveries AS
SELECT
  id DIV 100 AS courier,
  id DIV 100 % 3 AS district,
  timestamp_seconds(id % 100 * 20) AS at,
  element_at(array('Pickup', 'Travel', 'Travel', 'Request', 'Delivery', 'Cancel'), 1 + (hash(id) & 7) % 6) AS action,
  id % 7 AS minutes,
  id % 11 AS speed
FROM range({EVENTS})
"""


@pytest.mark.long
def test_a_trial_changes_no_result(spark: SparkSession) -> None:
    everything = statements((EXAMPLES / "deliveries.sql").read_text())
    views = [statement for statement in everything if statement.has_trends]
    names = [view.sql.split("VIEW ")[1].split()[0] for view in views]
    given = '{"Request": 1, "Pickup": 200, "Travel": 400, "Delivery": 1, "Cancel": 1}'
    by_setting = {}
    for optimizer in ("gloria", "none"):
        wanted = {"optimizer": optimizer, "statistics": given, "partitions": "1"}
        with settings(spark, **{f"spark.sparkext.{name}": value for name, value in wanted.items()}):
            spark.sql(SOURCE)
            for view in views:
                define(spark, view)
            by_setting[optimizer] = {name: sorted(map(tuple, spark.table(name).collect())) for name in names}
            text = str(spark.sql("EXPLAIN SHARING").collect())
            assert ("Fallback: " in text) is (optimizer == "gloria"), text
            for name in names:
                spark.catalog.dropTempView(name)
    assert by_setting["gloria"] == by_setting["none"]
    assert all(by_setting["none"].values())
