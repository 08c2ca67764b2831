"""Settings: Spark confs under ``spark.sparkext``.

What says which value a setting has is given the confs of the session, by name: they are read once for a statement.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TypeAlias

from sparkext.planner.budget import DEFAULT_SECONDS
from sparkext.planner.errors import PlanningError
from sparkext.planner.kernel_plan.kernel_plan import MOST_NODES as DEFAULT_NODES
from sparkext.planner.optimizers import MODELS, OPTIMIZERS
from sparkext.planner.problem.problem import MOST_MATCHES as DEFAULT_MATCHES
from sparkext.sql.spelling import closest

BUDGET = "spark.sparkext.optimizer.budget"
CATALOG_VIEWS = "spark.sparkext.catalogViews"
CACHE = "spark.sparkext.cache"
CHUNKS = "spark.sparkext.chunks"
COST_MODEL = "spark.sparkext.costModel"
DEBUG = "spark.sparkext.debug"
ENABLED = "spark.sparkext.enabled"
MOST_MATCHES = "spark.sparkext.maxMatches"
MOST_NODES = "spark.sparkext.maxNodes"
OPTIMIZER = "spark.sparkext.optimizer"
PARTITIONS = "spark.sparkext.partitions"
PYTHON = "spark.sparkext.python"
STATISTICS = "spark.sparkext.statistics"
SAMPLE_ROWS = "spark.sparkext.statistics.sampleRows"
SHARED_FOR = "spark.sparkext.cache.sharedFor"
SORT = "spark.sparkext.sort"
STREAM_BUCKETS = "spark.sparkext.stream.buckets"
STREAM_HISTORY = "spark.sparkext.stream.history"
STREAM_LATE_ROWS = "spark.sparkext.stream.lateRows"
STREAM_ON_CHANGE = "spark.sparkext.stream.onChange"
STREAM_SINCE = "spark.sparkext.stream.since"
_CHOICES = {
    CACHE: ("auto", "on", "off"),
    CHUNKS: ("auto", "on", "off"),
    COST_MODEL: MODELS,
    DEBUG: ("false", "true"),
    ENABLED: ("true", "false"),
    OPTIMIZER: tuple(OPTIMIZERS),
    SORT: ("worker", "spark"),
    STREAM_LATE_ROWS: ("false", "true"),
    STREAM_ON_CHANGE: ("refuse", "list", "allow"),
}
_CATALOG_VIEWS = 100
_OF_VIEWS = "a number of views, or 0"
_OF_SECONDS = "a number of seconds, or 0"
_SAMPLED = 10_000
_SHARED_SECONDS = 600
_BUCKETS = 32
_MOST_BUCKETS = 1 << 14
_PREFIX = "spark.sparkext."
KNOWN = (
    BUDGET,
    CACHE,
    CATALOG_VIEWS,
    CHUNKS,
    COST_MODEL,
    DEBUG,
    ENABLED,
    MOST_MATCHES,
    MOST_NODES,
    OPTIMIZER,
    PARTITIONS,
    PYTHON,
    SHARED_FOR,
    SORT,
    STATISTICS,
    SAMPLE_ROWS,
    STREAM_BUCKETS,
    STREAM_HISTORY,
    STREAM_LATE_ROWS,
    STREAM_ON_CHANGE,
    STREAM_SINCE,
)
"""Names of all settings."""

Confs: TypeAlias = Mapping[str, str]
"""Confs of a session, by name."""


def check_names(confs: Confs) -> None:
    """Refuse settings that there are not.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    for name in confs:
        check_name(name)


def check_name(name: str) -> None:
    """Refuse a setting that there is not; others than sparkext's are left to Spark.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    if name.startswith(_PREFIX) and name not in KNOWN:
        shown = {known.removeprefix(_PREFIX).upper(): known for known in KNOWN}
        meant = closest(name.removeprefix(_PREFIX), tuple(shown))
        proposed = f"Did you mean {shown[meant]}? " if meant is not None else ""
        hint = f"{proposed}The settings are {', '.join(KNOWN)}."
        raise PlanningError("TREND_UNKNOWN_SETTING", 0, 0, problem=f"There is no setting {name}", hint=hint)


def check_value(name: str, value: str) -> None:
    """Refuse a value that a setting cannot have, or a setting that there is not.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    check_name(name)
    if name in _CHOICES:
        _chosen(name, value)
    elif name == PARTITIONS:
        _partitions(value)
    elif name in (SAMPLE_ROWS, MOST_MATCHES, MOST_NODES):
        _positive(name, value, "a positive integer")
    elif name == STATISTICS:
        _statistics(value)
    elif name == BUDGET:
        _budget(value)
    elif name == STREAM_BUCKETS:
        _buckets(value)
    elif name == CATALOG_VIEWS:
        _at_least_zero(name, value, _OF_VIEWS)
    elif name == SHARED_FOR:
        _at_least_zero(name, value, _OF_SECONDS)


