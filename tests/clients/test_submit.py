"""The options of Spark's programs: which are for ``spark-submit``, and what cannot be asked for."""

from __future__ import annotations

import sys

import pytest
from pyspark.sql import SparkSession

from sparkext.cli.main import main
from sparkext.cli.submit import (
    CONNECT_SERVER,
    SCRIPT,
    SPARK_SQL,
    SWITCHES,
    THRIFT_SERVER,
    WITH_VALUE,
    Program,
    environment,
    spark_submit,
    split,
)


def test_options_are_split_in_any_order() -> None:
    options = "-e SELECT\n1 --master local[2] -S --conf=a=b --conf c=d=e -v --hiveconf x=y --database d --supervise"
    own_options, spark_options = split(options.split(" "))
    assert own_options == [
        ("--master", "local[2]"),
        ("--conf", "a=b"),
        ("--conf", "c=d=e"),
        ("-v",),
        ("--supervise",),
    ]
    assert spark_options == ["-e", "SELECT\n1", "-S", "--hiveconf", "x=y", "--database", "d"]


def test_the_program_is_given_what_is_its_own() -> None:
    command = spark_submit(SPARK_SQL, ["--verbose", "-f", "a.sql", "--name", "mine"])
    at = command.index(str(SCRIPT))
    assert command[at:] == [str(SCRIPT), "spark-sql", "--verbose", "--", "-f", "a.sql"]
    assert f"spark.pyspark.driver.python={sys.executable}" in command[:at]
    assert command[at - 3 : at] == ["--verbose", "--name", "mine"], "what the user says comes last, so that it counts"


def test_what_is_shipped_is_found_by_the_sessions_of_the_program() -> None:
    isolation = "spark.sql.artifact.isolation.enabled=false"
    assert isolation in spark_submit(THRIFT_SERVER, ["--py-files", "sparkext.zip"])
    assert isolation in spark_submit(THRIFT_SERVER, ["--py-files=sparkext.zip"])
    assert isolation not in spark_submit(THRIFT_SERVER, ["--jars", "some.jar"])


@pytest.mark.parametrize(
    ("program", "options", "given", "python"),
    [
        (CONNECT_SERVER, ["--master", "local[2]"], {}, sys.executable),
        (CONNECT_SERVER, ["--master=local[2]"], {"PYSPARK_PYTHON": "another"}, "another"),
        (CONNECT_SERVER, ["--master", "local[2]"], {"PYSPARK_DRIVER_PYTHON": "another"}, None),
        (CONNECT_SERVER, ["--master", "yarn"], {}, None),
        (THRIFT_SERVER, ["--master", "local[2]"], {}, None),
    ],
)
def test_functions_of_connects_clients_run_in_this_python(
    program: Program, options: list[str], given: dict[str, str], python: str | None
) -> None:
    assert environment(program, options, given, "/spark").get("PYSPARK_PYTHON") == python


def test_questions_are_answered_by_spark() -> None:
    assert spark_submit(THRIFT_SERVER, ["--help"]) == ["--class", THRIFT_SERVER.main_class, "--help"]


@pytest.mark.parametrize("program", ["spark-sql", "thriftserver"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--master"], "a value is missing after '--master'"),
        (["--deploy-mode", "cluster"], "cannot be 'cluster'"),
        (["--conf", "spark.submit.deployMode=cluster"], "cannot be 'cluster'"),
        (["--remote=sc://localhost"], "Spark Connect has none"),
        (["--class", "org.example.Main"], "--class is for spark-submit"),
    ],
)
def test_what_cannot_be_is_refused(
    program: str, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([program, *options]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"sparkext {program}: ")
    assert said in error
    assert error.count("\n") == 1


def test_the_options_are_those_of_this_spark(spark: SparkSession) -> None:
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    kind = jvm.java.lang.Class.forName("org.apache.spark.launcher.SparkSubmitOptionParser")
    parser_of = kind.getDeclaredConstructor(None)
    parser_of.setAccessible(True)
    parser = parser_of.newInstance(None)
    for name, expected in (("opts", WITH_VALUE), ("switches", SWITCHES)):
        field = kind.getDeclaredField(name)
        field.setAccessible(True)
        spark_options = {str(option) for options in field.get(parser) for option in options}
        assert spark_options <= expected, f"Spark has options that we do not know: {spark_options - expected}"
