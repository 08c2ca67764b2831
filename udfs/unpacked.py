"""The modules of this package as files, when the package itself is in an archive.

Numba keeps a compiled function by the path of its source. In an archive there is none, or it is below the working
directory of one executor, so that each executor would compile everything again. What is taken out of the archive
lies where all executors of a machine find it, and for as long as the sources are the same.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import numba


def lasting_directory() -> Path | None:
    """A directory that outlives the process: the one that the user has named for numba, else one of the user's own.

    None when somebody else could write to the latter, which is below the temporary directory.
    """
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR)
    own = Path(tempfile.gettempdir()) / f"sparkext-kernels-{os.getuid()}"
    own.mkdir(mode=0o700, exist_ok=True)
    if own.stat().st_uid != os.getuid() or own.stat().st_mode & 0o022:
        return None
    return own


def digest(texts: Iterable[bytes]) -> str:
    """Tells one state of sources from others."""
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]


def unpack() -> Path:
    """A directory with the modules of this package as files. Several processes may ask for it at once."""
    modules = sorted((file.name, file.read_bytes()) for file in files("udfs").iterdir() if file.name.endswith(".py"))
    base = lasting_directory()
    place = Path(tempfile.mkdtemp()) if base is None else base / f"udfs-{digest(text for _, text in modules)}"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in modules:
        if not (place / name).exists():  # some, after a clean-up of the temporary directory
            _write(place / name, text)
    return place


def _write(target: Path, text: bytes) -> None:
    """Write a file that others see whole or not at all."""
    handle, name = tempfile.mkstemp(dir=target.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(text)
    os.replace(name, target)
