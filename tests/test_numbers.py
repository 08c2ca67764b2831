"""128-bit counts and scaled doubles against Python's own integers and fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from udfs.numbers import LIMIT_HIGH, NOT_FINITE, add_exact, add_scaled, is_before, scaled

LIMIT = int(LIMIT_HIGH) << 64
WORD = (1 << 64) - 1

counts = st.integers(0, LIMIT + WORD) | st.sampled_from([0, 1, WORD, WORD + 1, 10**38, LIMIT - 1, LIMIT])
numbers = st.floats(allow_nan=False, allow_infinity=False)
scales = st.integers(-40, 40)


def words(count: int) -> tuple[np.uint64, np.uint64]:
    return np.uint64(count >> 64), np.uint64(count & WORD)


def joined(high: np.uint64, low: np.uint64) -> int:
    return (int(high) << 64) + int(low)


def exact(number: float, scale: int) -> Fraction:
    return Fraction(number) * Fraction(2) ** (512 * int(scale))


@given(counts, counts)
def test_sums_of_counts_are_exact_until_they_stick(one: int, other: int) -> None:
    found = joined(*add_exact(*words(one), *words(other)))
    assert found == one + other if one + other < LIMIT else found >= LIMIT


@given(st.lists(counts, max_size=8))
def test_counts_that_stick_stay_above_38_digits(several: list[int]) -> None:
    high, low = words(0)
    for count in several:
        high, low = map(np.uint64, add_exact(high, low, *words(count)))
    assert joined(high, low) == sum(several) if sum(several) < LIMIT else high == LIMIT_HIGH


@given(numbers, scales)
def test_scaling_keeps_the_number(number: float, scale: int) -> None:
    found, its_scale = scaled(number, scale)
    assert exact(found, its_scale) == exact(number, scale)
    assert found == 0.0 or 2.0**-256 <= abs(found) < 2.0**256


def test_scaling_of_what_is_not_finite() -> None:
    for number in (math.inf, -math.inf, math.nan):
        found, scale = scaled(number, 3)
        assert scale == NOT_FINITE
        assert found == number or (math.isnan(found) and math.isnan(number))


@given(numbers, scales, numbers, scales)
def test_sums_of_scaled_doubles(one: float, one_scale: int, other: float, other_scale: int) -> None:
    one, one_scale = scaled(one, one_scale)
    other, other_scale = scaled(other, other_scale)
    found, scale = add_scaled(one, one_scale, other, other_scale)
    largest = max(abs(exact(one, one_scale)), abs(exact(other, other_scale)))
    error = abs(exact(found, scale) - exact(one, one_scale) - exact(other, other_scale))
    assert error <= largest * Fraction(1, 2**50)
    assert found == 0.0 or 2.0**-256 <= abs(found) < 2.0**256


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
def test_order_of_keys(one: int, other: int) -> None:
    def key(number: int) -> tuple[np.int64, np.uint64]:
        return np.int64(number >> 64), np.uint64(number & WORD)

    assert bool(is_before(*key(one), *key(other))) == (one < other)
