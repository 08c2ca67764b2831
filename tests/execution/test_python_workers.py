"""The Python processes that Spark starts on one machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from sparkext.udfs.workers.daemon import without_archive

PROGRAM = """
from pyspark.sql import SparkSession
import sparkext

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
{before}
enabled = sparkext.enable(spark)
daemon = enabled.sparkContext._jsc.sc().conf().get("spark.python.daemon.module", "Spark's own")
enabled.udf.register("twice", lambda number: 2 * number, "LONG")
print("found", daemon, enabled.sql("SELECT twice(21)").head()[0])
"""
"""Says which module starts the workers, and that functions run in them."""


def test_pyspark_is_taken_from_where_it_is_installed(spark: SparkSession) -> None:
    """And not from the archive, of which nothing can be kept that is compiled."""

    def where(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyspark

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"file": [pyspark.__file__]})

    [row] = spark.range(0, 1, 1, 1).mapInArrow(where, "file STRING").collect()
    assert Path(row.file).is_file()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("before", "daemon"),
    {
        "spark = builder.getOrCreate()": "sparkext.udfs.workers.daemon",
        "spark = builder.config('spark.python.daemon.module', 'pyspark.daemon').getOrCreate()": "pyspark.daemon",
        "spark = builder.getOrCreate(); spark.udf.register('earlier', lambda number: number)": "Spark's own",
    }.items(),
    ids=["usual", "set by the user", "functions before"],
)
def test_what_starts_them(tmp_path: Path, before: str, daemon: str) -> None:
    program = [sys.executable, "-c", PROGRAM.format(before=before)]
    ran = subprocess.run(program, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == f"found {daemon} 42"


def test_an_archive_is_left_out_for_its_own_files_only(tmp_path: Path) -> None:
    homes = [tmp_path / name / "pyspark" for name in ("one", "other")]
    for home in homes:
        (home / "python" / "lib").mkdir(parents=True)
        (home / "__init__.py").touch()
        with ZipFile(home / "python" / "lib" / "pyspark.zip", "w") as archive:
            archive.writestr("pyspark/__init__.py", "")
    files = [str(home.parent) for home in homes]
    archives = [str(home / "python" / "lib" / "pyspark.zip") for home in homes]
    library = str(homes[0] / "python" / "lib" / "py4j-src.zip")
    assert without_archive(["", archives[0], library, files[0]]) == ["", library, files[0]]
    for kept in (
        ["", archives[0], library],
        ["", archives[1], library, files[0]],
        ["", archives[0], library, files[1], files[0]],
        [files[0]],
        [],
    ):
        assert without_archive(kept) == kept
