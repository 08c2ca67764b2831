"""The modules of this package as files, when the package itself is in an archive.

Numba keeps a compiled function by the path of its source. In an archive there is none, or it is below the working
directory of one executor, so that each executor would compile everything again. What is taken out of the archive
lies where all executors of a machine find it, and for as long as the sources are the same.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numba

if TYPE_CHECKING:
    from importlib.abc import Traversable


def lasting_directory() -> Path | None:
    """A directory that outlives the process: the one that the user has named for numba, else one of the user's own.

    None when the latter, which is below the temporary directory, cannot be made, is a link, or somebody else could
    write to it.
    """
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR)
    try:
        own = Path(tempfile.gettempdir()) / f"sparkext-kernels-{os.getuid()}"
        own.mkdir(mode=0o700, exist_ok=True)
        found = own.lstat()
    except OSError:
        return None
    is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
    return own if is_own else None


def digest(texts: Iterable[bytes]) -> str:
    """Tells one state of sources from others."""
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]


COMPILED_FOLDERS = ("arithmetic", "comparisons", "jit", "kernels", "state", "tables")
"""Folders of the modules that a kernel is made of, and of the tables that it is handed: it is compiled anew when one of
them changes, and not for a change of what reads batches and runs tasks."""


def unpack() -> list[str]:
    """Directories with the modules of this package as files, those of kernels by themselves.

    Several processes may ask for them at once.
    """
    modules = sorted(_modules(files("sparkext.udfs")))
    compiled = [one for one in modules if one[0].split("/")[0] in COMPILED_FOLDERS]
    return [str(_unpacked(some)) for some in (compiled, [one for one in modules if one not in compiled])]


def _unpacked(modules: list[tuple[str, bytes]]) -> Path:
    """A directory with some modules, which are given by their paths and texts."""
    base = lasting_directory()
    directory = Path(tempfile.mkdtemp()) if base is None else base / f"udfs-{digest(text for _, text in modules)}"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in modules:
        if not (directory / name).exists():  # some, after a clean-up of the temporary directory
            (directory / name).parent.mkdir(mode=0o700, exist_ok=True)
            _write(directory / name, text)
    return directory


def _modules(folder: Traversable, within: str = "") -> Iterator[tuple[str, bytes]]:
    """Paths and texts of the modules in a folder of the archive, and in the folders in it."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _modules(entry, f"{within}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield within + entry.name, entry.read_bytes()


def _write(target: Path, text: bytes) -> None:
    """Write a file that others see whole or not at all."""
    handle, name = tempfile.mkstemp(dir=target.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(text)
    os.replace(name, target)
