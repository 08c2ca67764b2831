"""Connections of threads that have ended, which are closed.

Py4J gives each thread of the JVM that calls Python a connection of its own, with a thread in Python that serves it,
and closes neither when the thread of the JVM ends. Spark Connect runs every statement in a new one.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from py4j.protocol import Py4JError

log = logging.getLogger(__name__)

EVERY = 2.0
"""Seconds between two looks for threads that have ended."""

THREAD = "sparkext-connections"

_open: dict[Any, Any] = {}
_noted = threading.Event()
_changing = threading.Lock()
_is_started = False


def close_when_done(connection: Any, java_thread: Any) -> None:
    """Close a connection of Py4J's soon after the thread of the JVM that it belongs to has ended."""
    global _is_started
    with _changing:
        _open[connection] = java_thread
        _noted.set()
        if not _is_started:
            threading.Thread(target=_run, name=THREAD, daemon=True).start()
            _is_started = True


def _run() -> None:
    while _noted.wait():
        time.sleep(EVERY)
        _close_ended()


def _close_ended() -> None:
    with _changing:
        opened = list(_open.items())
    ended = [connection for connection, thread in opened if not _is_alive(thread)]
    with _changing:
        for connection in ended:
            del _open[connection]
        if not _open:
            _noted.clear()
    for connection in ended:
        if connection.socket is not None:
            with suppress(OSError):
                connection.socket.shutdown(socket.SHUT_RDWR)


def _is_alive(java_thread: Any) -> bool:
    try:
        return bool(java_thread.isAlive())
    except (Py4JError, OSError) as error:  # Spark has been stopped meanwhile
        log.debug("a connection is given up: %s", error)
        return False
