"""``SET spark.sparkext.… = …``: settings of sparkext's, looked at when they are set."""

from __future__ import annotations

import re

from sparkext.planner.errors import PlanningError
from sparkext.settings import check_value

_SET = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*SET\s+`?(?P<name>spark\.sparkext\.[\w.]*)`?\s*=\s*(?P<value>.*?)\s*;?\s*",
    re.IGNORECASE | re.DOTALL,
)


def check_set(sql: str) -> None:
    """Refuse a statement that sets what there is not, or to what it cannot be; all others are left to Spark.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``, placed at the name or the value.
    """
    setting = _SET.fullmatch(sql)
    if setting is None:
        return
    name, value = setting["name"], setting["value"]
    if len(value) > 1 and value[0] == value[-1] == "`":
        value = value[1:-1]
    try:
        check_value(name, value)
    except PlanningError as error:
        part = "name" if "no setting" in error.parameters["problem"] else "value"
        error.start, error.end = setting.span(part)
        raise
