"""Elements of SVG and HTML. What is not an element itself is text, and is escaped."""

from __future__ import annotations

import re

_VOID = frozenset(("br", "input", "link", "meta"))
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Markup(str):
    """A text that is markup already."""

    __slots__ = ()


Value = str | float | None
"""Of an attribute; None leaves it out."""


def escaped(text: str) -> str:
    """A text with nothing in it that means something to XML or HTML; what XML cannot hold at all becomes U+FFFD."""
    text = _NOT_XML.sub("\ufffd", text)
    for sign, written in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        text = text.replace(sign, written)
    return text


def element(name: str, /, *children: str, **attributes: Value) -> Markup:
    """An element of HTML or SVG, as markup.

    Args:
        name: Of the element.
        children: Elements and texts.
        attributes: ``_`` stands for ``-`` in their names, and is left out at the end.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value) if isinstance(value, str) else number(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{written}/>")
    inside = "".join(child if isinstance(child, Markup) else escaped(child) for child in children)
    return Markup(f"<{name}{written}>{inside}</{name}>")


def number(value: float) -> str:
    """A number with up to two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
