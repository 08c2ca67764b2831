"""Attributes: what is known of one event."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attribute:
    """A scalar expression over the columns of one event.

    Attributes:
        text: Its canonical text.
        type: Its type, as Spark spells it, e.g. ``decimal(10,2)``.
    """

    text: str
    type: str
