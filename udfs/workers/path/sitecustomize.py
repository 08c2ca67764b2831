"""What a Python process that Spark starts does first: it takes PySpark as it is installed, and not from an archive.

Spark starts Python with ``pyspark.zip`` in front of its path. What is imported from there is compiled by each new
process, as an archive keeps nothing that is compiled: a second, most of what the first Python function of a session
waits for, and on a busy machine more than the ten seconds that Spark waits for the process of a stream. Where the
archive belongs to an installed PySpark, that one is taken, from the files next to it.

Before Python 3.11 nothing heeds ``PYTHONSAFEPATH``, so that is done here as well.

Python imports the first ``sitecustomize`` of its path when it starts, so this one goes on to the next. Nothing of
sparkext's is imported here, and little else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

ARCHIVE = "pyspark.zip"


def without_archive(path: Sequence[str]) -> list[str]:
    """A path for imports that finds the same PySpark as files.

    Args:
        path: As Spark has made it.

    Returns:
        The entries of ``path`` but for the archive, when one of the others has the PySpark that it belongs to.
    """
    archives = [entry for entry in path if os.path.basename(entry) == ARCHIVE]
    if not archives:
        return list(path)
    left = [entry for entry in path if entry not in archives]
    spec = PathFinder.find_spec("pyspark", left)
    if spec is None or spec.origin is None:
        return list(path)
    home = os.path.dirname(os.path.realpath(spec.origin))
    if any(os.path.realpath(archive) != os.path.join(home, "python", "lib", ARCHIVE) for archive in archives):
        return list(path)
    return left


class _SafePath:
    """Takes the folder where the process is from the path again, to which ``-m`` has added it.

    It is asked for modules: for ``runpy``, which runs that of ``-m``, once the path is complete.
    """

    def find_spec(self, name: str, *_: object) -> None:
        if name == "runpy":
            sys.meta_path.remove(self)
            if sys.path[:1] == [os.getcwd()]:
                del sys.path[0]


def _run_next() -> None:
    """Run what Python would have run without this directory."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = sys.modules["sitecustomize"] = module_from_spec(spec)
        spec.loader.exec_module(module)


if __name__ == "sitecustomize":
    sys.path[:] = without_archive(sys.path)
    if sys.version_info < (3, 11) and os.environ.get("PYTHONSAFEPATH"):
        sys.meta_path.insert(0, _SafePath())  # type: ignore[arg-type]
    _run_next()
