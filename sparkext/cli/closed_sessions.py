"""Sessions that clients of a server have closed, and what their trend queries hold."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

from pyspark.sql import SparkSession

from sparkext.jvm.application import is_stopped
from sparkext.jvm.sessions import java_session
from sparkext.parser.trend_parser import TrendParser
from sparkext.session import parsers

log = logging.getLogger(__name__)

SECONDS = 1.0
"""How often a server looks for sessions that have been closed."""


def serve(base: SparkSession, open_sessions: Callable[[], list[Any]]) -> None:
    """Release what closed sessions hold, until Spark is stopped.

    Args:
        base: The session that those of clients are made from, or that all clients use.
        open_sessions: Gives the sessions of the JVM that clients have open.
    """
    while not is_stopped(base.sparkContext):
        release_closed(base, open_sessions)
        time.sleep(SECONDS)


def release_closed(base: SparkSession, open_sessions: Callable[[], list[Any]]) -> None:
    """Release what the trend queries of closed sessions hold; arguments as for `serve`."""
    ours = java_session(base)
    # A session has no queries before it is among the open ones.
    holding = [parser for parser in parsers(base.sparkContext) if parser.session != ours]
    holding = [parser for parser in holding if parser.holds_queries()]
    if not holding:
        return
    still_open = open_sessions()
    release(parser for parser in holding if parser.session not in still_open)


def release(parsers: Iterable[TrendParser]) -> None:
    """Release what the trend queries of sessions hold that have been closed."""
    for parser in parsers:
        log.info("a session was closed; its trend queries and their results are released")
        parser.close()
