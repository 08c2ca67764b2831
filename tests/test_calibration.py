"""Constants of the cost model, as they are measured."""

from __future__ import annotations

from benchmarks import calibration
from tests.support.tiers import many_events


@many_events
def test_measured() -> None:
    constants = calibration.measure(events=4000)
    for name in ("update", "lane", "multiply", "tree", "scan"):  # the others may be lost in noise
        assert getattr(constants, name) > 0


def test_lanes_are_those_of_windows() -> None:
    """What is measured with many open windows has a lane for each, and no panes."""
    for plan in (calibration.alone(3, 256), calibration.in_forms(3, 256)):
        assert not plan.panes
        assert all(window is not None and window.live == 256 for window in plan.windows)
    assert not calibration.alone(3, 256).regions
    (region,) = calibration.in_forms(3, 256).regions
    assert len(region.space.forms) == 3
    assert [region.has_choice for least in (2, 0) for region in calibration.in_bursts(least).regions] == [True, False]
