"""Numbers in sentences."""

from __future__ import annotations

_UNITS = ("ns", "µs", "ms", "s")
_SIZES = ("bytes", "kB", "MB", "GB", "TB")


def count(number: int, singular: str, plural: str) -> str:
    """A number with its noun: ``1 query``, ``2 queries``, ``1,200 queries``."""
    return f"{number:,} {singular if number == 1 else plural}"


def amount(value: float) -> str:
    """A number of events or touches, in as many digits as matter."""
    return f"{value:,.0f}" if value >= 1000 or value == round(value) else f"{value:.4g}"


def size(number: int) -> str:
    """A number of bytes as it is read, in three digits: ``812 bytes``, ``1.24 MB``."""
    value, index = float(number), 0
    while index < len(_SIZES) - 1 and value >= 999.5:
        value, index = value / 1000, index + 1
    return f"{f'{value:,.0f}' if value >= 999.5 or not index else f'{value:.3g}'} {_SIZES[index]}"


def unit(model: str) -> str:
    """The unit that a cost model counts in."""
    return "ns" if model == "measured" else "touches"


def cost(value: float, model: str) -> str:
    """A cost as it is read, in three digits if it is a time: ``68.2 ns``, ``2.13 ms``, ``1,234 touches``."""
    if unit(model) != "ns":
        return f"{amount(value)} {unit(model)}"
    index = 0
    while index < len(_UNITS) - 1 and value >= 999.5:
        value, index = value / 1000, index + 1
    return f"{f'{value:,.0f}' if value >= 999.5 else f'{value:.3g}'} {_UNITS[index]}"


def part(value: float, whole: float) -> str:
    """What part of a whole a value is, in words that the whole comes after: ``38 % of``, ``half of``."""
    percent = 100 * value / whole if whole > 0 else 100.0
    if 0 < percent < 0.5:
        return "less than 1 % of"
    if 99.5 <= percent < 100 * (1 - 1e-9):
        return "more than 99 % of"
    return "half of" if round(percent) == 50 else f"{percent:,.0f} % of"
