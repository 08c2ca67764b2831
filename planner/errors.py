"""What the planner raises when a query cannot be planned."""

from __future__ import annotations


class PlanningError(Exception):
    """A query is wrong, or asks for what is not supported.

    Args:
        condition: Name of the error class, e.g. ``TREND_PATTERN_SYNTAX``.
        start: Offset of the first offending character in the user's text.
        end: Offset just past the last offending character.
        parameters: Values for the placeholders of the condition's message.

    Attributes:
        text: What the offsets refer to, when it is not the text that is being read but an earlier one.
        view: That was made by that earlier text; None if it is not known.
    """

    def __init__(self, condition: str, start: int, end: int, **parameters: str) -> None:
        detail = ", ".join(f"{name}={value}" for name, value in parameters.items())
        super().__init__(f"[{condition}] at {start}..{end}: {detail}")
        self.condition = condition
        self.start = start
        self.end = end
        self.parameters = parameters
        self.text: str | None = None
        self.view: str | None = None

    @property
    def has_position(self) -> bool:
        """Whether it is about a position in the text, and not about a setting or the workload as a whole."""
        return self.end > 0
