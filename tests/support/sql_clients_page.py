"""The code blocks of docs/sql_clients.md, which the tests of the programs run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.support.pages import blocks
from tests.support.spark_programs import ROOT, variables

PAGE = ROOT / "docs" / "sql_clients.md"
CHECKED = {
    "The prompt": ["sh", "text"],
    "Scripts": ["sh", "text", "text"],
    "What is planned, and why": ["text", "python"],
    "JDBC and ODBC clients": ["sh", "sh", "text"],
}
"""Languages of the blocks below each heading that some test checks."""


def block(heading: str, index: int) -> str:
    """The text of one block."""
    return blocks(PAGE)[heading][index][1]


def shell(where: Path) -> dict[str, str]:
    """An environment in which the commands of the page are found.

    Args:
        where: Where a directory for them can be made.
    """
    programs = where / "bin"
    programs.mkdir()
    program = programs / "sparkext"
    program.write_text(f"#!{sys.executable}\nimport sys\nfrom sparkext.cli.main import main\nsys.exit(main())\n")
    program.chmod(0o755)
    given = variables()
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), given["PATH"]])
    return {**given, "PATH": path}
