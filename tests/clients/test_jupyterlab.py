"""EXPLAIN SHARING as JupyterLab shows it, whose own styles are not to spoil it; without Chromium the tests fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import nbformat

from sparkext.explain.pictures.document import read
from sparkext.explain.pictures.page import fragment
from tests.support.browser import OVERPRINTED, SHOWN, browser
from tests.support.picture_documents import golden
from tests.support.spark_programs import eventually, free_port

NOTEBOOK = "plan.ipynb"
OUTPUT = ".jp-OutputArea-output .sparkext"


def write_notebook(where: Path) -> None:
    """A notebook that has been run: a cell and what it shows."""
    html = fragment(read(golden("deliveries")))
    shown = {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/html": html}}
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": 1, "source": "plan", "outputs": [shown]}
    whole = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    nbformat.validate(whole)
    (where / NOTEBOOK).write_text(json.dumps(whole), "utf-8")


@contextmanager
def jupyterlab(where: Path) -> Iterator[str]:
    """JupyterLab over the notebook of a directory, which it trusts; gives its address."""
    environment = os.environ | {"HOME": str(where), "JUPYTER_PREFER_ENV_PATH": "1"}
    subprocess.run([sys.executable, "-m", "nbformat.sign", NOTEBOOK], cwd=where, env=environment, check=True)
    port = free_port()
    options = ("--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token=", "--LabApp.news_url=")
    with open(where / "log", "w") as log:
        lab = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={where}"],
            cwd=where,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        eventually(lambda: answers(f"{address}/api"))
        yield address
    finally:
        lab.kill()  # it may take minutes to end by itself, and has nothing to save
        lab.wait()


def answers(address: str) -> bool:
    try:
        with urlopen(address, timeout=5):
            return True
    except (URLError, TimeoutError):
        return False


def test_facts_are_not_printed_over_each_other(tmp_path: Path) -> None:
    write_notebook(tmp_path)
    with jupyterlab(tmp_path) as address, browser() as chromium:
        chromium.visit(f"{address}/lab/tree/{NOTEBOOK}")
        eventually(lambda: bool(chromium.run(SHOWN, f"{OUTPUT} .picture svg")))
        assert chromium.run(SHOWN, f"{OUTPUT} .facts dt") == ["source", "group by", "other keys", "time", "state"]
        assert chromium.run(OVERPRINTED) == []
        indents = "return [...document.querySelectorAll(arguments[0])].map(e => getComputedStyle(e).paddingLeft)"
        assert set(chromium.run(indents, f"{OUTPUT} ul")) == {"0px"}
