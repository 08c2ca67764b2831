"""Notebooks, run by a kernel as Jupyter runs them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from examples.notebook import NOTEBOOK, run
from tests.support.spark_programs import ROOT
from tests.support.sql_cases import trends

pytestmark = pytest.mark.spark

_format: Any = nbformat  # not all of its releases have types

CELLS = (
    "from pyspark.sql import SparkSession\nimport sparkext\n"
    "builder = SparkSession.builder.master('local[2]').config('spark.ui.enabled', 'false')\n"
    "spark = sparkext.enable(builder.getOrCreate())",
    # As packages of magics define it: they look for the session themselves.
    "from IPython.core.magic import register_cell_magic\n"
    "@register_cell_magic\n"
    "def sparksql(line, cell):\n"
    "    return SparkSession.builder.getOrCreate().sql(cell)",
    "%%sparksql\nCREATE TEMP VIEW e AS SELECT * FROM VALUES ('x', 1, 'A'), ('x', 2, 'B') AS r(k, t, ty)",
    f"%%sparksql\nCREATE TEMP VIEW pairs AS\n{trends('A B')}",
    "%%sparksql\nEXPLAIN SHARING",
    f"%%sparksql\n{trends('A B,')}",
)


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels find this checkout, and are those of this environment."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")


def test_magics(tmp_path: Path) -> None:
    """The clause works in a cell magic, EXPLAIN SHARING is a picture there, and errors are Spark's own."""
    notebook = _format.v4.new_notebook(cells=[_format.v4.new_code_cell(text) for text in CELLS])
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", allow_errors=True, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    *rest, plan, error = [cell.outputs for cell in notebook.cells]
    assert [out for outputs in rest for out in outputs if out.output_type == "error"] == []
    [shown] = [out.data for out in plan if out.output_type == "execute_result"]
    assert "<svg" in shown["text/html"]
    assert "pairs" in shown["text/html"]
    [failed] = [out for out in error if out.output_type == "error"]
    assert failed.ename == "ParseException"
    assert "[TREND_PATTERN_SYNTAX]" in failed.evalue


def test_the_example(tmp_path: Path) -> None:
    """From top to bottom; a cell that fails ends it with an error."""
    target = tmp_path / "flights.ipynb"
    run(NOTEBOOK, target)
    cells = _format.read(target, as_version=4).cells
    shown = {
        cell.id: out.data["text/html"]
        for cell in cells
        if cell.cell_type == "code"
        for out in cell.outputs
        if "text/html" in out.get("data", {})
    }
    chart = shown.pop("funnel-03")
    assert chart.count("<rect") == 3
    assert "VeryLate</text>" in chart
    assert any("<svg" in picture for picture in shown.values())
