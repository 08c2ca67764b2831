"""A program that answers funnels in one way and says how long that took.

``python -m benchmarks.peers.funnel_process WAY NUMBER FEW VISITS ANSWER``: answers so many funnels over the few visits
of one folder, so that all is loaded and compiled, and then over those of another, writes the answer as Arrow, and
prints seconds.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path

import pyarrow as pa

from benchmarks.peers.funnels import some


def main(way: str, number: str, few: str, visits: str, answer: str) -> None:
    """Answer twice.

    Args:
        way: Module and function, with ``+`` after it for funnels that repeat a step.
        number: Of funnels.
        few: A folder.
        visits: Likewise.
        answer: The file that is written.
    """
    module, _, function = way.rstrip("+").partition(".")
    ask = getattr(import_module(f"benchmarks.peers.{module}"), function)
    funnels = some(int(number), way.endswith("+"))
    ask(Path(few), funnels)
    begin = time.perf_counter()
    found: pa.Table = ask(Path(visits), funnels)
    taken = time.perf_counter() - begin
    with pa.OSFile(answer, "wb") as file, pa.ipc.new_file(file, found.schema) as writer:
        writer.write_table(found)
    print(taken)


if __name__ == "__main__":
    main(*sys.argv[1:])
