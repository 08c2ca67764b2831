"""Batches as arrays: where keys change, within and across batches."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from sparkext.planner.kernel_plan.kernel_plan import Layout
from sparkext.udfs.arrow.batches import BatchReader
from sparkext.udfs.arrow.result_batch import BEYOND_TYPE
from sparkext.udfs.workers.pool_run import PoolRun
from tests.support.kernel_harness import combined, kernel_rows, run, sorted_rows, source_batch
from tests.support.kernel_twin import KernelRow
from tests.udfs.test_kernel import kleene


def changes(values: list[Any], kind: Any, size: int) -> list[bool]:
    """Where one key column changes, when read in batches of ``size`` rows."""
    plan, reader = kleene(None), BatchReader(kleene(None), Layout(1, 0))
    rows = [KernelRow((1,), (), time, frozenset({0}), (1, 1, 1)) for time in range(len(values))]
    source: Any = source_batch(plan, rows).set_column(0, "key", pa.array(values, kind))
    is_new: list[bool] = []
    for at in range(0, len(values), size):
        batch = reader.read(source.slice(at, size))
        assert batch.new_key.tolist() == batch.new_group.tolist()
        is_new += map(bool, batch.new_key)
    return is_new


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([None, None, 0, 0, 1, None], pa.int64()),
        ([None, None, "", "", "a", None], pa.string()),
        ([None, None, math.nan, math.nan, 1.0, None], pa.float64()),
        ([math.nan, math.nan, None, None, 1.0, math.nan], pa.float32()),
        ([None, None, False, False, True, None], pa.bool_()),
        ([None, None, Decimal("0.10"), Decimal("0.10"), Decimal(1), None], pa.decimal128(38, 2)),
        ([None, None, date(1970, 1, 1), date(1970, 1, 1), date(1970, 1, 2), None], pa.date32()),
        ([None, None, b"", b"", b"x", None], pa.binary()),
        ([None, None, 0, 0, 1, None], pa.timestamp("us", tz="UTC")),
    ],
    ids=lambda value: str(value) if isinstance(value, pa.DataType) else "",
)
def test_keys_change(values: list[Any], kind: Any, size: int) -> None:
    assert changes(values, kind, size) == [True, False, True, False, True, True]


def test_zeros_of_either_sign_are_one_key() -> None:
    assert changes([0.0, -0.0], pa.float64(), 1) == [True, False]


def test_groups_and_other_keys() -> None:
    reader = BatchReader(kleene(None), Layout(1, 1))
    keys = [(1, 1), (1, 2), (2, 2), (2, 2)]
    rows = [KernelRow((group,), (other_key,), 0, frozenset({0}), (1, 1, 1)) for group, other_key in keys]
    batch = reader.read(source_batch(kleene(None), rows))
    assert batch.new_group.tolist() == [1, 0, 1, 0]
    assert batch.new_key.tolist() == [1, 1, 1, 0]


def test_result_columns_are_keys_bank_window_and_fields() -> None:
    rows = [KernelRow(("g", None), (), 0, frozenset({0}), (1, 1, 1))]
    (batch,) = PoolRun(kleene(None), Layout(2, 0)).results(iter([source_batch(kleene(None), rows)]))
    assert batch.schema.names == [
        "c0",
        "c1",
        "bank",
        "window",
        "exact_0",
        "number_1",
        "number_2",
        "number_3",
        "extreme_4",
        "extreme_5",
        "beyond",
    ]
    assert batch.schema.types[:4] == [pa.string(), pa.int32(), pa.int32(), pa.int64()]
    assert batch.schema.types[-3:] == [pa.float64(), pa.float64(), BEYOND_TYPE]


def test_results_without_group_keys() -> None:
    plan = kleene(None)
    rows = sorted_rows(KernelRow((), (key,), time, frozenset({0}), (1, 1, 1)) for key in (1, 2) for time in range(3))
    layout = Layout(0, 1)
    assert combined(plan, layout, run(plan, layout, source_batch(plan, rows)))[(), 0, 0][0] == 14
    assert kernel_rows(plan, []) == []
