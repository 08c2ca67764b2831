"""Results in the order of their banks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from sparkext.udfs.arrow.arrays import as_arrow, as_numbers


def by_bank(bank: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Results of which each batch goes from the first bank to the last, or back, so that one goes on as the last ended.

    Spark keeps results in parts of some thousand rows, and knows the least and greatest bank of each: whoever reads
    those of one query, which are in one bank, reads few parts with rows of others.

    Args:
        bank: Index of the column with the bank.
        batches: Results in any order.
    """
    goes_back = False
    for batch in batches:
        banks = as_numbers(batch.column(bank), np.int32)
        if len(banks) and banks.min() != banks.max():
            batch = batch.take(as_arrow(np.argsort(-banks if goes_back else banks, kind="stable")))
            goes_back = not goes_back
        yield batch
