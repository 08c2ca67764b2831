"""sparkext from archives of the repository, in which links are text files, and where it does not run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from runpy import run_path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent

MADE = (".git", ".venv", "build", "data", "dist", "site", "spark-warehouse")
"""What is not part of the repository."""


KINDS = (".py", ".toml", ".md", ".json", ".css", ".js", ".typed", ".java")


def copied(folder: Path) -> None:
    """The repository as an archive gives it that is unpacked without knowing of links."""
    for directory, folders, files in os.walk(ROOT):
        here = Path(directory)
        folders[:] = [name for name in folders if name not in MADE and not name.startswith(("__pycache__", "."))]
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = [name for name in folders if name not in links]
        (folder / here.relative_to(ROOT)).mkdir(parents=True, exist_ok=True)
        for name in links:
            (folder / here.relative_to(ROOT) / name).write_text(os.readlink(here / name))
        for name in files:
            if Path(name).suffix in KINDS or name in ("LICENSE", "MANIFEST.in"):
                (folder / here.relative_to(ROOT) / name).write_bytes((here / name).read_bytes())


def built(source: Path, folder: Path) -> set[str]:
    """Names of the modules in the wheel that is built from a source."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(source)], check=True)
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as file:
        return {name for name in file.namelist() if name.endswith((".py", ".json", ".css", ".js", "py.typed"))}


@pytest.mark.long
def test_built_from_archives(tmp_path: Path) -> None:
    """From a zip of the repository, and from a source distribution that is made of that."""
    expected = {
        (Path("sparkext") / path.relative_to(ROOT)).as_posix()
        for folder in ("planner", "udfs")
        for path in (ROOT / folder).rglob("*.py")
    }
    expected |= {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "sparkext").rglob("*")
        if path.suffix in (".py", ".json", ".css", ".js") or path.name == "py.typed"
    }
    unpacked = tmp_path / "unpacked"
    copied(unpacked)
    assert (unpacked / "sparkext" / "planner").read_text() == "../planner"
    assert built(unpacked, tmp_path / "first") == expected
    command = [sys.executable, "-m", "build", "--sdist", "--outdir", str(tmp_path / "sources"), str(unpacked)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (archive,) = (tmp_path / "sources").glob("*.tar.gz")
    with tarfile.open(archive) as file:
        assert not any(member.issym() or member.islnk() for member in file.getmembers())
        inside = {member.name.partition("/")[2] for member in file.getmembers()}
    of_jar = {path.relative_to(ROOT).as_posix() for path in (ROOT / "extension").rglob("*") if path.suffix == ".java"}
    assert {"extension/build.py", *of_jar} <= inside  # the jar can be built of it
    assert built(archive, tmp_path / "second") == expected


def test_the_description_leads_nowhere_in_vain() -> None:
    """On an index of packages there are neither files of the repository nor its pictures; all else is as it was."""
    readme = (ROOT / "README.md").read_text()
    text = run_path(str(ROOT / "setup.py"), run_name="setup")["description"](readme)
    assert "](docs/" in readme
    assert re.findall(r"\]\((?!https?:)", text) == []
    assert "see the recipes. If" in text
    assert "in notebooks as a picture.\n\n## Trends" in text
    assert re.findall(r"^```.*?^```", text, re.M | re.S) == re.findall(r"^```.*?^```", readme, re.M | re.S)


def said(program: str, folder: Path) -> str:
    """The last line of what a program says that fails, with the package of a folder and no installation."""
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder)}
    ran = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=folder, env=variables, capture_output=True, text=True
    )
    assert ran.returncode
    return ran.stderr.strip().splitlines()[-1]


def test_not_imported_without_its_folders(tmp_path: Path) -> None:
    """One sentence says what is wrong with text files in place of links."""
    package = tmp_path / "sparkext"
    package.mkdir()
    (package / "__init__.py").write_text((ROOT / "sparkext" / "__init__.py").read_text())
    for name in ("planner", "udfs"):
        (package / name).write_text(f"../{name}")
    output = said("import sparkext", tmp_path)
    assert output.startswith(f"ImportError: {package}/planner and {package}/udfs are links of the repository")
    assert "pip install --editable" in output


def test_not_on_windows() -> None:
    output = said("import sys; sys.platform = 'win32'; import sparkext", ROOT)
    assert output == "ImportError: sparkext runs on Linux and macOS, and on Windows inside of WSL."
