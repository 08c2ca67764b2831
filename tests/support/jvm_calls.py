"""How often Python asks the JVM."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

from py4j.clientserver import ClientServerConnection
from py4j.protocol import MEMORY_COMMAND_NAME

from sparkext.workload.collector import THREAD
from sparkext.workload.soon import LOOKS


@contextmanager
def counted_calls() -> Iterator[list[int]]:
    """A list of one number, which counts the calls of the JVM.

    What Py4J tells the JVM of objects that are garbage here, whenever it comes to it, does not count, nor does what
    threads do that nobody waits for.
    """
    asked = [0]
    send = ClientServerConnection.send_command

    def count(self: ClientServerConnection, command: str) -> object:
        asked[0] += threading.current_thread().name not in (THREAD, LOOKS) and not command.startswith(
            MEMORY_COMMAND_NAME
        )
        return send(self, command)

    with mock.patch.object(ClientServerConnection, "send_command", count):
        yield asked


def jvm_calls(run: Callable[[], object]) -> int:
    """How often the JVM is asked by a call."""
    with counted_calls() as asked:
        run()
        return asked[0]
