"""Ctrl-C in a program: it ends what is planned or run, and is raised when the JVM has answered.

Py4J keeps a connection for each thread. An exception in the midst of what it says there leaves the answer to one
question for the next one, so none is raised while a statement goes on.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pyspark import SparkContext

_is_asked = threading.Event()


def is_asked() -> bool:
    """Whether the statement of the main thread is to end."""
    return _is_asked.is_set()


@contextmanager
def held_back(context: SparkContext) -> Iterator[None]:
    """Hold Ctrl-C back while this thread, if it is the main one, has the JVM do something.

    The first one ends jobs, as it does in PySpark, and what is planned; the second one is raised at once.

    Args:
        context: Of the jobs.

    Raises:
        KeyboardInterrupt: At the end, if Ctrl-C has been typed.
    """
    before = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(before) or _Handler.is_in_place:
        yield
        return
    handler = _Handler(context, before)
    signal.signal(signal.SIGINT, handler)
    _Handler.is_in_place = True
    try:
        yield
    finally:
        _Handler.is_in_place = False
        signal.signal(signal.SIGINT, before)
        was_asked = _is_asked.is_set()
        _is_asked.clear()
        if was_asked:
            raise KeyboardInterrupt


class _Handler:
    """What is called at Ctrl-C instead of what was called ``before``."""

    is_in_place = False

    def __init__(self, context: SparkContext, before: signal._HANDLER) -> None:
        self._context = context
        self._before = before

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note it; in a thread of its own, which has another connection, end the jobs."""
        if _is_asked.is_set():
            if callable(self._before):
                self._before(number, frame)
            return
        _is_asked.set()
        threading.Thread(target=self._context.cancelAllJobs, daemon=True).start()
