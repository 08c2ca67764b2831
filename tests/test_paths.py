"""Paths that the pages name exist, and links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOTES = ROOT / "benchmarks" / "NOTES.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", NOTES, *sorted((ROOT / "docs").glob("*.md"))]
TOP = ("benchmarks", "docs", "examples", "extension", "planner", "sparkext", "tests", "udfs")
ENDING = r"(?:py|md|json|toml|txt|sh|ipynb|css|js|sql)"
WITH_A_FOLDER = re.compile(rf"`((?:{'|'.join(TOP)})/[\w./-]*?(?:/|\.{ENDING}))`")
ALONE = re.compile(r"`(\w+\.py)`")
FOLDER = re.compile(r"`(\w+)/`")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_exist(page: Path) -> None:
    text = page.read_text()
    names = {path.name for top in TOP for path in (ROOT / top).rglob("*.py")} | {"setup.py"}
    folders = {path.name for top in TOP for path in [ROOT / top, *(ROOT / top).rglob("*")] if path.is_dir()}
    assert [path for path in WITH_A_FOLDER.findall(text) if not (ROOT / path).exists()] == []
    assert [name for name in ALONE.findall(text) if name not in names] == []
    assert [name for name in FOLDER.findall(text) if name not in folders] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """To files that there are, and to headings of theirs."""
    for path, heading in LINK.findall(page.read_text()):
        target = page.parent / path if path else page
        assert target.exists(), path
        assert not heading or heading in anchors(target), f"{path}#{heading}"


def test_llms_txt_leads_to_all_pages_for_users() -> None:
    """It stands beside README.md on the site; what is for developers of sparkext may be missing."""
    found = {path for path, _ in LINK.findall((ROOT / "docs" / "llms.txt").read_text())}
    assert [path for path in found if not (ROOT / path).exists()] == []
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")}
    assert pages - found == {"docs/features_inside.md", "docs/private_apis.md"}


def test_the_site_has_all_pages() -> None:
    listed = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert listed == {page.relative_to(ROOT).as_posix() for page in PAGES} | {"README.md", "CHANGELOG.md"}


def anchors(page: Path) -> set[str]:
    """What links to the headings of a page are called by."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}
