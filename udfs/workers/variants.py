"""Variants of the kernel, of which a plan needs one. Each is compiled once on a machine, by one process.

Beside the kernels that are kept (`sparkext.udfs.jit.compiled`) each variant has a file. Who compiles holds its
lock, which the system takes back however a process ends, and writes into it when all is kept. The lock is taken by a
worker and inherited by the process that it starts; where one of twenty workers has it, the others know that one is at
work.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numba

from sparkext.udfs.jit import compiled
from sparkext.udfs.jit.interpreted import CAN_INTERPRET, interpreted
from sparkext.udfs.jit.private_parts import MISSING
from sparkext.udfs.kernels.kernel import run

COMPILED = run
INTERPRETED = interpreted(run)
"""The kernel in each form."""

Kernel = Callable[..., int]

PLAIN, FORMS, SPANS, FULL, COMPLETIONS, COUNTS = "plain", "forms", "spans", "full", "completions", "counts"
"""Names of the variants: with nothing that a plan may do without, with linear forms, with spans, with all; then the
kernels that find completions, and count them.

Not one for each set of parts that a plan has, since compiling each takes as long as many passes do.
"""

Signatures: TypeAlias = dict[str, tuple[Any, ...]]
"""Types that functions are called with, by the names of the functions."""


class Compilable(Protocol):
    """Arguments that a kernel is compiled for."""

    @property
    def name(self) -> str:
        """Name of the variant."""

    def signatures(self) -> Signatures:
        """Signatures of all functions of the kernel, by name."""


_DONE = b"compiled\n"
_FAILURES = 2
"""So many compiling processes a process sees end without a result before it compiles by itself."""


class Arguments(NamedTuple):
    """What the kernel is called with, but for the task, a row and whether to combine."""

    program: Any
    state: Any
    guards: Any
    past: Any
    regions: Any
    spans: Any
    differences: Any
    panes: Any
    output: Any
    batch: Any

    @property
    def name(self) -> str:
        """Name of the variant."""
        if self.guards is not None:
            return FULL
        if self.spans is not None:
            return SPANS
        return PLAIN if self.regions is None else FORMS

    def signatures(self) -> Signatures:
        """The signature of the kernel, by its name."""
        number = numba.typeof(0)
        return {"run": (number, *map(numba.typeof, self), number, numba.typeof(True))}


class CompletionArguments(NamedTuple):
    """What the kernel of completions is called with, but for numbers."""

    program: Any
    state: Any
    batch: Any

    @property
    def name(self) -> str:
        """Name of the variant."""
        return COMPLETIONS

    def signatures(self) -> Signatures:
        """Signatures of the three functions of that kernel, by name."""
        program, state, batch = map(numba.typeof, self)
        number, moments, keys = numba.typeof(0), numba.typeof(self.batch.new_key), numba.typeof(self.batch.time)
        return {
            "advance": (program, state, batch, moments, keys, number, number),
            "finish": (program, state),
            "compact": (program, state),
        }


class CountArguments(NamedTuple):
    """What the kernel that counts completions is called with, but for numbers."""

    program: Any
    starts: Any
    batch: Any

    @property
    def name(self) -> str:
        """Of the variant."""
        return COUNTS

    def signatures(self) -> Signatures:
        """Of the two functions of that kernel."""
        program, starts, batch = map(numba.typeof, self)
        number, moments, keys = numba.typeof(0), numba.typeof(self.batch.new_key), numba.typeof(self.batch.time)
        return {"count": (program, starts, batch, moments, keys, moments, number), "close": (program, starts)}


class Variant:
    """One variant of the kernels, as this process sees it.

    Args:
        arguments: Of a machine whose plan needs the variant.

    Attributes:
        name: Of its parts.
        spent: Seconds for which this process has run it interpreted.
        is_loaded: Whether the compiled form can be called at once.
        is_alone: Whether this process has to compile for itself, since nothing can be kept or read.
    """

    def __init__(self, arguments: Compilable) -> None:
        self.name = arguments.name
        self.spent = 0.0
        self.is_loaded = bool(numba.config.DISABLE_JIT)
        self.is_alone = compiled.DIRECTORY is None
        self._at_work = False
        self._failures = 0
        self._signatures = {} if self.is_loaded else arguments.signatures()
        self._started: list[subprocess.Popen[bytes]] = []

    @property
    def file(self) -> Path:
        """The file of the variant."""
        assert compiled.DIRECTORY is not None
        return compiled.DIRECTORY / f"{self.name}.variant"

    def is_kept(self) -> bool:
        """Whether the compiled form is kept."""
        try:
            return not self.is_alone and self.file.read_bytes() == _DONE
        except OSError:
            return False

    def look(self) -> None:
        """Load the compiled form if it is kept; else see to it that a process makes it."""
        if self.is_kept():
            self._load()
        elif not self.is_alone:
            self._start()

    def wait(self) -> None:
        """Return when the compiled form is loaded. Compile it in this process if no other can."""
        while not self.is_loaded:
            self.look()
            if self.is_alone:
                self._compile()
            elif not self.is_loaded:
                self._wait_for_lock()

    def keep(self) -> bool:
        """Have the variant compiled by another process, if it is not kept; returns whether it is then."""
        while not self.is_alone and not self.is_kept():
            self._start()
            self._wait_for_lock()
        return self.is_kept()

    def _load(self) -> None:
        try:
            self._compile()
        except Exception:  # whatever a file that is torn or not ours makes of numba
            shutil.rmtree(self.file.parent, ignore_errors=True)
            self._leave_others()

    def _compile(self) -> None:
        """Compile, or load what is kept."""
        compile_signatures(self._signatures)
        self.is_loaded = True

    def _leave_others(self) -> None:
        """Neither look for what is kept nor keep anything from now on."""
        self.is_alone = True
        if MISSING:
            return
        from numba.core.caching import NullCache

        for function in compiled.FUNCTIONS:
            function._cache = NullCache()

    def _start(self) -> None:
        """Start a process that compiles, unless there is one."""
        self._started = [process for process in self._started if process.poll() is None]
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except OSError:
            self._leave_others()
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not self.is_kept():
                self._failures += self._at_work
                self._at_work = self._failures < _FAILURES
                if self._at_work:
                    self._started.append(_compiling(lock, self._signatures))
                else:
                    self._leave_others()
        except BlockingIOError:
            self._at_work = True
        except OSError:
            self._leave_others()
        finally:
            os.close(lock)

    def _wait_for_lock(self) -> None:
        """Return when no process has the lock."""
        with contextlib.suppress(OSError), self.file.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)


class KernelForm:
    """Which form of the kernels a pass runs: what there is, and the compiled one from when it is there.

    Args:
        patience: Seconds for which a process runs a variant interpreted; then it waits for the compiled form.

    Attributes:
        events: How many events have been processed interpreted.
        alone: Whether the process compiled for itself.
    """

    ROWS = 64
    """Events that are processed interpreted before it is looked for the compiled form."""

    def __init__(self, patience: float | None = None) -> None:
        self._patience = PATIENCE if patience is None else patience
        self.events = 0
        self.alone = False

    def of(self, variant: Variant) -> Kernel:
        """The form of a variant to run next."""
        if not variant.is_loaded:
            variant.look()
        if not variant.is_loaded and (variant.spent >= self._patience or not CAN_INTERPRET):
            variant.wait()
            self.alone |= variant.is_alone
        return COMPILED if variant.is_loaded else INTERPRETED

    def rows(self, kernel: Kernel, rows: int) -> int:
        """How many of the next rows to process in this form."""
        return rows if kernel is COMPILED else min(rows, self.ROWS)

    def took(self, variant: Variant, events: int, seconds: float) -> None:
        """Take note of what has been processed interpreted."""
        self.events += events
        variant.spent += seconds


PATIENCE = 2.0
"""Seconds for which a process runs a variant interpreted, some thousands of events. Compiling takes ten times as long,
on a core that the interpreted form may have taken."""

_variants: dict[str, Variant] = {}


def variant_of(arguments: Compilable) -> Variant:
    """The variant that a machine needs, which is one for all machines of the process."""
    if arguments.name not in _variants:
        _variants[arguments.name] = Variant(arguments)
    return _variants[arguments.name]


def compile_signatures(signatures: Signatures) -> None:
    """Compile a variant, or load what is kept."""
    if "run" in signatures:
        run.compile(signatures["run"])
        return
    from sparkext.udfs.completions.kernel_form import compile_function  # which most passes do without

    for name, signature in signatures.items():
        compile_function(name, signature)


def _compiling(lock: int, signatures: Signatures) -> subprocess.Popen[bytes]:
    """A process that compiles, holds the lock until it ends, and outlives this one."""
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if numba.config.CACHE_DIR:
        variables["NUMBA_CACHE_DIR"] = numba.config.CACHE_DIR
    process = subprocess.Popen(
        [sys.executable, "-m", "sparkext.udfs.workers.compile_variant", str(lock)],
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(lock,),
        start_new_session=True,
    )
    assert process.stdin is not None
    with process.stdin:
        process.stdin.write(pickle.dumps(signatures))
    return process


def note_done(lock: int) -> None:
    """Write that a variant is kept into its file, whose lock is held."""
    os.ftruncate(lock, 0)
    os.pwrite(lock, _DONE, 0)
