"""``sparkext jar``: where the jar is by which Spark finds sparkext."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
PLACES = (_ROOT / "pyspark" / "jars" / "sparkext.jar", _ROOT / "extension" / "jars" / "sparkext.jar")
"""Where it may be: beside this package, among the jars of PySpark, as it is installed; in the repository."""


def add(commands: Any) -> None:
    """Add the command to those of ``sparkext``."""
    command = commands.add_parser(
        "jar",
        help="print where the jar is that gives MATCH_TREND to a Spark of another place, for --jars",
        description="Print where the jar is that gives MATCH_TREND to each session of a Spark that has it on its class "
        "path. The PySpark that sparkext is installed beside has it; for another, such as that of SPARK_HOME, give it "
        'to --jars, as in: spark-sql --jars "$(sparkext jar)".',
    )
    command.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Print where it is; returns an exit status."""
    place = next((place for place in PLACES if place.exists()), None)
    if place is None:
        print("sparkext jar: this sparkext has been installed without it; `make jar` makes it", file=sys.stderr)
        return 1
    print(place)
    return 0
