"""Replacements in a text that leave every other byte as it is."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Edits:
    """Replacements of spans of ``text`` that do not overlap, unless one holds the other whole."""

    text: str
    _spans: list[tuple[int, int, str]] = field(default_factory=list)

    def replace(self, start: int, end: int, replacement: str) -> None:
        """Replace ``text[start:end]``; drops replacements inside that span."""
        kept = [span for span in self._spans if not (start <= span[0] and span[1] <= end)]
        self._spans = sorted([*kept, (start, end, replacement)])

    def result(self, start: int = 0, end: int | None = None) -> str:
        """``text[start:end]`` with the replacements inside it made."""
        end = len(self.text) if end is None else end
        pieces: list[str] = []
        at = start
        for first, last, replacement in self._spans:
            if first >= start and last <= end:
                pieces += (self.text[at:first], replacement)
                at = last
        pieces.append(self.text[at:end])
        return "".join(pieces)
