"""At which statement a file has ended that Spark's prompt runs, by the statements that its parser has seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkext.cli.script import Script, script_of

TEXT = """SET x = 1;
SELECT 1;  -- one; no more
SELECT
  1;
!ls;
BEGIN SELECT 2; SELECT 3; END
"""


@pytest.fixture
def script(tmp_path: Path) -> Script:
    file = tmp_path / "day.sql"
    file.write_text(TEXT)
    return Script(str(file), lambda: None)


def seen(script: Script, *statements: str) -> str | None:
    """What is said after statements have been run; the name of the file is left out."""
    for sql in statements:
        script.begin(sql)
    said = script.failed()
    return said and said.partition("day.sql, ")[2]


def test_the_copy_ends_with_a_statement_of_ours(script: Script) -> None:
    text = Path(script.path).read_text()
    assert text.startswith(TEXT)
    last = text.removeprefix(TEXT).strip("\n;")
    assert seen(script, "SET x = 1") == "line 1: ended at statement 1, SET x = 1"
    assert not Path(script.path).exists()
    assert seen(script, last) is None


def test_equal_statements_are_told_apart(script: Script) -> None:
    assert seen(script, "SET x = 1", "SELECT 1") == "line 2: ended at statement 2, SELECT 1"


def test_statements_of_another_file_are_none_of_this(script: Script) -> None:
    assert seen(script, "SET x = 1", "SELECT 7") == "line 1: ended at statement 1, SET x = 1"


def test_what_the_parser_does_not_see_may_have_failed(script: Script) -> None:
    """Here the statement before it, or the command ``!ls``."""
    assert seen(script, "SET x = 1", "SELECT 1", "SELECT 1") is None
    assert (
        seen(script, "BEGIN SELECT 2; SELECT 3; END") == "line 6: ended at statement 5, BEGIN SELECT 2; SELECT 3; END"
    )


def test_nothing_is_said_before_the_first(script: Script) -> None:
    assert script.failed() is None
    script.remove_copy()


def test_a_long_statement_is_known_by_its_first_words(tmp_path: Path) -> None:
    (tmp_path / "day.sql").write_text("\n\nSELECT " + ",\n".join(f"column_{n}" for n in range(100)))
    script = Script(str(tmp_path / "day.sql"), lambda: None)
    said = seen(script, (tmp_path / "day.sql").read_text().strip())
    assert said == "line 3: ended at statement 1, SELECT column_0, column_1, column_2, column_3, column_4, …"


@pytest.mark.parametrize(
    "options", [[], ["-e", "SELECT 1"], ["-f", "missing.sql"], ["-f", "hdfs://host/day.sql"], ["-f"]]
)
def test_what_is_left_to_spark(options: list[str]) -> None:
    assert script_of(options, lambda: None) is None


def test_options_keep_their_places(tmp_path: Path) -> None:
    (tmp_path / "day.sql").write_text(TEXT)
    goes_on = ["-f", str(tmp_path / "day.sql"), "--hiveconf", "hive.cli.errors.ignore=true"]
    assert script_of(goes_on, lambda: None) is None
    parsed = script_of(["-S", "-f", str(tmp_path / "day.sql"), "--hiveconf", "a=b"], lambda: None)
    assert parsed is not None
    script, options = parsed
    assert options == ["-S", "-f", script.path, "--hiveconf", "a=b"]
    script.remove_copy()
