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

    def is_empty(self) -> bool:
        """Whether nothing is replaced."""
        return not self._spans

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Offsets in ``text`` of what stands at ``start``..``end`` of the whole result."""
        return self._origin(start, False), self._origin(end, True)

    def _origin(self, offset: int, is_end: bool) -> int:
        shift = 0
        for first, last, replacement in self._spans:
            grown = len(replacement) - (last - first)
            if offset + shift < first + is_end:
                break
            if offset + shift < last + grown + is_end:
                return last if is_end else first
            shift -= grown
        return offset + shift

    def then(self, later: Edits) -> Edits:
        """These replacements and, in their result, ``later`` ones, as replacements in ``text``."""
        applied: list[tuple[int, int, int, int]] = []  # in the result, and in the text
        shift = 0
        for first, last, replacement in self._spans:
            applied.append((first + shift, first + shift + len(replacement), first, last))
            shift += len(replacement) - (last - first)
        edits = Edits(self.text, list(self._spans))
        for start, end, _ in later._spans:
            touched = [edit for edit in applied if edit[0] < end and start < edit[1]]
            if touched:
                start, end = min(start, touched[0][0]), max(end, touched[-1][1])
            edits.replace(*self._exact(start, end, applied), later.result(start, end))
        return edits

    @staticmethod
    def _exact(start: int, end: int, applied: list[tuple[int, int, int, int]]) -> tuple[int, int]:
        """Offsets in the text of what stands at ``start``..``end`` of the result, outside of replacements."""
        before = [edit for edit in applied if edit[1] <= start]
        first = start if not before else start - before[-1][1] + before[-1][3]
        until = [edit for edit in applied if edit[1] <= end]
        return first, end if not until else end - until[-1][1] + until[-1][3]

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
