"""Filters of sources: queries over parts of a relation read it together, each with its filter as a condition."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import DataFrame

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import frame_of_plan, own_column
from sparkext.jvm.gateway import items, scala_seq
from sparkext.jvm.plans import Plan, has_filter, kind_of
from sparkext.sql.quoting import identifier

_CAST = re.compile(r"cast\(.* as .*\) AS .*")
_PLAIN = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True, eq=False)
class FilteredRelation:
    """A relation that is a part of another, whose columns it has.

    Attributes:
        whole: The other.
        condition: Which of its rows are in the part, as SQL; it concerns one row at a time.
    """

    whole: AnalysedFrame
    condition: str


def filtered(part: AnalysedFrame) -> FilteredRelation | None:
    """What ``part`` is a part of; None when it is no filter of rows, or one that only Spark should apply.

    That is so of filters that do not say the same of a row each time or ask for other rows, and of relations
    that are cached, of which Spark reads what it has kept.
    """
    top = part.analysed_plan
    if not has_filter(top):
        return None
    plan = _below(top)
    if kind_of(plan) != "Filter" or len(set(part.columns)) < len(part.columns):
        return None
    condition = plan.condition()
    if not condition.deterministic() or _is_kept(part):
        return None
    text = _sql(condition)
    try:
        again = AnalysedFrame.of(frame_of_plan(part.sparkSession, plan.child()).where(own_column(text)))
    except CapturedException:
        return None
    # What Spark has printed is what it meant only if it reads the same in it.
    if not again.analysed_plan.sameResult(plan) or _is_kept(again):
        return None
    whole = frame_of_plan(part.sparkSession, _called_alike(top, plan.child()))
    inner = filtered(whole)
    return (
        FilteredRelation(whole, text)
        if inner is None
        else FilteredRelation(inner.whole, f"{inner.condition} AND {text}")
    )


def name_of(whole: AnalysedFrame) -> str | None:
    """What a relation is called where it is read, whatever it is called by then; None when it has no name."""
    plan, name = whole.analysed_plan, None
    while kind_of(plan) == "SubqueryAlias":
        plan, name = plan.child(), str(plan.identifier().name())
    return name


def _called_alike(top: Plan, plan: Plan) -> Plan:
    """A plan with columns that are called what those of ``top`` are, by its alias; not by that of a subquery in it."""
    while kind_of(top) == "Project":
        top = top.child()
    if kind_of(top) != "SubqueryAlias":
        return plan
    return top.withNewChildren(scala_seq([plan]))


def _below(plan: Plan) -> Plan:
    """A plan without what only gives it a name, or selects its columns as they are."""
    while kind_of(plan) in ("SubqueryAlias", "View") or (kind_of(plan) == "Project" and _is_all(plan)):
        plan = plan.children().head()
    return plan


def _is_all(project: Plan) -> bool:
    """Whether all columns are selected as they are; those of views are cast to the types that they have."""
    below = project.children().head().output()
    columns = str(below.mkString("\n")).split("\n")
    taken = str(project.projectList().mkString("\n")).split("\n")
    if taken == columns:
        return True
    if len(taken) != len(columns) or not all(map(_CAST.fullmatch, taken)):
        return False
    kinds = [str(column.dataType().catalogString()) for column in items(below)]
    return all(
        re.fullmatch(
            rf"cast\({re.escape(column)} as {re.escape(kind)}\) AS {re.escape(column.rpartition('#')[0])}#\d+L?", shown
        )
        for column, kind, shown in zip(columns, kinds, taken, strict=True)
    )


def _sql(condition: Any) -> str:
    """A condition with columns by their names alone."""
    text = str(condition.sql())
    for column in items(condition.references().toSeq()):
        name = str(column.name())
        text = text.replace(str(column.sql()), name if _PLAIN.fullmatch(name) else identifier(name))
    return text


def _is_kept(frame: DataFrame) -> bool:
    level = frame.storageLevel
    return level.useMemory or level.useDisk
