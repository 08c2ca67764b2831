"""The jar by which Spark finds sparkext, loaded into the JVM of the tests."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession

from sparkext.jvm.gateway import class_object, java_array, java_class
from sparkext.jvm.sessions import MakeParser, ParserInterface, let_java_call
from tests.support.extension_jar import jar, jar_that_says
from tests.support.spark_programs import CLAUSE, EVENTS, ROOT, put_modules_that_end_python

QUERY = f"SELECT n FROM events MATCH_TREND ({CLAUSE})"
SPARKS = "org.apache.spark.sql.execution.SparkSqlParser"
Make = Callable[[Any, Any], ParserInterface]
PYTHON = "spark.sparkext.python"


@pytest.fixture
def conf(plain: SparkSession) -> Iterator[Callable[[str, str], None]]:
    """Sets a conf of the application, until the test ends."""
    confs = plain.sparkContext._jsc.sc().conf()
    names: list[str] = []

    def put(name: str, value: str) -> None:
        names.append(name)
        confs.set(name, value)

    yield put
    for name in names:
        confs.remove(name)


class Loaded:
    """The jar, loaded anew.

    Py4J keeps the methods of a class by its name, for each thread: this one asks for them by a thread of its own.

    Args:
        place: The jar.
        spark: The session that has the parser.
        before: What makes the parser of another extension before that of the jar.
        after: Likewise, behind it.
    """

    def __init__(self, place: Path, spark: SparkSession, before: Make | None = None, after: Make | None = None) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._spark = spark
        self.parser: Any = self._thread.submit(self._parser, place, before, after).result()

    def _parser(self, place: Path, before: Make | None, after: Make | None) -> Any:
        url = java_class("java.io.File")(str(place)).toURI().toURL()
        parent = java_class("java.lang.Thread").currentThread().getContextClassLoader()
        loader = java_class("java.net.URLClassLoader")(java_array("java.net.URL", [url]), parent)
        made = java_class("org.apache.spark.sql.SparkSessionExtensions")()
        if before is not None:
            made.injectParser(MakeParser(before))
        provider = loader.loadClass("sparkext.Extension").getConstructor(None).newInstance(None)
        provider.apply(made)
        provider.apply(made)  # as where Spark finds it, and the user names it, too
        if after is not None:
            made.injectParser(MakeParser(after))
        return made.buildParser(self._spark._jsparkSession, java_class(SPARKS)())

    def parse(self, sql: str) -> Any:
        """The plan of a statement."""
        return self._thread.submit(lambda: self.parser.parsePlan(sql)).result()

    def rows(self, sql: str) -> list[Any]:
        """What a statement returns."""
        frame = java_class("org.apache.spark.sql.classic.Dataset").ofRows(self._spark._jsparkSession, self.parse(sql))
        return [tuple(row) for row in DataFrame(frame, self._spark).collect()]

    def concerns_python(self, text: str) -> bool:
        """Whether it hands a text to Python."""
        return bool(self._thread.submit(self._concerns_python, text).result())

    def _concerns_python(self, text: str) -> Any:
        asked = self.parser.getClass()
        while asked.getSimpleName() != "LazyParser":
            asked = asked.getSuperclass()
        kinds = java_array("java.lang.Class", [class_object("java.lang.String")])
        method = asked.getDeclaredMethod("concernsPython", kinds)
        method.setAccessible(True)
        return method.invoke(self.parser, java_array("java.lang.Object", [text]))


def test_the_first_clause_starts_python(plain: SparkSession, conf: Callable[[str, str], None]) -> None:
    """In another process than this one, and for this session alone."""
    conf(PYTHON, launcher(Path(jar().parent)))
    loaded = Loaded(jar(), plain)
    plain.sql(EVENTS.strip(" ;\n"))
    try:
        assert loaded.rows("SELECT 'match' AS found") == [("match",)]
        assert loaded.rows(QUERY) == [(3,)]
        assert loaded.rows("SHOW TREND QUERIES") == []
        with pytest.raises(ParseException, match="TREND_CLAUSE_MISSING"):
            loaded.parse(QUERY.replace("ORDER BY t ", ""))
        loaded.rows("SET spark.sparkext.enabled = false")
        with pytest.raises(ParseException, match="PARSE_SYNTAX_ERROR"):
            loaded.parse(QUERY)
    finally:
        plain.conf.unset("spark.sparkext.enabled")
        plain.catalog.dropTempView("events")


def test_modules_in_the_users_folder_are_none_of_ours(
    plain: SparkSession, conf: Callable[[str, str], None], tmp_path: Path
) -> None:
    """What is there when the JVM is started; PYTHONPATH counts as ever."""
    users = tmp_path / "user"
    users.mkdir()
    put_modules_that_end_python(users)
    conf(PYTHON, launcher(tmp_path, users))
    loaded = Loaded(jar(), plain)
    with pytest.raises(ParseException, match="TREND_CLAUSE_MISSING"):
        loaded.parse(QUERY.replace("ORDER BY t ", ""))


def launcher(folder: Path, works_in: Path = ROOT) -> str:
    """A Python that finds this repository's package, by PYTHONPATH."""
    script = folder / "python"
    paths = f'PYTHONPATH="$PYTHONPATH:{ROOT}"'
    script.write_text(f'#!/bin/sh\ncd {works_in}\n{paths} exec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return str(script)


def test_a_session_that_the_program_has_enabled_is_left_alone(
    spark: SparkSession, conf: Callable[[str, str], None]
) -> None:
    conf(PYTHON, "/nowhere/python")
    loaded = Loaded(jar(), spark)
    with pytest.raises(ParseException, match="PARSE_SYNTAX_ERROR") as caught:
        loaded.parse(QUERY)
    assert "needs Python" not in str(caught.value)


def without_package(folder: Path) -> str:
    """A Python that has PySpark and not sparkext."""
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nexec {shutil.which("python3", path="/usr/bin") or sys.executable} -I -S "$@"\n')
    script.chmod(0o755)
    return str(script)


@pytest.mark.parametrize(
    ("python", "said"),
    [
        (lambda _: "/nowhere/python", "/nowhere/python does not give it: Cannot run program"),
        (without_package, "/python does not give it: .*No module named '?sparkext'?"),
        (lambda _: "/bin/false", "/bin/false does not give it: it has ended with status 1; "),
    ],
    ids=["no Python", "no package", "ends"],
)
def test_without_python_the_error_says_why(
    python: Callable[[Path], str],
    said: str,
    plain: SparkSession,
    conf: Callable[[str, str], None],
    tmp_path: Path,
) -> None:
    conf(PYTHON, python(tmp_path))
    loaded = Loaded(jar(), plain)
    for _ in range(2):
        with pytest.raises(AnalysisException, match=f"^MATCH_TREND needs Python with sparkext .*{said}"):
            loaded.parse(QUERY)
        assert loaded.rows("SELECT 'MATCH_TREND' AS found") == [("MATCH_TREND",)]
        assert loaded.rows("SELECT 1") == [(1,)]


def test_two_versions(plain: SparkSession, conf: Callable[[str, str], None], tmp_path: Path) -> None:
    conf(PYTHON, launcher(tmp_path))
    loaded = Loaded(jar_that_says(tmp_path, version="9.9.9"), plain)
    with pytest.raises(AnalysisException, match=r"the jar is of sparkext 9\.9\.9, and the package in .* is "):
        loaded.parse(QUERY)
    assert loaded.rows("SELECT 1") == [(1,)]


@pytest.mark.parametrize(("first", "after"), [("3.4", "4.0"), ("9.0", "9.1")])
def test_another_spark(first: str, after: str, plain: SparkSession, tmp_path: Path) -> None:
    """Then no parser is put before Spark's."""
    assert type_name(Loaded(jar_that_says(tmp_path, first=first, after=after), plain)) == SPARKS
    assert type_name(Loaded(jar(), plain)).startswith("sparkext.LazyParser")


def type_name(loaded: Loaded) -> str:
    return str(loaded.parser.getClass().getName())


class Other(ParserInterface):
    """The parser of another extension, which has a command of its own."""

    def __init__(self, delegate: Any) -> None:
        self._delegate = delegate

    def parsePlan(self, sql: str) -> Any:  # noqa: N802
        return self._delegate.parsePlan("SELECT 'other'" if sql == "OTHER" else sql)


@pytest.mark.parametrize("comes_first", [True, False])
def test_beside_another_extension(comes_first: bool, plain: SparkSession, conf: Callable[[str, str], None]) -> None:
    """Each hands on to the one before it what it does not know."""
    let_java_call()
    conf(PYTHON, "/nowhere/python")

    def other(_: Any, delegate: Any) -> Other:
        return Other(delegate)

    loaded = Loaded(jar(), plain, other) if comes_first else Loaded(jar(), plain, after=other)
    assert loaded.rows("OTHER") == [("other",)]
    assert loaded.rows("SELECT 1") == [(1,)]
    with pytest.raises(Exception, match="MATCH_TREND needs Python"):  # Py4J's own, where it leaves Python
        loaded.parse(QUERY)


@pytest.mark.parametrize(
    ("text", "concerns"),
    [
        ("EXPLAIN SHARING", True),
        ("explain /* the */ sharing json", True),
        ("SHOW -- all\n TREND QUERIES", True),
        ("show trend streams", True),
        ("REFRESH  SHARING", True),
        ("SET spark.sparkext.optimizer = none", True),
        ("SELECT 1 MATCH_TREND", True),
        ("SELECT * FROM e match_trends (x", True),
        ("SELECT `${system:trend.word}`", False),
        ("SELECT trend, sharing FROM explained", False),
        ("SELECT my_match_trend FROM e", False),
        ("SET spark.sparkext.enabled = true", False),
        ("EXPLAIN SELECT sharing FROM e", False),
    ],
)
def test_what_concerns_python(text: str, concerns: bool, plain: SparkSession) -> None:
    loaded = Loaded(jar(), plain)
    assert loaded.concerns_python(text) is concerns
