"""How often Python asks the JVM."""

from __future__ import annotations

import threading
from collections.abc import Callable
from unittest import mock

from py4j.clientserver import ClientServerConnection
from py4j.protocol import MEMORY_COMMAND_NAME


def jvm_calls(run: Callable[[], object]) -> int:
    """How often the JVM is asked by a call, in the thread that makes it, which also serves what the JVM asks meanwhile.

    What Py4J tells the JVM of objects that are garbage here, whenever it comes to it, does not count.
    """
    asked = 0
    thread = threading.get_ident()
    send = ClientServerConnection.send_command

    def count(self: ClientServerConnection, command: str) -> object:
        nonlocal asked
        asked += threading.get_ident() == thread and not command.startswith(MEMORY_COMMAND_NAME)
        return send(self, command)

    with mock.patch.object(ClientServerConnection, "send_command", count):
        run()
    return asked
