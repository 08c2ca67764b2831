"""What is looked at a moment later, by one thread for all sessions."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable

from pyspark.errors import PySparkException

from sparkext.jvm.gateway import JvmError

log = logging.getLogger(__name__)

LOOKS = "sparkext-soon"
"""Name of the thread."""

SOON = 0.5
"""Seconds after which is looked."""

STOPPED = (PySparkException, JvmError, OSError, AttributeError)
"""What fails when Spark has been stopped meanwhile."""

_expected: queue.SimpleQueue[tuple[float, Callable[[], object]]] = queue.SimpleQueue()
_starting = threading.Lock()
_is_started = False


def soon(look: Callable[[], object]) -> None:
    """Call ``look``, which keeps nothing alive that others may be done with, `SOON` seconds from now."""
    global _is_started
    _expected.put((time.monotonic() + SOON, look))
    with _starting:
        if not _is_started:
            threading.Thread(target=_look, name=LOOKS, daemon=True).start()
            _is_started = True


def _look() -> None:
    while True:
        due, look = _expected.get()
        time.sleep(max(0.0, due - time.monotonic()))
        try:
            look()
        except STOPPED as error:
            log.debug("it is not looked: %s", error)
        del look
