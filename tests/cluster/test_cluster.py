"""Programs on a standalone cluster whose machines have nothing of sparkext but what its users ship.

``make cluster-test`` runs this. Executors and drivers are processes with environments and directories of their own,
in which neither the checkout nor the installation that the tests run in can be found.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchmarks import queries, rides
from tests.cluster.page import block
from tests.cluster.standalone import Standalone
from tests.support.spark_programs import ROOT, eventually

pytestmark = [pytest.mark.spark, pytest.mark.cluster]

EVENTS = rides.Rides(events=200_000, drivers=1_000)
FILES = 8
QUERIES = 24
MINUTES = 10
"""Longest time that a program may take."""

SOURCES = ("Makefile", "README.md", "LICENSE", "planner", "pyproject.toml", "sparkext", "udfs")
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.sparkext.partitions": "16",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.liveUpdate.period": "0",
}
"""``spark-defaults.conf`` of all programs."""


class Site:
    """What users and machines of a cluster have, below one directory.

    Attributes:
        where: The directory.
        driver: Python with the wheel installed.
        executors: Python with the packages that sparkext needs on executors, and without sparkext.
        variables: Environment of all processes.
    """

    def __init__(self, where: Path) -> None:
        self.where = where
        self.driver = _python(where / "driver")
        self.executors = _python(where / "executors")
        for name in ("home", "temporary", "local", "conf"):
            (where / name).mkdir()
        settings = "".join(f"{name} {value}\n" for name, value in SETTINGS.items())
        (where / "conf" / "spark-defaults.conf").write_text(settings)
        kept = {name: os.environ[name] for name in ("JAVA_HOME", "LANG") if name in os.environ}
        self.variables = kept | {
            "PATH": os.pathsep.join([str(self.driver.parent), str(_spark_programs()), os.environ["PATH"]]),
            "HOME": str(where / "home"),
            "TMPDIR": str(where / "temporary"),
            "SPARK_LOCAL_DIRS": str(where / "local"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_CONF_DIR": str(where / "conf"),
        }

    @property
    def kernels(self) -> Path:
        """Where what is shipped is taken out of its archive, and kernels are kept."""
        return self.where / "temporary" / f"sparkext-kernels-{os.getuid()}"

    def compiled(self) -> list[Path]:
        """Files with kernels."""
        return sorted(self.kernels.rglob("*.nbc"))

    def folder(self, name: str) -> Path:
        """A new directory, with the archive of sparkext in it."""
        created = Path(tempfile.mkdtemp(prefix=name, dir=self.where))
        shutil.copyfile(self.where / "source" / "sparkext.zip", created / "sparkext.zip")
        return created

    def on_the_page(self, url: str, heading: str, index: int = 0) -> str:
        """A block of the documentation for this site and the master ``url``."""
        text = block(heading, index)
        for on_page, here in (("spark://master:7077", url), ("/opt/events/bin/python", str(self.executors))):
            assert on_page in text
            text = text.replace(on_page, here)
        return text


def _python(folder: Path) -> Path:
    """A new environment with the packages of this one, but those that are installed as editable, such as sparkext."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (_packages(folder) / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "python"


def _packages(folder: Path) -> Path:
    return next(folder.glob("lib/python*/site-packages"))


def _spark_programs() -> Path:
    import pyspark

    return Path(str(pyspark.__file__)).parent / "bin"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """With the wheel of the sources as they are, which is made as the page says."""
    created = Site(tmp_path_factory.mktemp("site"))
    source = created.where / "source"
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        source.mkdir(exist_ok=True)
        copy(ROOT / name, source / name)
    how = block("Shipping sparkext").replace("make wheel\n", f"'{sys.executable}' -m build --wheel >build.log\n")
    subprocess.run(["sh", "-e", "-c", how], cwd=source, check=True)
    (wheel,) = (source / "dist").glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python", str(created.driver)]
    subprocess.run([*pip, "install", "--no-index", "--no-deps", "--ignore-installed", str(wheel)], check=True)
    (_packages(created.executors.parent.parent) / "sqlglot.py").write_text("raise ImportError('not for executors')\n")
    return created


@pytest.fixture(scope="module")
def cluster(site: Site) -> Iterator[Standalone]:
    started = Standalone(site.where, site.variables, workers=2)
    yield started
    started.close()


