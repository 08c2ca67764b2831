"""Where compiled kernels are kept."""

from __future__ import annotations

import os
from pathlib import Path

import numba
import pytest

from udfs import compiled


@pytest.fixture
def no_cache_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    return tmp_path


def test_beside_the_source_where_that_can_be_written(no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: True)
    chosen = compiled.cache_directory()
    assert chosen is not None
    assert chosen.parent == Path(compiled.__file__).parent / "__pycache__"
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


def test_in_the_place_that_the_user_has_named(no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(no_cache_chosen / "chosen"))
    chosen = compiled.cache_directory()
    assert chosen is not None
    assert chosen.parent == no_cache_chosen / "chosen"


def test_each_state_of_the_sources_has_a_directory_of_its_own(tmp_path: Path) -> None:
    source = tmp_path / "kernel.py"
    digests = []
    for text in ("a", "b", "a"):
        source.write_text(text)
        digests.append(compiled._digest([source]))
    assert digests[0] == digests[2] != digests[1]


def test_numba_keeps_what_is_not_ours_where_it_did() -> None:
    before = numba.config.CACHE_DIR

    @compiled.kernel
    def nothing() -> None:
        pass

    assert before == numba.config.CACHE_DIR
