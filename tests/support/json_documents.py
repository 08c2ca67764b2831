"""The document of EXPLAIN SHARING JSON in tests: what its schema says of it, and a layout that can be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMA = Path(__file__).parents[2] / "docs" / "explain_sharing.schema.json"
WIDTH = 116


def faults(document: str) -> list[str]:
    """Where a document is not what its schema says."""
    validator = Draft202012Validator(json.loads(SCHEMA.read_text()))
    return [f"{fault.json_path}: {fault.message}" for fault in validator.iter_errors(json.loads(document))]


def laid_out(value: Any, indent: int = 0, label: str = "") -> str:
    """JSON with a line for each object and array that fits into one."""
    flat = label + json.dumps(value, ensure_ascii=False)
    if indent + len(flat) <= WIDTH or not value or not isinstance(value, dict | list):
        return " " * indent + flat
    if isinstance(value, dict):
        parts = [laid_out(part, indent + 1, f"{json.dumps(key)}: ") for key, part in value.items()]
    else:
        parts = [laid_out(part, indent + 1) for part in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([" " * indent + label + opening, ",\n".join(parts), " " * indent + closing])
