"""One row for each group, bank and window, where the results of a group come in pieces."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sparkext.planner.kernel_plan.kernel_plan import Arithmetic, Field
from sparkext.udfs.arrow.result_batch import FieldValues, field_columns
from sparkext.udfs.arrow.whole_groups import whole_groups

FIELDS = (Field(Arithmetic.EXACT),)

Piece = list[tuple[float | None, int, int]]
"""Group, window and count of each row of a batch."""


def batch(rows: Piece) -> pa.RecordBatch:
    groups, windows, counts = (list(column) for column in zip(*rows, strict=True))
    low = pa.array(counts, pa.int64()).to_numpy()
    columns = {
        "group_0": pa.array(groups, pa.float64()),
        "bank": pa.array([0] * len(rows), pa.int32()),
        "window": pa.array(windows, pa.int64()),
        **field_columns(FIELDS, [FieldValues(0 * low, low)], {}, len(rows)),
    }
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def whole(*pieces: Piece) -> list[Piece]:
    in_groups = whole_groups(FIELDS, 1, map(batch, pieces))
    return [
        list(zip(*(whole_batch.column(index).to_pylist() for index in (0, 2, 3)), strict=True))
        for whole_batch in in_groups
    ]


NAN = float("nan")


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([[(1, 0, 5), (2, 0, 6)]], [[(1, 0, 5), (2, 0, 6)]]),
        ([[(1, 0, 5)], [(2, 0, 6)], [(3, 0, 7)]], [[(1, 0, 5)], [(2, 0, 6)], [(3, 0, 7)]]),
        ([[(1, 0, 5)], [(1, 0, 6)], [(1, 1, 7), (1, 0, 1)]], [[(1, 0, 12), (1, 1, 7)]]),
        ([[(1, 0, 5), (2, 3, 6)], [(2, 3, 1), (2, 1, 2), (3, 0, 7)]],
         [[(1, 0, 5)], [(2, 1, 2), (2, 3, 7)], [(3, 0, 7)]]),
        ([[(1, 0, 5)], [(1, 0, 1), (2, 0, 6)], [(2, 0, 1), (3, 0, 7)]], [[(1, 0, 6)], [(2, 0, 7)], [(3, 0, 7)]]),
        ([[(None, 0, 5)], [(None, 0, 6)], [(1, 0, 7)]], [[(None, 0, 11)], [(1, 0, 7)]]),
        ([], []),
    ],
    ids=["one piece", "no group goes on", "three pieces", "the last goes on", "each goes on", "NULL", "nothing"],
)  # fmt: skip
def test_pieces(pieces: list[Piece], expected: list[Piece]) -> None:
    assert whole(*pieces) == expected


def test_nan_is_one_group() -> None:
    (rows,) = whole([(NAN, 0, 5)], [(NAN, 0, 6)])
    assert [(window, number) for _, window, number in rows] == [(0, 11)]
