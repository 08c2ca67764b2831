"""What numba may no longer have: kernels are compiled without it, and one warning says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparkext.udfs.jit.private_parts import PARTS, missing

ROOT = Path(__file__).parents[2]

TAKEN_AWAY = """
import sys, warnings
from typing import NamedTuple
import numpy as np
import numba.core.caching, numba.core.ccallback, numba.core.options, numba.experimental  # which need them themselves
{take_away}
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    from sparkext.udfs.jit.compiled import arithmetic, inlined, inner, kernel
    from sparkext.udfs.jit.handed_on import by_reference
    from sparkext.udfs.workers import compile_variant, variants

class Parts(NamedTuple):
    values: object

@arithmetic
def twice(value):
    return 2 * value

@inlined
def first(parts):
    return twice(parts.values[0])

@inner
def sum_up(parts, others):
    parts.values[1] += first(parts)
    return parts.values.sum() if others is None else -1

@kernel
def run(parts, others):
    return sum_up(by_reference(parts), by_reference(others))

said = [str(one.message) for one in seen if one.category is RuntimeWarning]
print(run(Parts(np.array([3, 5])), None), twice(4), len(said), *said)
"""


def said(take_away: str, folder: Path) -> str:
    """What the program prints that compiles some functions as kernels are."""
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT)}
    variables.pop("NUMBA_DISABLE_JIT", None)
    (folder / "program.py").write_text(TAKEN_AWAY.format(take_away=take_away))
    command = [sys.executable, str(folder / "program.py")]
    return subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True).stdout


def test_numba_has_all() -> None:
    assert missing(PARTS) == []
    assert missing({"numba.core.gone": ("Part",), "numba": ("njit", "njit.gone")}) == [
        "numba.core.gone.Part",
        "numba.njit.gone",
    ]


@pytest.mark.parametrize(
    ("take_away", "names"),
    [
        ("", []),
        ("del numba.core.caching.NullCache", ["numba.core.caching.NullCache"]),
        ("del numba.core.options.DefaultOptions.forceinline", ["numba.core.options.DefaultOptions.forceinline"]),
        (
            "del numba.core.caching.NullCache; del numba.core.options.DefaultOptions._nrt",
            ["numba.core.caching.NullCache", "numba.core.options.DefaultOptions._nrt"],
        ),
    ],
)
def test_without_a_part(tmp_path: Path, take_away: str, names: list[str]) -> None:
    output = said(take_away, tmp_path)
    assert output.startswith(f"14 8 {int(bool(names))}")
    if names:
        assert f"has no {', '.join(names)}, which sparkext compiles kernels with" in output


KERNEL = """
import numba.core.caching, numba.core.ccallback, numba.experimental
import numpy as np, pyarrow as pa
{take_away}
from sparkext.planner.kernel_plan.kernel_plan import Layout
from sparkext.udfs.workers.pool_run import PoolRun
from sparkext.udfs.workers.variants import KernelForm
from benchmarks.calibration import alone

plan = alone(2, 4, "A B+")
bits = {{str(event): 1 << number for number, event in enumerate(plan.classes)}}
columns = [np.arange(9) << 27, np.array([bits[name] for name in "ABBAABBBB"])]
rows = pa.RecordBatch.from_arrays([pa.array(column) for column in columns], ["time", "classes"])
print([batch.to_pylist() for batch in PoolRun(plan, Layout(0, 0), form=KernelForm(0)).results(iter([rows]))])
"""


@pytest.mark.long
def test_the_kernel_without_a_part(tmp_path: Path) -> None:
    """Compiled by plain njit it gives what it gives else."""
    results = []
    for take_away in ("", "del numba.core.caching.NullCache"):
        (tmp_path / "program.py").write_text(KERNEL.format(take_away=take_away))
        variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, str(tmp_path / "program.py")]
        results.append(subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True).stdout)
    assert results[0] == results[1]
    assert "exact_0" in results[0]
