"""Constants of the cost model: measured, kept, read again, and forgotten when they are of another kernel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkext.cli.main import main
from sparkext.execution import calibrate
from sparkext.planner.costs.measured import Constants
from tests.support.tiers import many_events


@many_events
def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints what it has measured and keeps it where plans are made from it."""
    file = tmp_path / "deep" / "calibration.json"
    monkeypatch.setenv(calibrate.FILE_VARIABLE, str(file))
    monkeypatch.setattr("sys.argv", ["sparkext", "calibrate"])
    measure = calibrate.measure
    monkeypatch.setattr(calibrate, "measure", lambda: measure(events=4000))
    assert calibrate.constants() == Constants()
    assert main() == 0
    found = calibrate.constants()
    assert found != Constants()
    shown = capsys.readouterr().out
    for name in ("update", "lane", "multiply", "tree", "scan"):  # the others may be lost in noise
        value = getattr(found, name)
        assert value > 0
        assert f"{value:.3f} ns" in shown
    assert str(file) in shown


def test_lanes_are_those_of_windows() -> None:
    """What is measured with many open windows has a lane for each, and no panes."""
    for plan in (calibrate.alone(3, 256), calibrate.in_forms(3, 256)):
        assert not plan.panes
        assert all(window is not None and window.live == 256 for window in plan.windows)
    assert not calibrate.alone(3, 256).regions
    (region,) = calibrate.in_forms(3, 256).regions
    assert len(region.evaluations) == 3
    assert [region.has_choice for least in (2, 0) for region in calibrate.in_bursts(least).regions] == [True, False]


@pytest.mark.parametrize("key", ["kernel", "machine"])
def test_constants_of_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    file = tmp_path / "calibration.json"
    monkeypatch.setenv(calibrate.FILE_VARIABLE, str(file))
    monkeypatch.setattr(calibrate, "measure", lambda: Constants(update=7.0))
    calibrate.calibrate()
    assert calibrate.constants() == Constants(update=7.0)
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: "another"}))
    calibrate._read.cache_clear()
    assert calibrate.constants() == Constants()


@pytest.mark.parametrize("text", ["", "[]", '{"nanoseconds": 1}'])
def test_files_that_are_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    file = tmp_path / "calibration.json"
    file.write_text(text)
    monkeypatch.setenv(calibrate.FILE_VARIABLE, str(file))
    assert calibrate.constants() == Constants()
