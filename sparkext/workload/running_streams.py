"""The operators of streaming queries that run in a session, as `SHOW TREND STREAMS` shows them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any, TypeAlias

from pyspark.sql import SparkSession

from sparkext.execution.stream_pass import METRICS, VIEWS

COLUMNS = {
    "query": "STRING",
    "id": "STRING",
    "operator": "STRING",
    "views": "STRING",
    "watermark": "TIMESTAMP",
    "lag_seconds": "BIGINT",
    "events": "BIGINT",
    "late": "BIGINT",
    "kept": "BIGINT",
    "state_bytes": "BIGINT",
}
"""What is shown of an operator, and its types."""

_COUNTED = "events", "late", "kept", "state_bytes"

_NO_WATERMARK = "1970-01-01T00:00:00.000Z"

Row: TypeAlias = "tuple[str | None, ...]"


def running_streams(spark: SparkSession) -> list[Row]:
    """A row of texts for each operator of ours in the active streaming queries of a session, by its last micro-batch.

    Queries that have not had one yet have none.
    """
    shown: list[Row] = []
    for query in spark.streams.active:
        progress = next((one for one in _progress(query._jsq) if _operators(one)), {})
        watermark = progress.get("eventTime", {}).get("watermark", _NO_WATERMARK)
        known = None if watermark == _NO_WATERMARK else watermark
        for operator, observed in sorted(_operators(progress).items()):
            counts = (_text(observed.get(name)) for name in _COUNTED)
            shown.append(
                (query.name, query.id, operator, _text(observed.get(VIEWS)), known, _lag_seconds(known), *counts)
            )
    return shown


def _progress(query: Any) -> Iterator[dict[str, Any]]:
    """What a query reports of its micro-batches, the last one first; one that had none to do has no metrics."""
    for progress in reversed(query.recentProgress()):
        yield json.loads(progress.json())


def _operators(progress: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What is observed of operators of ours."""
    observed = progress.get("observedMetrics", {})
    return {name: counts for name, counts in observed.items() if name.startswith(METRICS)}


def _lag_seconds(watermark: str | None) -> str | None:
    """How long ago it was what a watermark says."""
    if watermark is None:
        return None
    return str(int(time.time() - datetime.fromisoformat(watermark.replace("Z", "+00:00")).timestamp()))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
