"""The socket by which a Python worker talks to Spark."""

from __future__ import annotations

import os
import socket
import stat
from contextlib import suppress

_OPEN = "/proc/self/fd"
"""What this process has open, on Linux."""


def acknowledge_at_once() -> None:
    """Have the system acknowledge what Spark has sent to this worker so far, and at once what it sends next.

    Spark leaves Nagle's algorithm on: it sends less than a packet only when all before it has been acknowledged, and
    Linux waits 40 ms with that for data to send along. A task of a few rows would spend most of its time so. Where the
    system has no such option, or Spark uses other sockets, nothing is changed.
    """
    option = getattr(socket, "TCP_QUICKACK", None)
    if option is None:
        return
    with suppress(OSError):
        for number in map(int, os.listdir(_OPEN)):
            with suppress(OSError):  # of no socket of TCP
                if stat.S_ISSOCK(os.fstat(number).st_mode):
                    with socket.socket(fileno=os.dup(number)) as opened:
                        opened.setsockopt(socket.IPPROTO_TCP, option, 1)
