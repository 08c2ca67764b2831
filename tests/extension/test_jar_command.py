"""``sparkext jar``."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkext.cli import jar_command
from sparkext.cli.main import main


def test_where_the_jar_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The installed one, if there is one, else that of the repository."""
    installed, built = tmp_path / "installed.jar", tmp_path / "built.jar"
    monkeypatch.setattr(jar_command, "PLACES", (installed, built))
    assert main(["jar"]) == 1
    assert capsys.readouterr().err == (
        "sparkext jar: this sparkext has been installed without it; `make jar` makes it\n"
    )
    for place in (built, installed):
        place.touch()
        assert main(["jar"]) == 0
        assert capsys.readouterr().out == f"{place}\n"
