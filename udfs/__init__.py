"""What runs on executors: kernels over Arrow batches.

The package imports numpy, pyarrow, numba and the dataclasses of `kernel_plan`, nothing else. Where it is
in an archive, as with ``spark-submit --py-files``, its modules are taken out of it, so that numba can keep what it
compiles.
"""

from __future__ import annotations

from pathlib import Path

if not Path(__file__).is_file():
    from sparkext.udfs.unpacked import unpack

    __path__ = unpack()
