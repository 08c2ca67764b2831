"""Whether two ways to compute something came to the same: no time counts before they have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa


class ResultsDifferError(AssertionError):
    """Two ways to compute something have different results."""


def check_same(
    name: str, expected: pa.Table | pd.DataFrame, found: pa.Table | pd.DataFrame, keys: Sequence[str]
) -> None:
    """Hold two results against each other, whatever the order of their rows.

    Args:
        name: Of the way that is checked.
        expected: The result that it should have.
        found: The one that it has, with the same columns in any order, and maybe more.
        keys: Columns that tell rows apart; all others are numbers, equal but for 1e-9.

    Raises:
        ResultsDifferError: They differ.
    """
    ours = _sorted(expected, keys)
    theirs = _sorted(found, keys)
    if len(ours) != len(theirs):
        raise ResultsDifferError(f"{name}: {len(theirs)} rows instead of {len(ours)}")
    for column in ours.columns:
        one, other = ours[column], theirs[column]
        if column in keys:
            equal = bool((one.to_numpy() == other.to_numpy()).all())
        else:
            equal = bool(np.allclose(one.to_numpy(float), other.to_numpy(float), rtol=1e-9, atol=0, equal_nan=True))
        if not equal:
            raise ResultsDifferError(f"{name}: other values of {column}")


def _sorted(rows: pa.Table | pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    frame = rows.to_pandas() if isinstance(rows, pa.Table) else rows.copy()
    for column in frame.columns:
        if isinstance(frame[column].dtype, pd.DatetimeTZDtype):
            frame[column] = frame[column].dt.tz_convert("UTC").dt.tz_localize(None)
        if frame[column].dtype.kind == "M":
            frame[column] = frame[column].astype("datetime64[us]")
    return frame.sort_values(list(keys)).reset_index(drop=True)
