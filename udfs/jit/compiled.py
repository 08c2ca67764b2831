"""How kernels are compiled, and where they are kept, so that a machine compiles each of them once.

They are kept beside the source. Where the package's directory cannot be written to, as in a system-wide
installation, they go to a directory of the user's own below the temporary directory (`sparkext.udfs.unpacked`).
Numba looks at the file of a function alone to see whether what it kept is still right, but a kernel also
holds what it calls: so each state of the sources has a directory of its own.

Kernels are compiled without numba's runtime, ``_nrt``: they count no references, since whoever calls one holds all
its arrays, and each count is an atomic instruction that takes longer than most of what a kernel does in between.
Such a kernel cannot make arrays; numba refuses to compile one that does.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import njit

from sparkext.planner.kernel_plan.kernel_plan import SOURCE
from sparkext.udfs.jit.private_parts import MISSING
from sparkext.udfs.unpacked import COMPILED_FOLDERS, digest, lasting_directory

log = logging.getLogger(__name__)


def cache_directory() -> Path | None:
    """Where kernels are kept: the directory that the user has named for numba, else one that can be written to."""
    beside = not numba.config.CACHE_DIR and os.access(_PACKAGE, os.W_OK)
    base = _PACKAGE / "__pycache__" if beside else lasting_directory()
    return None if base is None else base / _name()


def fill(directory: Path | None) -> Path | None:
    """Give a directory that is yet to be made the kernels that an installation has, if it cannot be written to.

    Numba reads none from where it cannot write.
    """
    installed = _PACKAGE / "__pycache__" / _name()
    if directory is None or directory == installed or directory.exists() or not installed.is_dir():
        return directory
    with contextlib.suppress(OSError):
        directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        copy = Path(tempfile.mkdtemp(dir=directory.parent))
        try:
            shutil.copytree(installed, copy, dirs_exist_ok=True)
        except OSError as error:
            log.warning("kernels of the installation cannot be copied, so they are compiled anew: %r", str(error)[:200])
        else:
            with contextlib.suppress(OSError):
                copy.rename(directory)  # fails where another process was first
        finally:
            shutil.rmtree(copy, ignore_errors=True)
    return directory


def _name() -> str:
    return f"kernels-{SOURCES}-{MACHINE}"


_PACKAGE = Path(__file__).parents[1]


def _processor() -> tuple[str, ...]:
    """The system, the processor and what it can do, as numba tells what it has kept apart."""
    if MISSING:
        return platform.machine(), platform.processor(), *MISSING
    from numba.core.registry import cpu_target

    return tuple(cpu_target.target_context.codegen().magic_tuple())


def sources() -> list[Path]:
    """The files that kernels are compiled from."""
    return [file for folder in COMPILED_FOLDERS for file in sorted((_PACKAGE / folder).rglob("*.py"))]


SOURCES = digest(file.read_bytes() for file in (*sources(), SOURCE))
"""What the sources of the kernels are now."""

MACHINE = digest(str(part).encode() for part in (sys.version, numba.__version__, np.__version__, *_processor()))
"""What compiled kernels are right for, beside their sources: packages and processor."""

DIRECTORY = fill(cache_directory())
"""Where this process looks for kernels and keeps them; None when there is no directory that is safe."""

FUNCTIONS: list[Any] = []
"""All that is compiled."""


def _kept(**options: bool) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that compiles and keeps the result in the directory for it, if there is one."""

    def decorate(function: Callable[..., Any]) -> Any:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(DIRECTORY or before)
        try:
            compiled = njit(cache=DIRECTORY is not None, **options)(function)
        except RuntimeError:  # it cannot be written to
            compiled = njit(**options)(function)
        finally:
            numba.config.CACHE_DIR = before
        FUNCTIONS.append(compiled)
        return compiled

    return decorate


_compiled_kernel = _kept() if MISSING else _kept(_nrt=False)


def kernel(function: Callable[..., Any]) -> Any:
    """A decorator for functions that Python calls: they are compiled, and kept on disk.

    With ``NUMBA_DISABLE_JIT=1`` they run as they are written, and so does what they call. NumPy says of single numbers,
    and never of those in arrays, that they do not fit; the words of counts and hashes are meant to wrap.
    """
    compiled = _compiled_kernel(function)
    return np.errstate(all="ignore")(compiled) if numba.config.DISABLE_JIT else compiled


def _linked(forceinline: bool) -> Callable[[Callable[..., Any]], Any]:
    if MISSING:
        return lambda function: njit(function)
    from sparkext.udfs.jit.linked import LinkingCompiler

    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": forceinline}
    return lambda function: njit(pipeline_class=LinkingCompiler, _nrt=False, **options)(function)


inner = _linked(forceinline=False)
"""For functions that compiled ones call, see `sparkext.udfs.jit.linked`."""

inlined = _linked(forceinline=True)
"""For small functions in the innermost loops. LLVM puts them into their callers; numba's own way takes much longer to
compile. Numba hands the wish on to what such a function calls, unless that says otherwise."""

arithmetic = _kept() if MISSING else _kept(_nrt=False, forceinline=True)
"""For functions of single values, which Python may call too."""

as_index = np.uint64
"""What the innermost loops make of indexes: of those that may be negative numba asks each time whether they count from
the end, and does not use vector instructions. Sums of these and other integers are none: numba makes them floats."""
