"""Growth of conditions on earlier events with the events of one key, by hand: ``python -m benchmarks.earlier_events``.

Prints seconds at an eighth, a quarter, half and all of the events, and how often the time of the half that of all is.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.cost_curve import METHOD, curve, figures
from benchmarks.kernel import compiled, query
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.prev_condition import (
    Apply,
    Constant,
    Operand,
    Operation,
    OwnAttribute,
    PrevAttribute,
    ValueKind,
)
from sparkext.planner.patterns.query import Aggregate, Function, Query, Step, Window

_VALUE, _VOL = Attribute("value", "double"), Attribute("vol", "bigint")
_X, _EARLIER_X = OwnAttribute(_VALUE, ValueKind.NUMBER), PrevAttribute(_VALUE, ValueKind.NUMBER)
_ABOVE = Apply(Operation.LESS, (_EARLIER_X, _X), ValueKind.FLAG)
_SAME = Apply(
    Operation.EQUAL, (OwnAttribute(_VOL, ValueKind.WHOLE), PrevAttribute(_VOL, ValueKind.WHOLE)), ValueKind.FLAG
)
_REST = Apply(Operation.REMAINDER, (_X, _EARLIER_X), ValueKind.NUMBER)
_DIVIDES = Apply(Operation.LESS, (_REST, Constant(0.1, ValueKind.NUMBER)), ValueKind.FLAG)


@dataclass(frozen=True, slots=True)
class Case:
    """A curve.

    Attributes:
        name: The condition of ``Delivery``, as it is written.
        pattern: Over the types of events.
        condition: On a delivery and the latest request before it.
        window: In microseconds, of events one microsecond apart; None for none.
    """

    name: str
    pattern: str
    condition: Operand
    window: Window | None = None

    def query(self) -> Query:
        """The query."""
        steps = {"Delivery": Step(self.name, self.condition, None, "Request")}
        count = Aggregate(Function.LOG10_COUNT)
        return query("curve", self.pattern, count, window=self.window, steps=steps)


_TUMBLING = Window(10_000, 10_000)
CASES = (
    Case("x > Request.x", "Request Delivery", _ABOVE),
    Case("v = Request.v, in windows of 10,000", "Request Travel+ Delivery", _SAME, _TUMBLING),
    Case("x > Request.x, in windows of 10,000", "Request Travel+ Delivery", _ABOVE, _TUMBLING),
    Case("x % Request.x < 0.1, in windows of 10,000", "Request Travel+ Delivery", _DIVIDES, _TUMBLING),
    Case("v = Request.v", "Request Travel+ Delivery", _SAME),
    Case("x > Request.x", "Request Travel+ Delivery", _ABOVE),
    Case("x % Request.x < 0.1", "Request Travel+ Delivery", _DIVIDES),
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--windowed", type=int, default=1_000_000, help="most events in windows, or right after one")
    parser.add_argument("--unbounded", type=int, default=1_000_000, help="most events without windows")
    options = parser.parse_args()
    print(METHOD)
    with TemporaryDirectory() as directory:
        for case in CASES:
            quadratic = case.window is None and "Travel" in case.pattern
            most = options.unbounded if quadratic else options.windowed
            shown = figures(curve(compiled([case.query()]), most, Path(directory)))
            print(f"{case.pattern}, {case.name}, {most:,} events: {shown}", flush=True)


if __name__ == "__main__":
    main()
