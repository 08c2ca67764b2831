"""The text that the catalog has of a permanent view: the user's own, in what a session without sparkext cannot read.

To such a session the text is a call of a table function that does not exist, whose name says what is missing.
"""

from __future__ import annotations

import re

_BEFORE = "SELECT * FROM `sparkext, which this view needs and this session has not enabled`() /* "
_AFTER = " */"
_STORED = re.compile(f"{re.escape(_BEFORE)}(.*?){re.escape(_AFTER)}", re.DOTALL)
_MARK = re.compile(r"/~*(?=\*)|\*~*(?=/)")
"""The first character of ``/*`` or ``*/``, with the tildes between the two, if any."""
_TOLD_APART = re.compile(r"(/~*)~(?=\*)|(\*~*)~(?=/)")


def stored(text: str) -> str:
    """What the catalog is to have for a view with the text ``text``."""
    return _BEFORE + _MARK.sub(r"\g<0>~", text) + _AFTER


def as_written(text: str) -> str:
    """``text``, in which the user's own texts stand in place of what the catalog has of them."""
    return _STORED.sub(lambda match: _TOLD_APART.sub(r"\1\2", match[1]), text)
