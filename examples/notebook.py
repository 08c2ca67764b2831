"""Runs ``flights.ipynb`` from top to bottom with the Python that runs this module.

``python -m examples.notebook [--output FILE]`` writes the notebook with what its cells print, by default
over itself.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

HERE = Path(__file__).resolve().parent
NOTEBOOK = HERE / "flights.ipynb"
SECONDS_PER_CELL = 600

_format: Any = nbformat  # not all of its releases have types


def run(source: Path, target: Path) -> None:
    """Run the notebook ``source``, and write it with its outputs to ``target``.

    Raises:
        CellExecutionError: A cell failed; nothing is written.
    """
    # Kernels of this environment before those of the user, which may be of another Python.
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    notebook = _format.read(source, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        resources={"metadata": {"path": str(HERE)}},
        record_timing=False,
    )
    client.execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            # The JVM greets on stderr; a cell that fails has raised by now.
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    _format.write(notebook, target)


def main() -> int:
    """Run the notebook, and say how long it took."""
    parser = argparse.ArgumentParser(description="Run examples/flights.ipynb from top to bottom.")
    parser.add_argument("--output", type=Path, default=NOTEBOOK, help="where to write it (default: over itself)")
    output: Path = parser.parse_args().output
    start = time.perf_counter()
    try:
        run(NOTEBOOK, output)
    except CellExecutionError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{output} ran from top to bottom in {time.perf_counter() - start:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
