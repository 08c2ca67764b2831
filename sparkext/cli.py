"""The command ``sparkext``."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from sparkext import __version__, explain_command
from sparkext.calibration import calibrate


def main() -> int:
    """Run the command; returns its exit status."""
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
    explain_command.add(commands)
    arguments = parser.parse_args()
    return int(arguments.run(arguments))


def _calibrate(_: argparse.Namespace) -> int:
    found, file = calibrate()
    for name, value in asdict(found).items():
        print(f"{name:<10}{value:>10.3f} ns")
    print(f"kept in {file}")
    return 0
