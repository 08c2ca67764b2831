"""The release of what runs keep."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable

from sparkext.workload.collector import LATER, Collector
from sparkext.workload.run import Run


class Releases:
    """Releases runs, and after a while once more: what Spark was just computing anew is back then.

    It does that after an INSERT. Spark may ask its catalog for a release, so it is not done with anything locked.
    """

    def __init__(self, collector: Collector) -> None:
        """None yet.

        Args:
            collector: That is to call for `again` later.
        """
        self._collector = collector
        self._released: deque[tuple[float, Run]] = deque()

    def __len__(self) -> int:
        """How many are to be released once more."""
        return len(self._released)

    def release(self, runs: Iterable[Run]) -> None:
        """Release runs."""
        for run in runs:
            run.release()
            if not run.persisted:
                continue
            self._released.append((time.monotonic(), run))
            self._collector.expect_later()

    def again(self) -> None:
        """Release those once more of which the release was a while ago."""
        while self._released and self._released[0][0] <= time.monotonic() - LATER:
            self._released.popleft()[1].release()
        if self._released:
            self._collector.expect_later()
