"""The dbt project of the examples, over ``sparkext thriftserver``."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.test_thrift_server import Client, Server
from tests.support.spark_programs import ROOT, variables

pytestmark = pytest.mark.spark

DBT = Path(f"{sys.prefix}-dbt") / "bin" / "dbt"
"""In an environment of its own, as it wants other versions of what sparkext and its tools want."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project."""
    return Path(shutil.copytree(ROOT / "examples" / "dbt", tmp_path / "project"))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    where = tmp_path / "server"
    where.mkdir()
    started = Server(where, "--conf", f"spark.sql.warehouse.dir={where}/warehouse")
    yield started
    started.close()


def dbt(project: Path, server: Server, *options: str) -> None:
    """Run dbt in the project; it must end with 0."""
    assert DBT.exists(), f"{DBT} is not there, so nothing can be said about dbt; `make dbt` installs it"
    environment = {**variables(), "SPARKEXT_PORT": str(server.port), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    environment.pop("PYTHONPATH")
    ran = subprocess.run(
        [DBT, *options, "--profiles-dir", "."],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr + server.log.read_text()[-4000:]


def test_project(project: Path, server: Server, tmp_path: Path) -> None:
    """Its seed, a view with the clause, a table over it, a table with the clause, and its tests."""
    dbt(project, server, "build")
    results = json.loads((project / "target" / "run_results.json").read_text())["results"]
    assert {result["status"] for result in results} == {"success", "pass"}
    assert len(results) == 8
    client = Client(server, tmp_path)
    try:
        rows = client.rows("SELECT step, users, median FROM shop.funnel ORDER BY users DESC;\n")
        assert rows == ["View\t4\t0.0", "Cart\t3\t2.0", "Pay\t2\t6.5"]
        assert client.rows("SELECT user, since FROM shop.left_in_cart;\n") == ["bob\t30"]
        assert len(client.rows("SELECT * FROM shop.reached;\n")) == 9
    finally:
        client.close()
