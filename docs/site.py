"""What `make site` changes in a page before MkDocs makes HTML of it."""

from __future__ import annotations

import re

_CODE = re.compile(r"`[^`\n]+`")


def on_page_markdown(markdown: str, **_: object) -> str:
    """A page in which code inside of tables has bare pipes, which only GitHub wants escaped."""
    lines = markdown.split("\n")
    return "\n".join(_with_pipes(line) if line.startswith("|") else line for line in lines)


def _with_pipes(row: str) -> str:
    return _CODE.sub(lambda code: code[0].replace(r"\|", "|"), row)
