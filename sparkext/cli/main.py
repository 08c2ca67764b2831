"""The command ``sparkext``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict

from sparkext import __version__
from sparkext.cli import compile_command, explain_command, submit
from sparkext.execution.calibrate import calibrate


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
    measured = commands.add_parser(
        "calibrate",
        help="measure what the kernel's work takes on this machine, for the cost model",
        description="Measure what the parts of the kernel's work take on this machine and keep it for the cost model "
        "'measured'. It takes some seconds, and up to two minutes more when kernels have to be compiled first.",
    )
    measured.set_defaults(run=_calibrate)
    compile_command.add(commands)
    explain_command.add(commands)
    for program in submit.PROGRAMS.values():
        commands.add_parser(program.name, help=program.help, add_help=False)
    asked = parser.parse_args(given)
    return int(asked.run(asked))


def _calibrate(_: argparse.Namespace) -> int:
    found, file = calibrate()
    for name, value in asdict(found).items():
        print(f"{name:<10}{value:>10.3f} ns")
    print(f"kept in {file}")
    return 0
