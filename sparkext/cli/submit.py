"""Spark's own programs for people who write SQL, started with the extension in them.

``sparkext spark-sql``, ``sparkext thriftserver`` and ``sparkext connect-server`` become ``spark-submit``, which runs
`sparkext.cli.under_spark`:

    terminal → JVM (spark-submit) → Python (this package) → the program's ``main``, in that JVM

So the JVM has the terminal, the signals and the exit status, as it has with Spark's own scripts, and Python is
its child. When either ends, so does the other.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from pyspark.find_spark_home import _find_spark_home

SCRIPT = Path(__file__).with_name("under_spark.py")
"""What ``spark-submit`` runs."""

WITH_VALUE = frozenset(
    (
        "--archives",
        "--class",
        "--conf",
        "-c",
        "--deploy-mode",
        "--driver-class-path",
        "--driver-cores",
        "--driver-default-class-path",
        "--driver-java-options",
        "--driver-library-path",
        "--driver-memory",
        "--exclude-packages",
        "--executor-cores",
        "--executor-memory",
        "--extra-properties-file",
        "--files",
        "--jars",
        "--keytab",
        "--kill",
        "--master",
        "--name",
        "--num-executors",
        "--packages",
        "--principal",
        "--properties-file",
        "--proxy-user",
        "--py-files",
        "--queue",
        "--remote",
        "--repositories",
        "--status",
        "--total-executor-cores",
    )
)
"""Options of ``spark-submit`` that are followed by a value."""

SWITCHES = frozenset(
    ("--help", "-h", "--load-spark-defaults", "--supervise", "--usage-error", "--verbose", "-v", "--version")
)
"""Options of ``spark-submit`` that are not."""

_ASKS_ABOUT_SPARK = frozenset(("--help", "-h", "--usage-error", "--version"))
_SHIPS_PYTHON = frozenset(("--py-files",))
_ONE_DIRECTORY_FOR_FILES = "spark.sql.artifact.isolation.enabled=false"
"""Spark's programs give each session a directory of its own on executors, where Python then looks for what has
been shipped, and where it is not."""

_A_DIRECTORY_FOR_EACH_CLIENT = "spark.sql.artifact.isolation.enabled=true"
"""What one client of Spark Connect ships must not be in the way of another's."""

_NAMES_PYTHON = frozenset(("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"))

_VERBOSE = frozenset(("--verbose", "-v"))


class OptionError(Exception):
    """Options that cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Program:
    """One of Spark's programs.

    Attributes:
        name: Of the command.
        main_class: Its class in the JVM.
        help: What it does, in one line.
        usage: What stands in the first line of Spark's help.
    """

    name: str
    main_class: str
    help: str
    usage: str


SPARK_SQL = Program(
    "spark-sql",
    "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver",
    "Spark's spark-sql prompt with MATCH_TREND; takes the options of spark-sql",
    "Usage: sparkext spark-sql [options] [cli option]",
)
THRIFT_SERVER = Program(
    "thriftserver",
    "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2",
    "Spark's JDBC and ODBC server with MATCH_TREND; takes the options of start-thriftserver.sh",
    "Usage: sparkext thriftserver [options] [thrift server options]",
)
CONNECT_SERVER = Program(
    "connect-server",
    "org.apache.spark.sql.connect.service.SparkConnectServer",
    "Spark Connect's server with MATCH_TREND; takes the options of start-connect-server.sh",
    "Usage: sparkext connect-server [options]",
)
PROGRAMS = {program.name: program for program in (SPARK_SQL, THRIFT_SERVER, CONNECT_SERVER)}


def run(program: Program, options: Sequence[str]) -> int:
    """Become the program. Returns, with an exit status, only when that is not possible."""
    try:
        command = spark_submit(program, options)
    except OptionError as error:
        print(f"sparkext {program.name}: {error}", file=sys.stderr)
        return 1
    home = _find_spark_home()
    executable = os.path.join(home, "bin", "spark-submit")
    return _become([executable, *command], environment(program, options, os.environ, home))


def spark_submit(program: Program, options: Sequence[str]) -> list[str]:
    """The arguments for ``spark-submit``.

    Args:
        program: To run.
        options: Those of ``spark-submit`` and those of the program, in any order, as Spark's own scripts take them.

    Raises:
        OptionError: An option makes no sense here.
    """
    ours, theirs = split(options)
    _check(ours)
    names = {option for option, *_ in ours}
    if names & _ASKS_ABOUT_SPARK:
        return ["--class", program.main_class, *options]
    defaults = [
        *("--deploy-mode", "client"),
        *("--conf", "spark.api.mode=classic"),
        *("--conf", f"spark.pyspark.driver.python={sys.executable}"),
    ]
    if names & _SHIPS_PYTHON:
        defaults += ["--conf", _ONE_DIRECTORY_FOR_FILES]
    elif program is CONNECT_SERVER:
        defaults += ["--conf", _A_DIRECTORY_FOR_EACH_CLIENT]
    verbose = ["--verbose"] if names & _VERBOSE else []
    given = [part for option in ours for part in option]
    return [*defaults, *given, str(SCRIPT), program.name, *verbose, "--", *theirs]


def split(options: Sequence[str]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Options of ``spark-submit``, each with its value, and all others in their order.

    Raises:
        OptionError: The value of an option is missing.
    """
    ours: list[tuple[str, ...]] = []
    theirs: list[str] = []
    todo = iter(options)
    for option in todo:
        name, equals, value = option.partition("=")
        if name in WITH_VALUE and name.startswith("--") and equals and value:
            ours.append((name, value))
        elif option in WITH_VALUE:
            following = next(todo, None)
            if following is None:
                raise OptionError(f"a value is missing after '{option}'")
            ours.append((option, following))
        elif option in SWITCHES:
            ours.append((option,))
        else:
            theirs.append(option)
    return ours, theirs


def environment(program: Program, options: Sequence[str], given: Mapping[str, str], home: str) -> dict[str, str]:
    """Environment for ``spark-submit``.

    Functions of Connect's clients run in the Python that a variable names, or in the ``python3`` of PATH, whatever the
    settings say: on one machine, let them run in this one, as clauses do.

    Args:
        program: To run.
        options: As of `spark_submit`.
        given: The environment as it is.
        home: Where Spark is.
    """
    variables = {**given, "SPARK_HOME": home, "SPARK_CONNECT_MODE": "0", "_SPARK_CMD_USAGE": program.usage}
    if program is CONNECT_SERVER and _is_on_one_machine(options) and not given.keys() & _NAMES_PYTHON:
        variables["PYSPARK_PYTHON"] = sys.executable
    return variables


def _is_on_one_machine(options: Sequence[str]) -> bool:
    ours, _ = split(options)
    masters = [value for name, *values in ours for value in values if name == "--master"]
    return bool(masters) and masters[-1].startswith("local")


def _become(command: list[str], variables: dict[str, str]) -> NoReturn:
    sys.stdout.flush()
    os.execve(command[0], command, variables)


def _check(options: Sequence[tuple[str, ...]]) -> None:
    for option in options:
        match option:
            case ("--deploy-mode", "cluster") | ("--conf" | "-c", "spark.submit.deployMode=cluster"):
                raise OptionError("it runs where you are, so the deploy mode cannot be 'cluster'; leave it out")
            case ("--remote", _):
                raise OptionError("it needs a JVM of its own, and Spark Connect has none; use --master")
            case (("--class" | "--kill" | "--status") as name, _):
                raise OptionError(f"{name} is for spark-submit; leave it out")
            case _:
                pass