def choice(confs: Confs, name: str) -> str:
    """Value of a setting that has known values; the first of them is the default.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    return _chosen(name, confs.get(name, _CHOICES[name][0]))


def _chosen(name: str, value: str) -> str:
    known = {value.lower(): value for value in _CHOICES[name]}
    if value.lower() not in known:
        raise _unknown(name, value, ", ".join(known.values()))
    return known[value.lower()]


def partitions(confs: Confs) -> int | None:
    """Number of tasks that the user wants for a pass over a pool; None to choose by size.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    return _partitions(confs.get(PARTITIONS, "auto"))


def _partitions(value: str) -> int | None:
    return None if value.lower() == "auto" else _positive(PARTITIONS, value, "auto, or a positive integer")


def budget(confs: Confs) -> float:
    """Seconds of processor time that looking for the plan of a pool may take; infinite for as long as it takes.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    return _budget(confs.get(BUDGET, str(DEFAULT_SECONDS)))


def _budget(value: str) -> float:
    if value.lower() == "none":
        return math.inf
    try:
        seconds = float(value)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise _unknown(BUDGET, value, "seconds of processor time such as 2 or 0.5, or none for no limit")
    return seconds


def most_matches(confs: Confs) -> int:
    """Most partial matches of a step that ``mcep`` may build in a key and window.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    value = confs.get(MOST_MATCHES, str(DEFAULT_MATCHES))
    return _positive(MOST_MATCHES, value, "a positive integer")


def most_nodes(confs: Confs) -> int:
    """Most events that trends which may still end are held by at once, where completions are asked for.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    return _positive(MOST_NODES, confs.get(MOST_NODES, str(DEFAULT_NODES)), "a positive integer")


def sample_rows(confs: Confs) -> int:
    """How many rows of a source are read to estimate its statistics; 0 when none are to be read.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    value = confs.get(SAMPLE_ROWS, str(_SAMPLED))
    rows = _positive(SAMPLE_ROWS, value, "a positive integer")
    return rows if confs.get(STATISTICS, "sample").lower() == "sample" else 0


def catalog_views(confs: Confs) -> int:
    """How many permanent views of a schema are looked at when one of them is read.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    return _at_least_zero(CATALOG_VIEWS, confs.get(CATALOG_VIEWS, str(_CATALOG_VIEWS)), _OF_VIEWS)


def shared_for(confs: Confs) -> int:
    """Seconds for which results of permanent views stay for other sessions; 0 when sessions share none.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    return _at_least_zero(SHARED_FOR, confs.get(SHARED_FOR, str(_SHARED_SECONDS)), _OF_SECONDS)


def stream_buckets(confs: Confs) -> int:
    """Among how many buckets the keys of a stream are divided.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    return _buckets(confs.get(STREAM_BUCKETS, str(_BUCKETS)))


def _buckets(value: str) -> int:
    known = f"a positive integer up to {_MOST_BUCKETS:,}"
    number = _positive(STREAM_BUCKETS, value, known)
    if number > _MOST_BUCKETS:
        raise _unknown(STREAM_BUCKETS, value, known)
    return number


def stream_history(confs: Confs) -> tuple[str, str] | None:
    """A relation with the events before a stream, and the moment at which the stream begins; None if there is none.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``: one is set without the other.
    """
    relation, since = confs.get(STREAM_HISTORY, ""), confs.get(STREAM_SINCE, "")
    if not relation and not since:
        return None
    if relation and since:
        return relation, since
    left, given = (STREAM_SINCE, STREAM_HISTORY) if relation else (STREAM_HISTORY, STREAM_SINCE)
    problem = f"The setting {given} is of no use without {left}"
    hint = f"Set {STREAM_HISTORY} to a relation, and {STREAM_SINCE} to the moment up to which it has all events."
    raise PlanningError("TREND_UNKNOWN_SETTING", 0, 0, problem=problem, hint=hint)


def given_statistics(confs: Confs) -> dict[str, float]:
    """Events in a group and window by class or type, as far as the user gives them.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    return _statistics(confs.get(STATISTICS, "sample"))


def _statistics(value: str) -> dict[str, float]:
    if value.lower() in ("sample", "none"):
        return {}
    try:
        given = json.loads(value)
        events = {str(name): float(number) for name, number in given.items()}
        if all(math.isfinite(number) and number >= 0 for number in events.values()):
            return events
    except (ValueError, TypeError, AttributeError):
        pass
    known = 'sample, none, or a JSON object of events per window such as {"A": 100, "B": 7.5}'
    raise _unknown(STATISTICS, value, known)


def _positive(name: str, value: str, known: str) -> int:
    if not value.isdigit() or int(value) == 0:
        raise _unknown(name, value, known)
    return int(value)


def _at_least_zero(name: str, value: str, known: str) -> int:
    return 0 if value == "0" else _positive(name, value, known)


def _unknown(name: str, value: str, known: str) -> PlanningError:
    problem = f"The setting {name} cannot be '{value}'"
    return PlanningError("TREND_UNKNOWN_SETTING", 0, 0, problem=problem, hint=f"Known values: {known}.")
