"""What Spark knows of a column beside its type, in the metadata of its field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import columns_of
from sparkext.sql.quoting import alone

DELAY = "spark.watermarkDelayMs"
"""Spark's name for how late the times of a stream may be."""

DECLARED = "__CHAR_VARCHAR_TYPE_STRING"
"""Spark's name for the type that a string was declared with: what a CHAR(n) is compared with is filled up."""

_GOES_ON = (DECLARED, "comment")
"""What a view has of the columns that it selects."""


def metadata_of(source: AnalysedFrame, named: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """What a view would have of columns of ``source``, in JSON, with their names; of others there is nothing.

    Args:
        source: Rows of events.
        named: Names, and the columns or expressions that they stand for.
    """
    if not named or not any(name in field.metadata for field in source.schema.fields for name in _GOES_ON):
        return
    selected = columns_of(source, (f"({alone(text)})" for _, text in named))
    for (name, _), field in zip(named, selected.schema.fields, strict=True):
        if metadata := {key: field.metadata[key] for key in _GOES_ON if key in field.metadata}:
            yield name, json.dumps(metadata)
