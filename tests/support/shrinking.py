"""Smaller scripts: queries and events are left out of one as long as the results of a pool still differ."""

from __future__ import annotations

from dataclasses import replace

from sparkext.workload.self_check import Reproduction

MOST_TRIES = 60
"""Most pools that are run to make a script smaller."""


def smallest(reproduction: Reproduction, lines: list[str]) -> tuple[Reproduction, list[str]]:
    """As few queries and events as can be found in `MOST_TRIES`.

    Args:
        found: A pool whose results differ.
        lines: The events, each a JSON object.
    """
    tries = iter(range(MOST_TRIES))

    def differs(smaller: Reproduction, fewer: list[str]) -> bool:
        return next(tries, None) is not None and smaller.differs(fewer)

    reproduction = next(
        (shorter for query in reproduction.others if differs(shorter := replace(reproduction, others=[query]), lines)),
        reproduction,
    )
    size = len(lines)
    while size > 1:
        size = (size + 1) // 2
        at = 0
        while at < len(lines):
            fewer = lines[:at] + lines[at + size :]
            if fewer and differs(reproduction, fewer):
                lines = fewer
            else:
                at += size
    return reproduction, lines
