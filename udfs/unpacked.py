"""The modules of this package as files, when the package itself is in an archive.

Numba keeps a compiled function by the path of its source. In an archive there is none, or it is below the working
directory of one executor, so that each executor would compile everything again. What is taken out of the archive
lies where all executors of a machine find it, and for as long as the sources are the same.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numba

if TYPE_CHECKING:
    from importlib.abc import Traversable

log = logging.getLogger(__name__)


def lasting_directory() -> Path | None:
    """A directory that outlives the process: the one that the user has named for numba, else one of the user's own.

    The user's own is below the temporary directory, or below the named one where all users make files beside each
    other, as in /tmp. None when it cannot be made, is a link, or somebody else could write to it. A named directory to
    which others may write is refused with a warning: to load what they have put there would be to run it.
    """
    base = Path(tempfile.gettempdir())
    if numba.config.CACHE_DIR:
        named = Path(numba.config.CACHE_DIR)
        try:
            named.mkdir(parents=True, exist_ok=True)
            if may_be_trusted(named):
                return named
            if named.stat().st_mode & stat.S_ISVTX and all(map(_is_safe_above, named.resolve().parents)):
                base = named
            else:
                _refuse(named)
        except OSError:
            return None
    try:
        directory = base / f"sparkext-kernels-{os.getuid()}"
        directory.mkdir(mode=0o700, exist_ok=True)
        status = directory.lstat()
    except OSError:
        return None
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
    return directory if is_own else None


def may_be_trusted(directory: Path) -> bool:
    """Whether nobody but this user, root and a group that they have given it to may put files into a directory.

    Raises:
        OSError: There is no such directory.
    """
    status = directory.stat()
    is_ours = status.st_uid in (os.getuid(), 0) and not status.st_mode & stat.S_IWOTH
    return is_ours and all(map(_is_safe_above, directory.resolve().parents))


def _is_safe_above(directory: Path) -> bool:
    """Whether not everybody may put another directory in the place of one that is in this one."""
    mode = directory.stat().st_mode
    return not mode & stat.S_IWOTH or bool(mode & stat.S_ISVTX)


def _refuse(directory: Path) -> None:
    """Say, once, that nothing is kept in a directory."""
    if directory not in _refused:
        _refused.add(directory)
        log.warning(
            "no compiled kernels are kept in %s, nor loaded from there, since other users may write to it; "
            "see 'Where kernels are kept' in docs/cluster.md",
            repr(str(directory)),
        )


_refused: set[Path] = set()


def digest(texts: Iterable[bytes]) -> str:
    """Tells one state of sources from others."""
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]


COMPILED_FOLDERS = ("arithmetic", "comparisons", "completions", "jit", "kernels", "state", "tables")
"""Folders of the modules that a kernel is made of, and of the tables that it is handed: it is compiled anew when one of
them changes, and not for a change of what reads batches and runs tasks."""


def unpack() -> list[str]:
    """Directories with the modules of this package as files, those of kernels by themselves.

    Several processes may ask for them at once.
    """
    modules = sorted(_modules(files("sparkext.udfs")))
    compiled = [module for module in modules if module[0].split("/")[0] in COMPILED_FOLDERS]
    return [str(_unpacked(some)) for some in (compiled, [module for module in modules if module not in compiled])]


def _unpacked(modules: list[tuple[str, bytes]]) -> Path:
    """A directory with some modules, which are given by their paths and texts."""
    base = lasting_directory()
    directory = Path(tempfile.mkdtemp()) if base is None else base / f"udfs-{digest(text for _, text in modules)}"
    directory.mkdir(exist_ok=True)
    for name, text in modules:
        if not (directory / name).exists():  # some, after a clean-up of the temporary directory
            (directory / name).parent.mkdir(exist_ok=True)
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
    written = target.with_name(f"{target.name}.{uuid.uuid4().hex}")
    with written.open("xb") as file:
        file.write(text)
    written.replace(target)
