"""The command ``sparkext``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from sparkext import __version__
from sparkext.cli import checkpoint_command, compile_command, demo_command, explain_command, jar_command, submit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status.

    Args:
        arguments: Given to it; those of this process if left out.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given and given[0] in submit.PROGRAMS:
        return submit.run(submit.PROGRAMS[given[0]], given[1:])  # its options are read by Spark
    parser = argparse.ArgumentParser(prog="sparkext", description="Event trend aggregation in Spark SQL.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(title="commands", required=True, metavar="command")
    checkpoint_command.add(commands)
    compile_command.add(commands)
    demo_command.add(commands)
    explain_command.add(commands)
    jar_command.add(commands)
    for program in submit.PROGRAMS.values():
        commands.add_parser(program.name, help=program.help, add_help=False)
    asked = parser.parse_args(given)
    return int(asked.run(asked))
