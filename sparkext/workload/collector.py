"""Lets workloads look, a moment after views may have gone, for what nothing asks for any more."""

from __future__ import annotations

import heapq
import itertools
import logging
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import TypeAlias

from sparkext.jvm.gateway import JvmError

log = logging.getLogger(__name__)

THREAD = "sparkext-collector"
"""Name of the one thread of all workloads."""

SOON = 1.0
"""Seconds after which is looked."""

SHARE = 20.0
"""How many times as long as the look before took is waited at least: with thousands of views, they take a while."""

LATER = 10.0
"""Seconds after which is looked at what may have come back."""

_Due: TypeAlias = "tuple[float, int, weakref.ref[Collector], bool]"
"""Moment of ``time.monotonic``, a number that tells equal moments apart, who is to look, and whether in any case."""

_due: queue.SimpleQueue[_Due] = queue.SimpleQueue()

_numbers = itertools.count()
_started = threading.Lock()
_is_started = False


class Collector:
    """Of one workload. Its methods wait for nobody and ask nothing of the JVM, whose catalog may be locked."""

    def __init__(self, collect: Callable[[], object]) -> None:
        """Look by calling ``collect``, a method."""
        self._collect = weakref.WeakMethod(collect)
        self._expected: dict[int, float] = {}
        self._is_due = False
        self._is_due_later = False
        self._took = 0.0

    def expect(self, numbers: Iterable[int]) -> None:
        """Look soon, unless all ``numbers`` are settled until then: of clauses, or 0 to look in any case."""
        now = time.monotonic()
        self._expected.update(dict.fromkeys(numbers, now))
        self._look_soon()

    def _look_soon(self) -> None:
        if not self._is_due:
            self._is_due = True
            self._put(max(SOON, SHARE * self._took), in_any_case=False)

    def expect_later(self) -> None:
        """Look in any case, but not as soon."""
        if not self._is_due_later:
            self._is_due_later = True
            self._put(LATER, in_any_case=True)

    def _put(self, seconds: float, in_any_case: bool) -> None:
        _due.put((time.monotonic() + seconds, next(_numbers), weakref.ref(self), in_any_case))
        _start()

    def settle(self, number: int) -> None:
        """A clause is read, so the view that calls for it has not gone."""
        self._expected.pop(number, None)

    def is_expecting(self) -> bool:
        """Whether something is to be looked for."""
        return bool(self._expected)

    def done(self) -> None:
        """It has been looked; but what statements of just now do to views may be yet to come."""
        old = time.monotonic() - SOON
        for number, since in list(self._expected.items()):
            if since <= old:
                self._expected.pop(number, None)
        if self._expected:
            self._look_soon()

    def collect(self) -> None:
        """Look at once."""
        if (collect := self._collect()) is not None:
            collect()

    def look(self, in_any_case: bool) -> None:
        """Look now, in any case or if there is still something to be looked for."""
        if in_any_case:
            self._is_due_later = False
        else:
            self._is_due = False
        if in_any_case or self._expected:
            begin = time.monotonic()
            try:
                self.collect()
            except (JvmError, OSError) as error:  # Spark has been stopped meanwhile
                log.debug("nothing is collected: %s", error)
            except Exception:  # the thread is that of all workloads
                log.exception("sparkext failed to look for what nothing asks for any more")
            self._took = time.monotonic() - begin


def _start() -> None:
    global _is_started
    with _started:
        if not _is_started:
            threading.Thread(target=_run, name=THREAD, daemon=True).start()
            _is_started = True


def _run() -> None:
    waiting: list[_Due] = []
    while True:
        try:
            seconds = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
            heapq.heappush(waiting, _due.get(timeout=seconds))
        except queue.Empty:
            pass
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, reference, in_any_case = heapq.heappop(waiting)
            collector = reference()
            if collector is not None:
                collector.look(in_any_case)
            del collector
