"""The file that ``sparkext spark-sql -f`` runs, and which of its statements it ended at."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from sparkext.cli.sql_file import Statement, statements
from sparkext.sql.tokens import TokenError, tokenize

_END = "DROP TEMPORARY VARIABLE IF EXISTS sparkext_end_of_script"
"""A statement that is never run, behind those of the file: Spark says of none that it was the last, or has failed."""

_NOT_PARSED = frozenset(("SOURCE", "QUIT", "EXIT"))
"""First words of what the prompt does by itself."""

_GOES_ON = "hive.cli.errors.ignore"
"""A setting by which the prompt goes on behind a statement that has failed."""

_MOST_WORDS = 60
"""Characters of a statement that it is known by."""


class Script:
    """A file of statements that are run one after another until one fails.

    Attributes:
        path: What Spark's prompt is to run in its place: a copy, with a statement at its end.
    """

    def __init__(self, file: str, leave: Callable[[], object]) -> None:
        """Make the copy, which is there until the first statement is run.

        Args:
            file: As the user named it.
            leave: Ends the prompt, when all statements have been run.

        Raises:
            OSError: It cannot be read here, or not copied.
            UnicodeDecodeError: It is not text.
            TokenError: A quote or comment in it is never closed.
        """
        text = Path(file).read_text(encoding="utf-8")
        self._file = file
        self._leave = leave
        self._statements = statements(text)
        self._begun = 0
        self._has_ended = False
        with tempfile.NamedTemporaryFile("w", suffix=".sql", encoding="utf-8", delete=False) as copy:
            copy.write(f"{text}\n;\n{_END};\n")
        self.path = copy.name

    def begin(self, sql: str) -> None:
        """Note that a statement is run, of this file or of another that it names."""
        self.remove_copy()
        if sql.strip() == _END:
            self._has_ended = True
            self._leave()
            return
        words = _words(sql)
        for index in range(self._begun, len(self._statements)):
            if _words(self._statements[index].sql) == words:
                self._begun = index + 1
                return

    def failed(self) -> str | None:
        """Of which statement an error was, for people; None if there was none, or if that is not known for certain."""
        if self._has_ended or not self._begun:
            return None
        if self._begun < len(self._statements) and not _is_parsed(self._statements[self._begun]):
            return None
        found = self._statements[self._begun - 1]
        return f"{self._file}, line {found.line}: ended at statement {self._begun}, {_beginning(found.sql)}"

    def remove_copy(self) -> None:
        """Spark has read it."""
        Path(self.path).unlink(missing_ok=True)


def script_of(options: Sequence[str], leave: Callable[[], object]) -> tuple[Script, list[str]] | None:
    """The script that options of the prompt name, and the options with its copy; None if it is left to Spark alone."""
    indexes = [index for index, option in enumerate(options[:-1]) if option == "-f"]
    if len(indexes) != 1 or any(_GOES_ON in option for option in options):
        return None
    at = indexes[0] + 1
    try:
        script = Script(options[at], leave)
    except (OSError, UnicodeDecodeError, TokenError):
        return None
    return script, [*options[:at], script.path, *options[at + 1 :]]


def _words(sql: str) -> list[str]:
    """What is left of a statement without spaces, line breaks and comments."""
    try:
        return [token.text for token in tokenize(sql)]
    except TokenError:
        return [sql]


def _is_parsed(statement: Statement) -> bool:
    """Whether the text of a statement reaches Spark's parser as it is."""
    sql = statement.sql
    return not sql.startswith("!") and "${" not in sql and sql.split()[0].upper() not in _NOT_PARSED


def _beginning(sql: str) -> str:
    text = " ".join(sql.split())
    return text if len(text) <= _MOST_WORDS else text[:_MOST_WORDS].rsplit(" ", 1)[0] + " …"
