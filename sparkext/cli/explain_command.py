"""``sparkext explain``: the sharing plan of the trend queries of a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sparkext.cli.local_session import local_session
from sparkext.cli.sql_file import Statement, statements
from sparkext.explain.pictures.document import read
from sparkext.explain.pictures.page import page
from sparkext.planner.amounts import count
from sparkext.session import explain_sharing
from sparkext.sharing_picture import SharingPicture
from sparkext.sql.tokens import TokenError


def add(commands: Any) -> None:
    """Add the command to those of ``sparkext``."""
    command = commands.add_parser(
        "explain",
        help="what the trend queries of a file share, as text or as a page to look at",
        description="Run the statements of a SQL file that define something in a local session, and say what its trend "
        "queries share. Queries outside of views become views 'line_N', after the line that they begin in; they are "
        "planned, and not run. Statements that only read or show something are left out.",
    )
    command.add_argument("file", type=Path, help="statements, divided by semicolons")
    command.add_argument("--html", type=Path, metavar="PAGE", help="write a page that stands by itself, not a text")
    command.add_argument("--compare", action="store_true", help="say what each optimizer makes of the queries")
    command.add_argument(
        "--conf",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of Spark's or sparkext's; may be given several times",
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain a file; returns the exit status of the command."""
    file: Path = arguments.file
    confs = dict(setting.partition("=")[::2] for setting in arguments.conf)
    try:
        listed = statements(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        return _failed(f"{file} cannot be read: {error}")
    except TokenError as error:
        return _failed(f"{file} cannot be divided into statements: {error}")
    with TemporaryDirectory(prefix="sparkext-explain-") as warehouse:
        spark = local_session("sparkext explain", {"spark.sql.warehouse.dir": warehouse} | confs)
        return _explain(spark, listed, file, arguments.html, compare=arguments.compare)


def _explain(
    spark: SparkSession, listed: Sequence[Statement], file: Path, target: Path | None, *, compare: bool
) -> int:
    try:
        for statement in listed:
            try:
                define(spark, statement)
            except PySparkException as error:
                return _failed(f"{file}, line {statement.line}: {str(error).strip()}")
        picture = explain_sharing(spark, compare=compare)
    except PySparkException as error:
        return _failed(str(error).strip())
    finally:
        spark.stop()
    return _show(picture, file, target, _left_out(listed))


def define(spark: SparkSession, statement: Statement) -> None:
    """Run a statement if it defines something; a query with trends becomes a view, which is not read."""
    if statement.is_query and statement.has_trends:
        try:
            spark.sql(f"CREATE TEMP VIEW line_{statement.line} AS {statement.sql}")
        except PySparkException:
            spark.sql(statement.sql)  # is wrong as well, and the position in the message is then that in the query
            raise
    elif not statement.is_query and not statement.is_shown:
        spark.sql(statement.sql)


def _left_out(listed: Sequence[Statement]) -> int:
    return sum(s.is_shown or (s.is_query and not s.has_trends) for s in listed)


def _show(picture: SharingPicture, file: Path, target: Path | None, left_out: int) -> int:
    if target is None:
        print(picture.text)
        return 0
    passes = read(picture.json)
    try:
        target.write_text(page(passes, f"Sharing plan of {file.name}"), encoding="utf-8")
    except OSError as error:
        return _failed(f"{target} cannot be written: {error}")
    queries = count(sum(len(one.queries) for one in passes), "trend query", "trend queries")
    over = count(len(passes), "pass", "passes")
    skipped = f"; {count(left_out, 'statement that only reads was', 'statements that only read were')} left out"
    print(f"{target}: {queries} in {over}{skipped if left_out else ''}")
    return 0


def _failed(message: str) -> int:
    print(message, file=sys.stderr)
    return 1
