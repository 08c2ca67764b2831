"""What the jar starts when a statement has a clause and no Python is there: the child of a JVM, with which it ends.

It gets the version of the jar, and says in its last line what is wrong if it cannot serve it.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from sparkext import __version__


def main(arguments: Sequence[str]) -> int:
    """Serve the JVM until it ends; returns an exit status if that is not possible.

    Args:
        arguments: The version of the jar.
    """
    [version] = arguments
    if version != __version__:
        place = Path(__file__).parents[1]
        print(f"the jar is of sparkext {version}, and the package in {place} is {__version__}")
        return 1
    # The terminal sends Ctrl-C to the JVM, too, which knows what to do about it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from sparkext.cli.closed_sessions import SECONDS, release
    from sparkext.cli.progress import say_progress
    from sparkext.jvm.extension_jar import application_session
    from sparkext.jvm.gateway import JvmGoneError
    from sparkext.jvm.spark_programs import is_prompt
    from sparkext.session import join, parsers

    session = application_session()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # SparkContext has taken it
    process = join(session)
    if is_prompt():
        say_progress(session.sparkContext)
    with suppress(JvmGoneError, OSError):
        while not select.select([sys.stdin], [], [], SECONDS)[0]:
            holding = [parser for parser in parsers(session.sparkContext) if parser.holds_queries()]
            release(parser for parser in holding if process.is_closed(parser.session))
    os._exit(0)  # the JVM is gone, and would be asked for more
