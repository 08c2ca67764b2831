"""The declarative pipeline of the examples: ``spark-pipelines`` with the jar."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.find_spark_home import _find_spark_home

from tests.clients.test_metastore import run
from tests.support.extension_jar import jar
from tests.support.spark_programs import ROOT, variables

pytestmark = [pytest.mark.spark, pytest.mark.long]

STORAGE = "file:///tmp/purchases"

CONF = """
spark.driver.extraClassPath {jar}
spark.sparkext.python {python}
spark.ui.enabled false
"""
"""What the installation of a wheel does, or its user."""


def test_datasets_with_the_clause(tmp_path: Path) -> None:
    """A materialized view, and a streaming table whose rows are those of the view, but for windows that are open."""
    project = Path(shutil.copytree(ROOT / "examples" / "pipeline", tmp_path / "pipeline"))
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(CONF.format(jar=jar(), python=sys.executable))
    spec = project / "spark-pipeline.yml"
    assert STORAGE in spec.read_text()
    spec.write_text(spec.read_text().replace(STORAGE, (tmp_path / "storage").as_uri()))
    assert run(project, "plain", (project / "visits.sql").read_text()) == [[]]
    command = ["run", "--spec", "spark-pipeline.yml", "--conf", "spark.sql.catalogImplementation=hive"]
    ran = subprocess.run(
        [f"{_find_spark_home()}/bin/spark-pipelines", *command],
        cwd=project,
        env={**variables(), "SPARK_CONF_DIR": str(tmp_path / "conf"), "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    purchases, so_far = run(project, "plain", "SELECT * FROM purchases", "SELECT * FROM purchases_so_far")
    assert len(purchases) > 50
    assert len(so_far) > 50
    last = max(row[2] for row in so_far)
    assert sorted(so_far) == sorted(row for row in purchases if row[2] <= last)
