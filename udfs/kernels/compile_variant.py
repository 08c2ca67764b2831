"""Compiles a variant of the kernel, keeps it, and says so in its file; see `sparkext.udfs.kernels.variants`::

python -m sparkext.udfs.kernels.compile_variant LOCK < signature
"""

from __future__ import annotations

import pickle
import sys

from sparkext.udfs.kernels.variants import compile_signature, note_done

if __name__ == "__main__":
    compile_signature(pickle.load(sys.stdin.buffer))
    note_done(int(sys.argv[1]))
