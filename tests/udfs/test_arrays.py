"""Arrow arrays as numpy's and back, against Arrow's own conversions, and what workers do not import."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from sparkext.planner.kernel_plan.kernel_plan import Encoding, Layout
from sparkext.udfs.arrow.arrays import as_arrow, as_binary, as_flags, as_numbers, has_values
from tests.support.kernel_harness import sorted_rows, source_batch
from tests.support.kernel_plans import random_plan, random_rows

KINDS = (np.int32, np.int64, np.float64)

WORKER = """
import pickle, sys
from sparkext.udfs.arrow.combined import combined
from sparkext.udfs.workers.pool_run import pool_kernel
plan, layout, batches = pickle.load(sys.stdin.buffer)
found = list(pool_kernel(plan, layout)(iter(batches)))
added = list(combined(plan.fields, layout.group_keys + 2)(iter(found)))
print(sum(batch.num_rows for batch in added), "pandas" in sys.modules)
"""


def slices(array: pa.Array) -> list[pa.Array]:
    """The array and parts of it, empty ones too, which begin in the middle of a byte of its bitmap and elsewhere."""
    return [array, *(array.slice(at, rows) for at in (0, 1, 7, 8, 13, len(array)) for rows in (0, 1, 8, 100))]


@pytest.mark.parametrize("kind", KINDS)
def test_numbers(kind: type[np.int64]) -> None:
    for part in slices(pa.array(np.arange(30).astype(kind))):
        assert as_numbers(part, kind).tolist() == part.to_pylist()
        assert as_numbers(part, kind).dtype == kind


def test_numbers_beside_nulls() -> None:
    values = [None if at % 3 == 0 else at for at in range(30)]
    for part in slices(pa.array(values, pa.int64())):
        held = has_values(part)
        assert held.tolist() == [value is not None for value in part.to_pylist()]
        assert as_numbers(part, np.int64)[held].tolist() == part.drop_null().to_pylist()


def test_flags() -> None:
    for part in slices(pa.array([at % 3 == 0 or at % 7 == 5 for at in range(30)])):
        assert as_flags(part).tolist() == part.to_pylist()
        assert as_flags(part).dtype == np.bool_


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [0, 1, 8, 30])
def test_to_arrow(kind: type[np.int64], rows: int) -> None:
    values = np.arange(rows).astype(kind)
    held = values % 3 != 0
    expected = pa.array(values)
    assert as_arrow(values).equals(expected)
    assert as_arrow(np.repeat(values, 2)[::2]).equals(expected)
    masked = as_arrow(values, held)
    masked.validate(full=True)
    assert masked.equals(pa.array(values, mask=~held))
    assert masked.null_count == rows - held.sum()


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
@pytest.mark.parametrize("words", [[], [1], [1, -2, 3]])
def test_one_binary_value(kind: pa.DataType, words: list[int]) -> None:
    values = np.array(words, np.int64)
    for value in (values, pa.py_buffer(values.tobytes())):
        array = as_binary(value, kind)
        array.validate(full=True)
        assert array.equals(pa.array([values.tobytes()], kind))


PARTS = {
    Encoding.AFTER: Encoding.NUMBER,
    Encoding.BEFORE: Encoding.NUMBER,
    Encoding.LEAST_DIFFERENCE: Encoding.LEAST,
    Encoding.GREATEST_DIFFERENCE: Encoding.GREATEST,
}
"""Encodings of parts of differences, which random plans do not have, and of what columns may be in their place."""


@pytest.mark.long
def test_workers_do_not_import_pandas() -> None:
    """It takes longer to be imported than all that a worker of a small pool does."""
    random, seen, results = Random(5), set[Encoding](), 0
    while len(seen) < len(Encoding) or not results:
        plan = random_plan(random, (None,))
        for part, encoding in PARTS.items():
            doubles = [c for c in plan.columns if c.encoding is encoding and c.attribute.type == "double"]
            if doubles and part not in seen:
                part_column = replace(doubles[0], encoding=part, origin="v", unit="double")
                plan = replace(plan, columns=tuple(part_column if c is doubles[0] else c for c in plan.columns))
        if results and seen.issuperset(column.encoding for column in plan.columns):
            continue
        rows = sorted_rows(random_rows(random, plan, 20))
        if not rows:
            continue
        layout = Layout(len(rows[0].group), len(rows[0].other))
        said = subprocess.run(
            [sys.executable, "-c", WORKER],
            input=pickle.dumps((plan, layout, [source_batch(plan, rows)])),
            stdout=subprocess.PIPE,
            check=True,
        ).stdout.split()
        assert said[1] == b"False"
        results += int(said[0])
        seen |= {column.encoding for column in plan.columns}
