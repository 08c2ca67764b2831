"""Where compiled kernels are kept, so that a machine compiles each of them once.

Numba keeps them beside the source. Where the package's directory cannot be written to, as in a system-wide
installation, they go to a directory of the user's own below the temporary directory.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numba
from numba import njit


def choose_cache() -> None:
    """Let numba keep compiled kernels in a place that can be written to, unless the user has named one."""
    package = Path(__file__).parent
    if numba.config.CACHE_DIR or os.access(package, os.W_OK):
        return
    own = Path(tempfile.gettempdir()) / f"sparkext-kernels-{os.getuid()}"
    own.mkdir(mode=0o700, exist_ok=True)
    if own.stat().st_uid == os.getuid() and own.stat().st_mode & 0o022 == 0:
        numba.config.CACHE_DIR = str(own)


choose_cache()

inner = njit(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""For functions that compiled ones call: without the code by which Python would, which takes long to compile."""

inlined = njit(cache=True, inline="always")
"""For small functions in the innermost loops."""
