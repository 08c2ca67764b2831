"""A program at a terminal of its own, typed to as a person would."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import time
from collections.abc import Sequence
from pathlib import Path


class Terminal:
    """A pseudo-terminal and the program that it belongs to.

    Attributes:
        pid: Of the program.
        shown: All that the terminal has shown.
    """

    def __init__(self, command: Sequence[str], cwd: Path, env: dict[str, str]) -> None:
        self._read = 0
        self.shown = ""
        self._status: int | None = None
        self.pid, self._file = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(command[0], list(command), env)

    def type(self, text: str) -> None:
        """Type some characters."""
        os.write(self._file, text.encode())

    def expect(self, pattern: str, seconds: float = 120) -> str:
        """Wait until something is shown behind what has been expected before; returns all up to its end.

        Raises:
            AssertionError: It was not shown in time, or the program has ended.
        """
        wanted = re.compile(pattern)
        until = time.monotonic() + seconds
        while True:
            match = wanted.search(self.shown, self._read)
            if match:
                before, self._read = self._read, match.end()
                return self.shown[before : match.end()]
            if not self._more(until - time.monotonic()):
                raise AssertionError(f"{pattern!r} was not shown, but: {self.shown[self._read :]}")

    def status(self, seconds: float = 60) -> int:
        """The exit status, once the program has ended."""
        until = time.monotonic() + seconds
        while self._more(until - time.monotonic()):
            pass
        while self._status is None and time.monotonic() < until:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self._status = os.waitstatus_to_exitcode(status)
            time.sleep(0.05)
        assert self._status is not None, f"the program goes on: {self.shown[self._read :]}"
        return self._status

    def close(self) -> None:
        """End the program, if it has not ended."""
        if self._status is None:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._file)

    def _more(self, seconds: float) -> bool:
        """Read what comes; False when nothing more does, within ``seconds`` or ever."""
        if not select.select([self._file], [], [], max(0, seconds))[0]:
            return False
        try:
            text = os.read(self._file, 1 << 16)
        except OSError:  # Linux says so when the program has closed its side
            return False
        self.shown += text.decode(errors="replace")
        return bool(text)
