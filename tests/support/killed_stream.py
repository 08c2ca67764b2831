"""A program that runs a stream, for tests that kill it: ``python -m tests.support.killed_stream FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.live import Feed, able_to_stream
from tests.support.sql_harness import start_session

CLAUSE = (
    "PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS n, SUM(B.v) AS s PATTERN (A B+ C) "
    "WITHIN INTERVAL 60 SECONDS SLIDE INTERVAL 20 SECONDS"
)


def main(folder: Path) -> None:
    """Write the rows of all files to files, and a line for each micro-batch."""
    spark = start_session()
    with able_to_stream(spark):
        Feed(spark, folder).stream().createOrReplaceTempView("ev")
        rows = spark.sql(f"SELECT * FROM ev MATCH_TREND ({CLAUSE})")
        writer = rows.writeStream.option("checkpointLocation", str(folder / "ck")).trigger(availableNow=True)
        query = writer.format("parquet").start(str(folder / "out"))
        while not query.awaitTermination(1):
            print("batch", query.lastProgress and query.lastProgress.batchId, flush=True)
    print("done", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
