"""The sockets between Python and the JVM."""

from __future__ import annotations

import threading

from py4j.clientserver import ClientServer
from py4j.java_gateway import JavaGateway


class _Thread(threading.local):
    is_sent_at_once = False


_thread = _Thread()


def send_at_once(gateway: JavaGateway) -> None:
    """Let the JVM send what it says to this thread without waiting.

    Py4J writes what has more than 8 KB in parts, and the system would keep the second part back until the first one
    has been acknowledged, which Linux does after 40 ms. That is longer than it takes to read a trend view.
    """
    if _thread.is_sent_at_once or not isinstance(gateway, ClientServer):
        return
    _thread.is_sent_at_once = True
    connection = gateway.java_gateway_server.getCallbackClient().getPerThreadConnection()
    if connection is not None:
        connection.getSocket().setTcpNoDelay(True)
