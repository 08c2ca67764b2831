"""The JVM that this process talks to, of which there is one: its classes, values and failures.

What a call of it raises is a `JvmError`: a `JavaError` when the JVM has thrown an exception of which PySpark has made
none of its own, a `JvmGoneError` when it has ended or does not answer.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from py4j.clientserver import ClientServer
from py4j.protocol import Py4JError as JvmError
from py4j.protocol import Py4JJavaError as JavaError
from py4j.protocol import Py4JNetworkError as JvmGoneError
from pyspark import SparkContext

from sparkext.jvm.connections import close_when_done

__all__ = ["JavaError", "JvmError", "JvmGoneError"]


class _Thread(threading.local):
    is_sent_at_once = False


_thread = _Thread()


def java_gateway() -> Any:
    """Py4J's way to the JVM."""
    gateway = SparkContext._gateway
    assert gateway is not None, "there is no JVM"
    return gateway


def has_pinned_threads() -> bool:
    """Whether each thread of Python has one of the JVM of its own, as in PySpark unless it is told otherwise."""
    return isinstance(java_gateway(), ClientServer)


def java_class(name: str) -> Any:
    """A class by its full name: to be called, or asked for what is static. The JVM is asked once for it."""
    return _class_of(java_gateway().jvm, name)


@lru_cache(maxsize=256)
def _class_of(jvm: Any, name: str) -> Any:
    return getattr(jvm, name)


def java_method(owner: str, name: str) -> Any:
    """A static method of the class ``owner``. The JVM is asked once for it."""
    return _method_of(java_gateway().jvm, owner, name)


@lru_cache(maxsize=64)
def _method_of(jvm: Any, owner: str, name: str) -> Any:
    return getattr(_class_of(jvm, owner), name)


def class_object(name: str) -> Any:
    """The ``java.lang.Class`` of a class, by its full name."""
    return java_method("java.lang.Class", "forName")(name)


def class_name(value: Any) -> str:
    """Simple name of the class of an object of the JVM."""
    return str(java_method("org.apache.commons.lang3.ClassUtils", "getSimpleName")(value))


def scala_object(name: str) -> Any:
    """An ``object`` of Scala by its full name, where what it has is not static in the class."""
    return getattr(java_class(f"{name}$"), "MODULE$")


def java_array(kind: str, values: Sequence[Any]) -> Any:
    """An array of Java's, of elements of the class ``kind``."""
    array = java_gateway().new_array(java_class(kind), len(values))
    for index, value in enumerate(values):
        array[index] = value
    return array


def option(value: Any) -> Any:
    """An ``Option`` of Scala's: empty for None."""
    return java_method("scala.Option", "apply")(value)


def scala_seq(values: Iterable[Any]) -> Any:
    """A ``Seq`` of Scala's."""
    return java_method("org.apache.spark.api.python.PythonUtils", "toSeq")(list(values))


def scala_map(values: Mapping[str, Any]) -> Any:
    """A ``Map`` of Scala's."""
    return java_method("org.apache.spark.api.python.PythonUtils", "toScalaMap")(values)


def items(values: Any) -> list[Any]:
    """The elements of a ``Seq`` of Scala's."""
    return [values.apply(index) for index in range(values.size())]


def thrown_class(error: JavaError) -> str:
    """Simple name of the class of what the JVM has thrown."""
    return class_name(error.java_exception)


def thrown_text(error: JavaError) -> str:
    """Class and message of what the JVM has thrown."""
    return str(error.java_exception.toString())


def send_at_once() -> None:
    """Let the JVM send what it says to this thread without waiting, until its own thread ends.

    Py4J writes what has more than 8 KB in parts, and the system would keep the second part back until the first one
    has been acknowledged, which Linux does after 40 ms. That is longer than it takes to read a trend view.
    """
    if _thread.is_sent_at_once or not isinstance(gateway := java_gateway(), ClientServer):
        return
    _thread.is_sent_at_once = True
    connection = gateway.java_gateway_server.getCallbackClient().getPerThreadConnection()
    if connection is not None:
        connection.getSocket().setTcpNoDelay(True)
    served = gateway._gateway_client.get_thread_connection()
    if served is not None and not served.initiated_from_client:
        close_when_done(served, java_class("java.lang.Thread").currentThread())
