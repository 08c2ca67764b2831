"""Names that users give stay on the line of the log that they are named in."""

from __future__ import annotations

import logging

import pytest
from pyspark.sql import SparkSession

from sparkext.execution import waiting
from sparkext.sql.quoting import one_line
from tests.support.sql_cases import relation, trends, values

FORGED = "x\n00:00:00 ERROR all is lost\x1b[2J"


def test_names_do_not_forge_lines(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(waiting, "_told", set())
    caplog.set_level(logging.INFO, "sparkext")
    relation(spark, "e", "k, t, ty", ["'x', 1, 'A'", "'x', 2, 'B'"])
    spark.sql(f"CREATE TEMP VIEW `{FORGED}` AS {trends(f'A `{FORGED}`')}")
    spark.sql(f"CREATE TEMP VIEW other AS {trends('A B')}")
    spark.sql(f"CREATE TEMP VIEW constant AS {trends('A', keys=f'''ORDER BY t TYPE BY '{FORGED}' ''')}")
    assert values(spark.table(f"`{FORGED}`")) == []
    relation(spark, "e", "t, k, ty, v", ["1, 'x', 'A', 1"])
    spark.table(f"`{FORGED}`").collect()
    told = "\n".join(caplog.messages)
    assert "all is lost" in told
    assert "\n00:00:00 ERROR" not in told
    assert "\x1b" not in told
    assert "no event of the source has the type x\\n00:00:00 ERROR" in told


def test_what_is_escaped() -> None:
    assert one_line("Grüße, 東京") == "Grüße, 東京"
    assert one_line("a\r\nb\u2028c\x07") == "a\\r\\nb\\u2028c\\x07"
