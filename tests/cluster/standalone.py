"""A standalone Spark cluster on this machine: a master and workers, each a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

from tests.support.spark_programs import eventually, free_port

ADDRESS = "127.0.0.1"
_MARK = "SPARKEXT_TEST_CLUSTER"


class Standalone:
    """A running cluster.

    Attributes:
        url: Of the master, for ``SparkSession.builder.master``.
        variables: Environment for everything that belongs to the cluster, programs of its users included. All such
            processes can be told by it, and none outlives `close`.
    """

    def __init__(self, where: Path, variables: Mapping[str, str], workers: int) -> None:
        """Start it.

        Args:
            where: For logs, and for the working directories of executors.
            variables: Environment of all of its processes.
            workers: How many; each has one core and can run one executor.
        """
        port = free_port()
        self.url = f"spark://{ADDRESS}:{port}"
        self.variables = {**variables, "SPARK_HOME": _find_spark_home(), _MARK: str(where)}
        self._where = where
        self._started: list[subprocess.Popen[bytes]] = []
        try:
            self._start("master", "master.Master", "--port", str(port))
            for number in range(1, workers + 1):
                options = ["--cores", "1", "--memory", "1g", "--work-dir", str(where / f"worker_{number}"), self.url]
                self._start(f"worker_{number}", "worker.Worker", *options)
            eventually(lambda: self._log("master").count("Registering worker") == workers)
        except BaseException:
            self.close()
            raise

    def executors(self) -> list[int]:
        """Processes of the executors that run."""
        return [
            process for process in self._processes() if b"CoarseGrainedExecutorBackend" in _read(process, "cmdline")
        ]

    def close(self) -> None:
        """End all processes that belong to the cluster."""
        for process in self._processes():
            os.kill(process, signal.SIGKILL)
        for started in self._started:
            started.wait(60)
        eventually(lambda: not list(self._processes()), 60)

    def _start(self, name: str, program: str, *options: str) -> None:
        command = [f"{self.variables['SPARK_HOME']}/bin/spark-class", f"org.apache.spark.deploy.{program}"]
        web = ["--host", ADDRESS, "--webui-port", str(free_port())]
        with (self._where / f"{name}.log").open("wb") as log:
            started = subprocess.Popen(
                [*command, *web, *options],
                cwd=self._where,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._started.append(started)
        eventually(lambda: "Successfully started service" in self._log(name))

    def _log(self, name: str) -> str:
        return (self._where / f"{name}.log").read_text()

    def _processes(self) -> Iterator[int]:
        mark = f"{_MARK}={self._where}".encode()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and mark in _read(int(entry.name), "environ").split(b"\0"):
                yield int(entry.name)


def _read(process: int, file: str) -> bytes:
    """A file that Linux has for a process; empty when the process is gone, or another user's."""
    try:
        return Path("/proc", str(process), file).read_bytes()
    except OSError:
        return b""
