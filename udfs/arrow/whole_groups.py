"""One row for each group, bank and window, where the groups of partial results come one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from sparkext.planner.kernel_plan.kernel_plan import Field
from sparkext.udfs.arrow.arrays import as_arrow
from sparkext.udfs.arrow.combined import by_key, placed_after
from sparkext.udfs.arrow.key_changes import changes
from sparkext.udfs.tables.program import Ints


def whole_groups(fields: Sequence[Field], groups: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Results of groups, of which those of the one under way are held until all of them have come.

    Args:
        fields: Output fields of the pool.
        groups: How many columns are group keys, before ``bank`` and ``window``.
        batches: Results in none of which a group, bank and window stands twice, with the rows of each group next to
            each other; the last group of one may go on in the next.
    """
    held: list[pa.RecordBatch] = []
    for batch in batches:
        if held and _goes_on(groups, held[-1], batch):
            *whole, last = _cut(held[-1], _begins(groups, held[-1])[-1:])
            yield from whole
            first, *parts = _cut(batch, _begins(groups, batch)[:1])
            held = [*held[:-1], last, first]
            if parts:
                yield _combined(fields, groups, held)
                held = parts
        else:
            if held:
                yield _combined(fields, groups, held)
            held = [batch]
    if held:
        yield _combined(fields, groups, held)


def _goes_on(groups: int, held: pa.RecordBatch, batch: pa.RecordBatch) -> bool:
    """Whether the first group of a batch is the last of the one before it."""
    return not len(_begins(groups, placed_after(held.slice(held.num_rows - 1), batch.slice(0, 1))))


def _begins(groups: int, rows: pa.RecordBatch) -> Ints:
    """The rows at which other groups begin than the first."""
    begins = np.zeros(rows.num_rows, np.bool_)
    for column in rows.columns[:groups]:
        begins |= changes(column)
    return np.flatnonzero(begins)


def _cut(rows: pa.RecordBatch, at: Ints) -> list[pa.RecordBatch]:
    """Two pieces of ``rows``, if there is a row to cut at."""
    return [rows.slice(0, int(at[0])), rows.slice(int(at[0]))] if len(at) else [rows]


def _combined(fields: Sequence[Field], groups: int, held: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The rows of one piece as they are, or those of one group, in several pieces, added up."""
    if len(held) == 1:
        return held[0]
    rows = pa.concat_batches([held[0], *(piece.cast(held[0].schema) for piece in held[1:])])
    bank, window = (rows.column(groups + index).to_numpy() for index in (0, 1))
    return by_key(fields, groups + 2, rows.take(as_arrow(np.lexsort((window, bank)))))
