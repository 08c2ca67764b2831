"""Order keys: they come back as the value they stand for, and sort as Spark sorts."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sparkext.udfs.arrow.arrays import has_values
from sparkext.udfs.arrow.order_keys import as_int64, decode, encode
from sparkext.udfs.tables.program import NO_KEY
from tests.support.enumerator import sort_key
from tests.support.kernel_harness import arrow_type
from tests.support.kernel_plans import EXTREME_TYPES, random_value


def keys(array: Any, reverse: bool) -> list[int]:
    """Order keys as Python integers."""
    high, low = encode(array, reverse)
    return [(int(h) << 64) + (int(w) & (1 << 64) - 1) for h, w in zip(high, low, strict=True)]


def some_values(kind: str) -> list[Any]:
    random = Random(kind)
    return [random_value(random, kind) for _ in range(300)]


def plain(values: list[Any]) -> list[Any]:
    """NaN as a text, so that lists can be compared."""
    return ["NaN" if isinstance(value, float) and math.isnan(value) else value for value in values]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", EXTREME_TYPES)
def test_round_trip(kind: str, reverse: bool) -> None:
    array: Any = pa.array(some_values(kind), arrow_type(kind))
    for part in (array, array.slice(7, 100), array.slice(299)):
        high, low = encode(part, reverse)
        valid = has_values(part)
        high, low = np.where(valid, high, NO_KEY[0]), np.where(valid, low, NO_KEY[1])
        back = decode(high, low, part.type, reverse)
        assert back.type == part.type
        assert plain(back.to_pylist()) == plain(part.to_pylist())


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", EXTREME_TYPES)
def test_keys_sort_as_values_do(kind: str, reverse: bool) -> None:
    values = [value for value in some_values(kind) if value is not None]
    array: Any = pa.array(values, arrow_type(kind))
    encoded, exact = keys(array, reverse), array.to_pylist()
    for exact_value, next_value, a, b in zip(exact, exact[1:], encoded, encoded[1:], strict=False):
        if reverse:
            exact_value, next_value = next_value, exact_value
        assert (a < b) == (sort_key(exact_value) < sort_key(next_value))
        assert (a == b) == (sort_key(exact_value) == sort_key(next_value))
    assert max(encoded) < (NO_KEY[0] << 64) + (NO_KEY[1] & (1 << 64) - 1)


@pytest.mark.parametrize("reverse", [False, True])
def test_special_doubles(reverse: bool) -> None:
    """Zeros are equal, all NaNs are equal and greatest, and the least subnormal is above zero."""
    other_nan = np.array([0xFFF8_0000_0000_0001], np.uint64).view(np.float64)[0]
    ascending = [-math.inf, -1.5, -5e-324, 0.0, 5e-324, 1.5, math.inf, math.nan]
    order_keys = keys(pa.array(ascending), reverse)
    assert order_keys == sorted(set(order_keys), reverse=reverse)
    assert len(set(keys(pa.array([0.0, -0.0]), reverse))) == 1
    assert len(set(keys(pa.array(np.array([math.nan, other_nan, -math.nan])), reverse))) == 1


def test_no_key_is_null() -> None:
    high, low = np.array([NO_KEY[0]]), np.array([NO_KEY[1]])
    for kind in EXTREME_TYPES:
        for reverse in (False, True):
            assert decode(high, low, arrow_type(kind), reverse).to_pylist() == [None]


def test_types_without_order_keys() -> None:
    with pytest.raises(TypeError, match="no order keys for string"):
        encode(pa.array(["a"]), False)


def test_times_as_integers() -> None:
    assert as_int64(pa.array([-1, None], pa.date32())).tolist() == [-1, 0]
    assert as_int64(pa.array([-1, 5], pa.timestamp("us", tz="UTC"))).tolist() == [-1, 5]
    assert as_int64(pa.array([-1, 5], pa.int16())).tolist() == [-1, 5]
