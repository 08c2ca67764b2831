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
    compiled.choose_cache()
    assert numba.config.CACHE_DIR == ""
    assert list(no_cache_chosen.iterdir()) == []


def test_in_a_private_directory_elsewhere(no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    compiled.choose_cache()
    own = no_cache_chosen / f"sparkext-kernels-{os.getuid()}"
    assert str(own) == numba.config.CACHE_DIR
    assert own.stat().st_mode & 0o077 == 0


def test_not_in_a_directory_that_others_can_write_to(no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    (no_cache_chosen / f"sparkext-kernels-{os.getuid()}").mkdir(mode=0o700)
    (no_cache_chosen / f"sparkext-kernels-{os.getuid()}").chmod(0o777)
    compiled.choose_cache()
    assert numba.config.CACHE_DIR == ""


def test_the_users_choice_stays(no_cache_chosen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(no_cache_chosen / "chosen"))
    monkeypatch.setattr("os.access", lambda *_: False)
    compiled.choose_cache()
    assert str(no_cache_chosen / "chosen") == numba.config.CACHE_DIR
