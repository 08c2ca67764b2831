"""The Python processes that Spark starts on one machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import SparkSession

from sparkext.jvm.gateway import items
from sparkext.jvm.plans import kind_of
from sparkext.udfs.workers.path.sitecustomize import without_archive
from tests.support.live import able_to_stream
from tests.support.spark_programs import ROOT, put_modules_that_end_python

PROGRAM = """
from pyspark.sql import SparkSession
import sparkext

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
{before}
enabled = sparkext.enable(spark)
enabled.udf.register("twice", lambda number: 2 * number, "LONG")
print("found", enabled.sql("SELECT twice(21)").head()[0])
"""
"""Says that functions run in workers."""


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
    "before",
    [
        "spark = builder.getOrCreate()",
        "spark = builder.config('spark.python.daemon.module', 'pyspark.daemon').getOrCreate()",
        "spark = builder.getOrCreate(); spark.udf.register('earlier', lambda number: number)",
    ],
    ids=["usual", "set by the user", "functions before"],
)
def test_what_starts_them(tmp_path: Path, before: str) -> None:
    program = [sys.executable, "-c", PROGRAM.format(before=before)]
    ran = subprocess.run(program, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == "found 42"


def test_a_safe_path(tmp_path: Path) -> None:
    """What ``PYTHONSAFEPATH`` means to Python 3.11 it means to workers of any; without it all is as ever."""
    put_modules_that_end_python(tmp_path)
    ours = [str(ROOT / "udfs" / "workers" / "path"), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-m", "pyspark.serializers"]
    for safe, status in (("1", 0), ("", 3)):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(ours), "PYTHONSAFEPATH": safe}
        assert subprocess.run(command, env=environment, cwd=tmp_path).returncode == status


def printed(code: str, *paths: str) -> str:
    """What a Python prints that Spark starts, with the path that it has from Spark."""
    home = Path(pyspark.__file__).parent / "python" / "lib"
    archives = [str(home / "pyspark.zip"), *map(str, home.glob("py4j-*.zip"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*archives, *paths])}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def path_of_a_stream(spark: SparkSession) -> list[str]:
    """The path that Spark gives to the process that it starts for an operator, behind its own."""
    clause = "ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS n PATTERN (A B) WITHIN INTERVAL 1 MINUTE"
    with able_to_stream(spark):
        rates = spark.readStream.format("rate").load().selectExpr("timestamp AS ts", "'A' AS ty")
        rates.withWatermark("ts", "1 second").createOrReplaceTempView("rates")
        plan = spark.sql(f"SELECT * FROM rates MATCH_TREND ({clause})")._jdf.queryExecution().analyzed()
    while kind_of(plan) != "TransformWithStateInPySpark":
        plan = items(plan.children())[0]
    return str(plan.functionExpr().func().envVars()["PYTHONPATH"]).split(os.pathsep)


def test_the_process_of_a_stream_has_no_archive(spark: SparkSession, tmp_path: Path) -> None:
    """And whatever else Python does when it starts is done."""
    ours = path_of_a_stream(spark)
    file = "import pyspark; print(pyspark.__file__)"
    assert "pyspark.zip" in printed(file)
    assert printed(file, *ours).strip() == pyspark.__file__
    (tmp_path / "sitecustomize.py").write_text(f"{file}; ran = True")
    said = printed("import sitecustomize; print(sitecustomize.ran)", *ours, str(tmp_path))
    assert said.splitlines() == [pyspark.__file__, "True"]


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
