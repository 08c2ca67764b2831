"""Results in the order of their banks."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sparkext.udfs.arrow.bank_order import by_bank


def batch(banks: list[int], first: int = 0) -> pa.RecordBatch:
    windows = pa.array(range(first, first + len(banks)), pa.int64())
    return pa.RecordBatch.from_arrays([pa.array(banks, pa.int32()), windows], ["bank", "window"])


def test_each_batch_goes_on_with_the_bank_that_the_last_has_ended_with() -> None:
    found = [rows.to_pydict() for rows in by_bank(0, [batch([1, 0, 2, 0]), batch([0, 2, 1, 2], 4), batch([1, 0], 8)])]
    assert [rows["bank"] for rows in found] == [[0, 0, 1, 2], [2, 2, 1, 0], [0, 1]]
    assert [rows["window"] for rows in found] == [[1, 3, 0, 2], [5, 7, 6, 4], [9, 8]]


@pytest.mark.parametrize("banks", [[], [3], [1, 1, 1]])
def test_a_batch_of_one_bank_stays_as_it_is(banks: list[int]) -> None:
    given = batch(banks)
    assert [rows is given for rows in by_bank(0, [given])] == [True]


def test_a_batch_that_is_a_slice_is_read_from_where_it_begins() -> None:
    (found,) = by_bank(0, [batch([9, 9, 1, 0, 9]).slice(2, 2)])
    assert found.to_pydict() == {"bank": [0, 1], "window": [3, 2]}
