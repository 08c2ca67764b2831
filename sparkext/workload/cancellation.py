"""Cancellation of a statement while it is planned, when it has no job that could be cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property

from sparkext.jvm.application import JavaThread
from sparkext.workload import interrupts

_cancelled: set[tuple[int, Callable[[], bool]]] = set()
"""Numbers of threads of the JVM, and whether the statement of each that is to end still goes on."""


def of_this_thread() -> Callable[[], bool]:
    """Tells whether the statement that this thread runs has been cancelled.

    A client's statement is by an interrupt of the JVM's thread that runs it, as the JDBC server does; that of Python's
    main thread by Ctrl-C.
    """
    if threading.current_thread() is threading.main_thread():
        return interrupts.is_asked
    return _Cancelled().is_so


class _Cancelled:
    """Whether the statement of the thread that asks has been cancelled; the JVM is asked for its thread but once."""

    @cached_property
    def _thread(self) -> JavaThread:
        return JavaThread()

    def is_so(self) -> bool:
        """Whether it has been."""
        of_this_statement = (goes_on for number, goes_on in _cancelled.copy() if number == self._thread.number)
        return any(goes_on() for goes_on in of_this_statement) or self._thread.is_interrupted()


@contextmanager
def cancelled(thread: JavaThread, goes_on: Callable[[], bool]) -> Iterator[None]:
    """Have what a thread of the JVM plans end, for as long as this lasts and its statement ``goes_on``."""
    asked = thread.number, goes_on
    _cancelled.add(asked)
    try:
        yield
    finally:
        _cancelled.discard(asked)
