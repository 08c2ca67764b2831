"""Paths that the pages name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TOP = ("benchmarks", "docs", "examples", "planner", "sparkext", "tests", "udfs")
ENDING = r"(?:py|md|json|toml|txt|sh|ipynb|css|js|sql)"
WITH_A_FOLDER = re.compile(rf"`((?:{'|'.join(TOP)})/[\w./-]*?(?:/|\.{ENDING}))`")
ALONE = re.compile(r"`(\w+\.py)`")
FOLDER = re.compile(r"`(\w+)/`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_exist(page: Path) -> None:
    text = page.read_text()
    names = {path.name for top in TOP for path in (ROOT / top).rglob("*.py")} | {"setup.py"}
    folders = {path.name for top in TOP for path in [ROOT / top, *(ROOT / top).rglob("*")] if path.is_dir()}
    assert [path for path in WITH_A_FOLDER.findall(text) if not (ROOT / path).exists()] == []
    assert [name for name in ALONE.findall(text) if name not in names] == []
    assert [name for name in FOLDER.findall(text) if name not in folders] == []
