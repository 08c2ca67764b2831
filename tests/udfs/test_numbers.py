"""128-bit counts and scaled doubles against Python's own integers and fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkext.udfs.arithmetic.numbers import (
    LIMIT_HIGH,
    NOT_FINITE,
    add_exact,
    add_scaled,
    is_before,
    multiply_exact,
    scaled,
)

pytestmark = pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
"""Words are meant to wrap; NumPy says so of single numbers, which these are when they are not compiled."""

LIMIT = int(LIMIT_HIGH) << 64
WORD = (1 << 64) - 1

counts = st.integers(0, LIMIT + WORD) | st.sampled_from([0, 1, WORD, WORD + 1, 10**38, LIMIT - 1, LIMIT])
unhurried = settings(deadline=None)
"""The first call of a function compiles it."""

numbers = st.floats(allow_nan=False, allow_infinity=False)
scales = st.integers(-40, 40)


def words(count: int) -> tuple[np.int64, np.int64]:
    """Two words of 64 bits, the high one with its sign."""
    low = count & WORD
    return np.int64(count >> 64), np.int64(low if low < 1 << 63 else low - (1 << 64))


def joined(high: Any, low: Any) -> int:
    return (int(high) << 64) + (int(low) & WORD)


def exact(number: float, scale: int) -> Fraction:
    return Fraction(number) * Fraction(2) ** (512 * int(scale))


@given(counts, counts)
@unhurried
def test_sums_of_counts_are_exact_until_they_stick(left: int, right: int) -> None:
    total = joined(*add_exact(*words(left), *words(right)))
    assert total == left + right if left + right < LIMIT else total >= LIMIT


of_all_sizes = st.integers(0, 127).flatmap(lambda bits: st.integers(0, min(1 << bits, LIMIT + WORD))) | counts


@given(of_all_sizes, of_all_sizes)
@unhurried
def test_products_of_counts_are_exact_until_they_stick(left: int, right: int) -> None:
    product = joined(*multiply_exact(*words(left), *words(right)))
    assert product == left * right if left * right < LIMIT else product >= LIMIT


@given(st.lists(counts, max_size=8))
@unhurried
def test_counts_that_stick_stay_above_38_digits(several: list[int]) -> None:
    high, low = words(0)
    for count in several:
        high, low = add_exact(high, low, *words(count))
    assert joined(high, low) == sum(several) if sum(several) < LIMIT else high == LIMIT_HIGH


@given(numbers, scales)
@unhurried
def test_scaling_keeps_the_number(number: float, scale: int) -> None:
    number_in_range, its_scale = scaled(number, scale)
    assert exact(number_in_range, its_scale) == exact(number, scale)
    assert number_in_range == 0.0 or 2.0**-256 <= abs(number_in_range) < 2.0**256


def test_scaling_of_what_is_not_finite() -> None:
    for number in (math.inf, -math.inf, math.nan):
        as_it_was, scale = scaled(number, 3)
        assert scale == NOT_FINITE
        assert as_it_was == number or (math.isnan(as_it_was) and math.isnan(number))


@given(numbers, scales, numbers, scales)
@unhurried
def test_sums_of_scaled_doubles(left: float, left_scale: int, right: float, right_scale: int) -> None:
    left, left_scale = scaled(left, left_scale)
    right, right_scale = scaled(right, right_scale)
    total, scale = add_scaled(left, left_scale, right, right_scale)
    largest = max(abs(exact(left, left_scale)), abs(exact(right, right_scale)))
    error = abs(exact(total, scale) - exact(left, left_scale) - exact(right, right_scale))
    assert error <= largest * Fraction(1, 2**50)
    assert total == 0.0 or 2.0**-256 <= abs(total) < 2.0**256


def test_what_is_not_finite_outweighs_every_number() -> None:
    huge = scaled(1.0, 10**6)
    infinite, negative, nan = (scaled(number, 0) for number in (math.inf, -math.inf, math.nan))
    assert add_scaled(*huge, *infinite)[0] == math.inf
    assert add_scaled(*negative, *huge)[0] == -math.inf
    assert math.isnan(add_scaled(*huge, *nan)[0])
    assert math.isnan(add_scaled(*infinite, *negative)[0])
    assert math.isnan(add_scaled(*infinite, *nan)[0])
    assert add_scaled(*infinite, *infinite)[0] == math.inf


@given(st.integers(-(1 << 127), (1 << 127) - 1), st.integers(-(1 << 127), (1 << 127) - 1))
@unhurried
def test_order_of_keys(left: int, right: int) -> None:
    assert bool(is_before(*words(left), *words(right))) == (left < right)
