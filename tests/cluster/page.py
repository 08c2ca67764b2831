"""The code blocks of docs/cluster.md, which the tests of the cluster run."""

from __future__ import annotations

from tests.support.pages import blocks
from tests.support.spark_programs import ROOT

PAGE = ROOT / "docs" / "cluster.md"
CHECKED = {
    "What each machine needs": ["sh"],
    "Shipping sparkext": ["sh"],
    "In a program": ["python"],
    "With spark-submit": ["python", "sh", "text", "sh"],
    "A packed environment": ["sh"],
    "Compiling ahead of time": ["dockerfile", "sh"],
}
"""Languages of the blocks below each heading. All but those of the first and the last two are run; of the first
it is checked that it names the packages that sparkext depends on, and of the last that its commands are right."""


def block(heading: str, index: int = 0) -> str:
    """The text of one block."""
    return blocks(PAGE)[heading][index][1]
