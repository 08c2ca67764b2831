"""Compiles a variant of the kernel, keeps it, and says so in its file; see `sparkext.udfs.workers.variants`::

python -m sparkext.udfs.workers.compile_variant LOCK < signatures
"""

from __future__ import annotations

import gc
import pickle
import sys

from sparkext.udfs.jit.private_parts import MISSING
from sparkext.udfs.workers.variants import compile_signatures, note_done

if not MISSING:
    from numba.core.targetconfig import TargetConfig


def _are_equal(config: TargetConfig, other: object) -> bool:
    if config is other:
        return True
    return isinstance(other, TargetConfig) and (config._values == other._values or config.values() == other.values())


def _hash_of(flags: TargetConfig) -> int:
    """Of those that are not as they are by default: equal flags may differ in which of these have been set."""
    options = flags.options
    return hash(frozenset(pair for pair in flags._values.items() if pair[1] != options[pair[0]].default))


def compare_quickly() -> None:
    """Let numba compare the flags that it compiles with in less than it takes to look at each of twenty.

    It does so whenever it looks for the type of an operation, which was a seventh of all the time.
    """
    TargetConfig.__eq__ = _are_equal
    TargetConfig.__hash__ = _hash_of


if __name__ == "__main__":
    gc.set_threshold(500_000, 20, 100)  # most of what is made is needed to the end: by default a tenth of the time
    if not MISSING:
        compare_quickly()
    compile_signatures(pickle.load(sys.stdin.buffer))
    note_done(int(sys.argv[1]))
