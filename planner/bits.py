"""Sets of small numbers as the bits of one number: quick to unite, and to hash."""

from __future__ import annotations

from collections.abc import Iterable


def bits(numbers: Iterable[int]) -> int:
    """The integer whose bits are these numbers."""
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


def members(mask: int) -> tuple[int, ...]:
    """The numbers that are the bits of an integer, ascending."""
    return tuple([number for number, bit in enumerate(f"{mask:b}"[::-1]) if bit == "1"])


def lowest(mask: int) -> int:
    """The least of the numbers that are the bits of an integer, which is not zero."""
    return (mask & -mask).bit_length() - 1
