"""Words that are almost others."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches


def is_like(word: str, candidates: Sequence[str]) -> bool:
    """Whether a word is one of ``candidates``, or almost."""
    return closest(word, candidates) is not None


def closest(word: str, candidates: Sequence[str]) -> str | None:
    """The candidate, in upper case, that a word was probably meant to be; None if it is like none of them."""
    similar = get_close_matches(word.upper(), candidates, n=1, cutoff=0.75)
    return similar[0] if similar else None
