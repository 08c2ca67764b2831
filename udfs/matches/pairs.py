"""Pairs of an element and one of as many numbers as the element has, in blocks that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sparkext.udfs.tables.program import Ints


def numbered(counts: Ints, most: int) -> Iterator[tuple[Ints, Ints]]:
    """Elements and numbers from 0 to what the element counts, in order of both.

    Args:
        counts: How many numbers each element has. Shape (elements,).
        most: Pairs of a block; more only where a single element has more.

    Yields:
        Elements and numbers, each of shape (pairs of the block,). No block is empty.
    """
    ends = np.cumsum(counts)
    at = 0
    while at < len(counts):
        before = int(ends[at - 1]) if at else 0
        until = max(at + 1, int(np.searchsorted(ends, before + most, "right")))
        some = counts[at:until]
        elements = np.repeat(np.arange(at, until), some)
        if len(elements):
            yield elements, np.arange(len(elements)) - np.repeat(np.cumsum(some) - some, some)
        at = until
