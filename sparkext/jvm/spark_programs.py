"""Spark's own programs, the prompt and the server, in the JVM that has started this process."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from sparkext.jvm.gateway import JavaError, JvmError, class_object, java_array, java_class, java_gateway

_PROGRAM = "org.apache.spark.sql.hive.thriftserver.SparkSQLEnv"
"""What the programs have in common."""

_PROMPT = "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver"


def connect() -> None:
    """Connect this process to the JVM."""
    SparkContext._ensure_initialized()


def has_ended() -> bool:
    """Whether the JVM is gone."""
    try:
        java_class("java.lang.System").nanoTime()
    except (JvmError, OSError):
        return True
    return False


def log_as_prompt(main_class: str) -> None:
    """Have Spark log by the settings of the class of a program, which sets them when it is loaded."""
    class_object(f"{main_class}$")


def program_session(main_class: str) -> SparkSession:
    """The session that the programs use, made as they make it.

    Args:
        main_class: Of a program, by whose settings Spark is to log.
    """
    log_as_prompt(main_class)
    program = java_class(_PROGRAM)
    program.init()
    java_context = java_class("org.apache.spark.api.java.JavaSparkContext")(program.sparkContext())
    gateway = java_gateway()
    conf = SparkConf(_jvm=gateway.jvm, _jconf=java_context.getConf())
    return SparkSession(SparkContext(conf=conf, gateway=gateway, jsc=java_context), program.sparkSession())


def use_session(session: SparkSession) -> None:
    """Have the programs use a session."""
    getattr(java_class(_PROGRAM), "sparkSession_$eq")(session._jsparkSession)


def first_cause(error: JavaError) -> str:
    """What went wrong first, of exceptions that each say that something did."""
    exception = error.java_exception
    while exception.getCause() is not None:
        exception = exception.getCause()
    return str(exception.getMessage() or exception.toString())


class ErrorStream(io.TextIOBase):
    """The standard error of the JVM; that of this process is the JVM's standard output."""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        java_class("java.lang.System").err.print(text)
        return len(text)

    def flush(self) -> None:
        java_class("java.lang.System").err.flush()


def check_prompt_options(options: Sequence[str]) -> bool:
    """Whether the prompt can make sense of its options; it says itself what is wrong with them."""
    processor = java_class("org.apache.hadoop.hive.cli.OptionsProcessor")()
    return bool(processor.process_stage1(java_array("java.lang.String", options)))


def has_terminal() -> bool:
    """Whether the JVM is at a terminal."""
    return java_class("java.lang.System").console() is not None


def is_at_terminal() -> bool:
    """Whether the standard error of the JVM is a terminal, at which somebody may look."""
    builder = java_class("java.lang.ProcessBuilder")(java_array("java.lang.String", ("test", "-t", "2")))
    inherited = builder.redirectError(java_class("java.lang.ProcessBuilder$Redirect").INHERIT)
    try:
        return int(inherited.start().waitFor()) == 0
    except JavaError:  # there is no such program
        return False


def is_prompt() -> bool:
    """Whether the JVM runs Spark's own prompt."""
    return _PROMPT in (SparkContext.getSystemProperty("sun.java.command") or "")


def run_prompt(options: Sequence[str]) -> None:
    """Run the prompt, a file or statements, until the JVM ends."""
    java_class(_PROMPT).main(java_array("java.lang.String", options))


def leave_prompt() -> None:
    """End the JVM, as the prompt does when all statements of a file were right."""
    java_class(_PROMPT).exit(0)


def at_end(do: Callable[[], object]) -> None:
    """Have something done when the JVM is about to end."""
    thread = java_class("java.lang.Thread")(_Handler(do))
    java_class("java.lang.Runtime").getRuntime().addShutdownHook(thread)


def on_interrupt(between: Callable[[], object], during: Callable[[], object]) -> None:
    """Say what is done on Ctrl-C at the prompt.

    Args:
        between: While no statement runs; the prompt would end else.
        during: While one runs, beside what the prompt does by itself, which waits for this to return.
    """
    signal = java_class("sun.misc.Signal")
    signal.handle(signal("INT"), _Handler(between))
    java_class("org.apache.hadoop.hive.common.HiveInterruptUtils").add(_Handler(during))


class _Handler:
    """What the JVM calls, by one of three names."""

    def __init__(self, do: Callable[[], object]) -> None:
        self._do = do

    def handle(self, _: object) -> None:
        self._do()

    def interrupt(self) -> None:
        self._do()

    def run(self) -> None:
        self._do()

    class Java:
        implements = (
            "sun.misc.SignalHandler",
            "org.apache.hadoop.hive.common.HiveInterruptCallback",
            "java.lang.Runnable",
        )


def check_server_options(options: Sequence[str]) -> None:
    """End the JVM, with a message, if the server can make no sense of its options."""
    processor = java_class("org.apache.hive.service.server.HiveServer2$ServerOptionsProcessor")("HiveThriftServer2")
    processor.parse(java_array("java.lang.String", options))


def hive_setting(name: str) -> str | None:
    """A setting of Hive's: of ``hive-site.xml`` and ``--hiveconf``."""
    value: str | None = java_class("org.apache.hadoop.hive.conf.HiveConf")().get(name)
    return value


class ThriftServer:
    """The JDBC and ODBC server, listening.

    Attributes:
        address: Where, as ``host:port``.
    """

    def __init__(self, session: SparkSession) -> None:
        """Start it; its clients have sessions made from ``session``.

        Raises:
            JavaError: It cannot listen.
        """
        server = java_class("org.apache.spark.sql.hive.thriftserver.HiveThriftServer2")
        started = server.startWithContext(session._jsparkSession.sqlContext())
        services = {service.getName(): service for service in started.getServices()}
        listening = next(service for name, service in services.items() if name.startswith("Thrift"))
        self.address = f"{listening.getServerIPAddress().getHostAddress()}:{listening.getPortNumber()}"
        manager = services["CLIService"].getSessionManager()
        operations = manager.getClass().getDeclaredMethod("sparkSqlOperationManager", None)
        operations.setAccessible(True)
        self._contexts = operations.invoke(manager, None).sessionToContexts()

    def open_sessions(self) -> list[Any]:
        """Sessions of the JVM that clients have open."""
        return list(self._contexts.values())