class Program:
    """`tests.cluster.program` over the events of a site, as a process of its own."""

    def __init__(self, site: Site, name: str, session: str, variables: dict[str, str], lost: int = 0) -> None:
        self.folder = site.folder(name)
        shutil.copyfile(Path(__file__).with_name("program.py"), self.folder / "program.py")
        (self.folder / "session.py").write_text(session)
        given = {f"trend_{number}": query for number, query in enumerate(queries.pool("rides", QUERIES))}
        (self.folder / "queries.json").write_text(json.dumps(given))
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [site.driver, "program.py", _events(site), "queries.json", self.folder / "answers.json", str(lost)],
                cwd=self.folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def wait_for(self, name: str) -> None:
        """Wait until the program has come to a place."""
        file = self.folder / name
        eventually(lambda: file.exists() or self._process.poll() is not None, 60 * MINUTES, every=0.01)
        assert file.exists(), self._log()

    def answers(self) -> Any:
        """What it has found in the end."""
        status = self._process.wait(60 * MINUTES)
        assert status == 0, self._log()
        return json.loads((self.folder / "answers.json").read_text())

    def _log(self) -> str:
        return (self.folder / "log").read_text()[-20_000:]


def _events(site: Site) -> Path:
    """The events in several files, so that each executor reads some."""
    folder = site.where / "rides"
    if not folder.exists():
        table = pq.read_table(rides.write(EVENTS, site.where / "events"))
        folder.mkdir()
        size = -(-table.num_rows // FILES)
        for number in range(FILES):
            pq.write_table(table.slice(number * size, size), folder / f"{number}.parquet")
    return folder


def test_executors_are_lost_and_answers_are_not(site: Site, cluster: Standalone) -> None:
    """One executor is killed while the first pass is made, another when results are kept and half of them are read."""
    session = site.on_the_page(cluster.url, "In a program")
    from_the_archive = {**cluster.variables, "PYTHONPATH": "sparkext.zip"}
    alone = Program(site, "alone", _without_cluster(session), from_the_archive).answers()
    assert alone["driver"].endswith("sparkext.zip/sparkext/__init__.py")
    compiled = site.compiled()
    assert compiled

    program = Program(site, "program", session, cluster.variables, lost=2)
    killed = []
    for moment in ("middle", "half"):
        program.wait_for(moment)
        killed.append(min(cluster.executors()))
        os.kill(killed[-1], signal.SIGKILL)
    answers = program.answers()
    assert len(alone["rows"]) == QUERIES
    assert all(alone["rows"].values())
    for name, rows in alone["rows"].items():
        assert _alike(answers["rows"][name], rows), name

    lost = [executor for executor in answers["executors"] if not executor["alive"]]
    assert len(lost) == len(set(killed)) == 2
    assert all(executor["completed"] for executor in lost)
    _check_places(site, answers)
    _check_counts(answers["counted"], alone["counted"])
    assert site.compiled() == compiled, "executors have not used the kernels that were there"


def _without_cluster(session: str) -> str:
    """The same session on this machine alone."""
    lines = [line for line in session.splitlines() if "PYSPARK_PYTHON" not in line and "addPyFile" not in line]
    return re.sub(r"spark://[^\"]+", "local[2]", "\n".join(lines))


def _alike(actual: Any, expected: Any) -> bool:
    """Whether rows are the same; of doubles, the last digits depend on the order in which they were added."""
    if isinstance(expected, list):
        return len(actual) == len(expected) and all(map(_alike, actual, expected))
    if isinstance(expected, float):
        return math.isclose(actual, expected, rel_tol=1e-9)
    return bool(actual == expected)


def _check_places(site: Site, actual: Any) -> None:
    """The driver has used the wheel. Executors have used what was shipped, and there is nothing else of ours."""
    assert Path(actual["driver"]).is_relative_to(site.driver.parents[1])
    for package, kernel, of_the_driver, path in actual["places"]:
        assert Path(package).parents[2].name == "sparkext.zip"
        assert Path(kernel).is_relative_to(site.kernels)
        assert of_the_driver == []
        assert not any(Path(entry, "sparkext").exists() for entry in path)


def _check_counts(actual: Any, expected: Any) -> None:
    """Tasks that were repeated after their report count twice, with all that they saw: expectations are the same.

    There need be none: the executor that is killed first may not have reported any.
    """
    (seen,), (true,) = actual, expected
    assert true["keys"] <= seen["keys"] <= 3 * true["keys"]
    for event, number in true["events"].items():
        assert seen["events"][event] / seen["span"] == pytest.approx(number / true["span"], rel=0.1)


def test_programs_of_spark_submit(site: Site, cluster: Standalone) -> None:
    """A program and the prompt, with all of sparkext from the archive on executors, as the page has them."""
    folder = site.folder("submitted")
    (folder / "trends.py").write_text(block("With spark-submit", 0))
    for index in (1, 3):
        command = site.on_the_page(cluster.url, "With spark-submit", index)
        done = subprocess.run(
            ["sh", "-e", "-c", command],
            cwd=folder,
            env=cluster.variables,
            capture_output=True,
            text=True,
            timeout=60 * MINUTES,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == block("With spark-submit", 2)
