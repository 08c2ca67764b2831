"""Where compiled kernels are kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import numba
import pytest

from sparkext.udfs import unpacked
from sparkext.udfs.jit import compiled

ROOT = Path(__file__).parents[2]

SAY_WHERE = """
from numba.core.registry import CPUDispatcher
from sparkext import planner
from sparkext.udfs.jit import compiled
from sparkext.udfs.arithmetic import numbers
some = next(value for value in vars(numbers).values() if isinstance(value, CPUDispatcher))
print(planner.__file__, numbers.__file__, compiled.SOURCES, some._cache.cache_path)
"""
"""Where modules come from in a process, and where numba keeps what it compiles of them."""


@pytest.fixture
def no_cache_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    return tmp_path


def test_beside_the_source_where_that_can_be_written(no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: True)
    chosen = compiled.cache_directory()
    assert chosen is not None
    assert chosen.parent == Path(compiled.__file__).parents[1] / "__pycache__"
    assert list(no_cache_chosen.iterdir()) == []


def test_in_a_private_directory_elsewhere(no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    chosen = compiled.cache_directory()
    own = no_cache_chosen / f"sparkext-kernels-{os.getuid()}"
    assert chosen is not None
    assert chosen.parent == own
    assert own.stat().st_mode & 0o077 == 0


def test_not_in_a_directory_that_others_can_write_to(no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    (no_cache_chosen / f"sparkext-kernels-{os.getuid()}").mkdir(mode=0o700)
    (no_cache_chosen / f"sparkext-kernels-{os.getuid()}").chmod(0o777)
    assert compiled.cache_directory() is None


def test_not_where_there_is_a_file(no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    (no_cache_chosen / f"sparkext-kernels-{os.getuid()}").write_text("")
    assert compiled.cache_directory() is None


def test_not_where_a_link_leads_to(no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    elsewhere = no_cache_chosen / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (no_cache_chosen / f"sparkext-kernels-{os.getuid()}").symlink_to(elsewhere)
    assert compiled.cache_directory() is None


def test_in_the_place_that_the_user_has_named(no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(no_cache_chosen / "chosen"))
    chosen = compiled.cache_directory()
    assert chosen is not None
    assert chosen.parent == no_cache_chosen / "chosen"


@pytest.mark.parametrize("above", [False, True])
def test_not_in_a_named_directory_that_others_can_write_to(
    no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, above: bool
) -> None:
    """Nor in one that others can put another in the place of. It is said once, on one line."""
    chosen = no_cache_chosen / "shared\nby all" / "kernels"
    chosen.mkdir(parents=True)
    (chosen.parent if above else chosen).chmod(0o777)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(chosen))
    for _ in range(2):
        kept = compiled.cache_directory()
        assert kept is not None
        assert kept.parent == no_cache_chosen / f"sparkext-kernels-{os.getuid()}"
    [said] = caplog.messages
    assert "other users may write to it" in said
    assert "\n" not in said
    assert list(chosen.iterdir()) == []


def test_beside_others_in_a_named_directory_that_is_sticky(
    no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As ``/tmp`` is: in a directory of the user's own."""
    chosen = no_cache_chosen / "shared"
    chosen.mkdir()
    chosen.chmod(0o1777)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(chosen))
    kept = compiled.cache_directory()
    assert kept is not None
    assert kept.parent == chosen / f"sparkext-kernels-{os.getuid()}"
    assert kept.parent.stat().st_mode & 0o077 == 0
    assert caplog.messages == []


def test_a_named_directory_of_a_group(no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = no_cache_chosen / "chosen"
    chosen.mkdir()
    chosen.chmod(0o2775)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(chosen))
    kept = compiled.cache_directory()
    assert kept is not None
    assert kept.parent == chosen


def test_kernels_of_an_installation_that_cannot_be_read(
    no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """They are compiled anew, and that is said."""
    monkeypatch.setattr(compiled, "_PACKAGE", no_cache_chosen / "installed")
    (no_cache_chosen / "installed" / "__pycache__" / compiled._name()).mkdir(parents=True)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("not for you")

    monkeypatch.setattr("shutil.copytree", refuse)
    directory = no_cache_chosen / "own" / compiled._name()
    assert compiled.fill(directory) == directory
    assert not directory.exists()
    assert ["not for you" in said for said in caplog.messages] == [True]


def test_kernels_of_an_installation_that_cannot_be_written_to(
    no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are copied once, as numba reads none from there."""
    package = no_cache_chosen / "installed"
    monkeypatch.setattr(compiled, "_PACKAGE", package)
    monkeypatch.setattr("os.access", lambda *_: False)
    chosen = compiled.cache_directory()
    assert chosen is not None
    assert compiled.fill(chosen) == chosen
    assert not chosen.exists()
    kept = package / "__pycache__" / chosen.name / "kernels_0123" / "some.nbi"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"some")
    for _ in range(2):
        assert compiled.fill(chosen) == chosen
        assert chosen.stat().st_mode & 0o777 == kept.parent.parent.stat().st_mode & 0o777
        assert (chosen / "kernels_0123" / "some.nbi").read_bytes() == b"some"
        assert list(chosen.parent.iterdir()) == [chosen]
    assert compiled.fill(None) is None


def test_each_state_of_the_sources_has_a_directory_of_its_own() -> None:
    first, second, third = (unpacked.digest([text, b"c"]) for text in (b"a", b"b", b"a"))
    assert first == third != second


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """The packages in an archive, as users ship them."""
    packed = tmp_path / "sparkext.zip"
    with ZipFile(packed, "w") as file:
        file.write(ROOT / "sparkext" / "__init__.py", "sparkext/__init__.py")
        for package in ("planner", "udfs"):
            for source in sorted((ROOT / package).rglob("*.py")):
                file.write(source, Path("sparkext") / source.relative_to(ROOT))
    return packed


def said(archive: Path, temporary: Path) -> list[str]:
    """Words that `SAY_WHERE` prints when ``archive`` is all that it has of sparkext.

    Without ``site`` it cannot use the installation that the tests run in, which is an editable one.
    """
    path = os.pathsep.join([str(archive), str(Path(numba.__file__).parent.parent)])
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "TMPDIR": str(temporary)}
    command = [sys.executable, "-S", "-c", SAY_WHERE]
    return subprocess.run(
        command, env=variables, cwd=temporary, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()


def test_taken_out_of_an_archive(archive: Path) -> None:
    """To the same place from wherever the archive is, and again when some of it has been cleaned away."""
    elsewhere = archive.parent / "executor" / archive.name
    elsewhere.parent.mkdir()
    shutil.copyfile(archive, elsewhere)
    outputs = []
    for folder in (archive, elsewhere):
        planner, numbers, sources, cache = said(folder, archive.parent)
        assert planner == str(folder / "sparkext" / "planner" / "__init__.py")
        outputs.append((numbers, sources, cache))
        Path(numbers).unlink()
    assert outputs[0] == outputs[1]
    numbers, sources, cache = outputs[0]
    own = archive.parent / f"sparkext-kernels-{os.getuid()}"
    assert Path(numbers).parents[2] == own
    assert Path(cache).is_relative_to(own)
    assert sources == compiled.SOURCES


def test_numba_keeps_what_is_not_ours_where_it_did() -> None:
    before = numba.config.CACHE_DIR

    @compiled.kernel
    def nothing() -> None:
        pass

    assert before == numba.config.CACHE_DIR
