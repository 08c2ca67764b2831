"""The code blocks of pages of the documentation, which tests run."""

from __future__ import annotations

import re
from pathlib import Path


def blocks(page: Path) -> dict[str, list[tuple[str, str]]]:
    """Language and text of each block, by the heading that it stands below."""
    by_heading: dict[str, list[tuple[str, str]]] = {}
    for section in re.split(r"^## ", page.read_text(), flags=re.MULTILINE)[1:]:
        heading, _, text = section.partition("\n")
        inside = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        if inside:
            by_heading[heading] = inside
    return by_heading
