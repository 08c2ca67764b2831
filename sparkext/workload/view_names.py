"""Names of views with trend queries, looked for in texts of SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"\w+")


class ViewNames:
    """Names of views, in any case."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        lowered = frozenset(name.lower() for name in names)
        self._words = frozenset(name for name in lowered if _WORD.fullmatch(name))
        self._others = lowered - self._words

    def within(self, text: str) -> frozenset[str]:
        """Those that a text may mean: by the words that it has, or by what stands in it where a name is no word."""
        if not self._words and not self._others:
            return frozenset()
        lowered = text.lower()
        found = self._words.intersection(_WORD.findall(lowered))
        return found.union(name for name in self._others if name in lowered)

    def with_name(self, name: str) -> ViewNames:
        """These and another one."""
        return self if name.lower() in self._words else ViewNames((*self._words, *self._others, name))
