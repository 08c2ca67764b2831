"""A headless Chromium that tests look at pages with, spoken to over WebDriver's HTTP."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""By which WebDriver marks elements."""
_SECONDS = 60

SHOWN = "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility()).map(e => e.textContent)"
"""Texts of the elements of a CSS selector that can be seen."""

OVERPRINTED = """
const labels = [...document.querySelectorAll('.facts dt, .facts dd')];
const printed = e => {
  const text = document.createRange();
  text.selectNodeContents(e);
  return text.getBoundingClientRect();
};
const boxes = labels.map(e => [e.textContent, printed(e)]);
const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
return boxes.flatMap(([one, a], at) => boxes.slice(at + 1).filter(([, b]) => meet(a, b)).map(([other]) => [one, other]))
"""
"""Facts of a sharing plan that are printed over each other, by two."""


class NoBrowserError(AssertionError):
    """There is no browser, so that nothing can be said about a page in one."""


class Browser:
    """A session of a browser."""

    def __init__(self, address: str) -> None:
        self._address = f"{address}/session"
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        arguments.append("--force-prefers-reduced-motion")  # nothing scrolls slowly
        binary = program("chromium", "chromium-browser", "google-chrome")
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": [*arguments, "--window-size=1400,1400"], "binary": binary},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        session_made = _ask("POST", self._address, {"capabilities": {"alwaysMatch": wanted}})
        self._address += f"/{session_made['sessionId']}"

    def open(self, page: Path) -> None:
        """Load a file."""
        self.visit(page.as_uri())

    def visit(self, address: str) -> None:
        """Load a page."""
        self._do("url", {"url": address})

    def run(self, script: str, *arguments: Any) -> Any:
        """What the body of a function in JavaScript returns."""
        return self._do("execute/sync", {"script": script, "args": list(arguments)})

    def click(self, selector: str) -> None:
        """Click on the first element of a CSS selector, as a mouse does."""
        self._do(f"element/{self._find(selector)}/click", {})

    def write(self, selector: str, text: str) -> None:
        """Type into an element."""
        self._do(f"element/{self._find(selector)}/value", {"text": text})

    def hover(self, selector: str) -> None:
        """Put the pointer over the middle of an element."""
        origin = {_ELEMENT: self._find(selector)}
        move = {"type": "pointerMove", "duration": 0, "origin": origin, "x": 0, "y": 0}
        self._do("actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]})

    def complaints(self) -> list[str]:
        """What the console has said since it was last asked for."""
        return [entry["message"] for entry in self._do("se/log", {"type": "browser"})]

    def requests(self) -> list[str]:
        """Addresses that have been asked for since that was last asked for."""
        events = [json.loads(entry["message"])["message"] for entry in self._do("se/log", {"type": "performance"})]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def close(self) -> None:
        """End the session, and with it the browser."""
        _ask("DELETE", self._address)

    def _find(self, selector: str) -> str:
        element: str = self._do("element", {"using": "css selector", "value": selector})[_ELEMENT]
        return element

    def _do(self, what: str, body: Mapping[str, Any]) -> Any:
        return _ask("POST", f"{self._address}/{what}", body)


def program(*names: str) -> str:
    """Path of the first of some programs.

    Raises:
        NoBrowserError: None of them is installed.
    """
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    raise NoBrowserError(
        f"{' or '.join(names)} is not installed, so this test cannot tell whether the page works. On Debian, "
        "'apt-get install chromium chromium-driver' provides it."
    )


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser, which is gone afterwards.

    Raises:
        NoBrowserError: Chromium or its driver is not installed.
    """
    driver = program("chromedriver")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(f"http://127.0.0.1:{port}")
        session = Browser(f"http://127.0.0.1:{port}")
        try:
            yield session
        finally:
            session.close()
    finally:
        process.terminate()
        process.wait()


def _wait(address: str) -> None:
    end = time.monotonic() + _SECONDS
    while True:
        try:
            _ask("GET", f"{address}/status")
        except URLError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return


def _ask(method: str, address: str, body: Mapping[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = Request(address, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urlopen(request, timeout=_SECONDS) as answer:
            return json.load(answer)["value"]
    except HTTPError as error:
        raise AssertionError(json.load(error)["value"]["message"]) from None
