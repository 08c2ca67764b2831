"""What Spark says of plans."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

from sparkext.jvm.gateway import class_name, items, java_class

Plan: TypeAlias = Any
"""A plan of Spark's, or a node of one: an object of the JVM, for functions of this package and for Spark itself."""

_PATTERN = "org.apache.spark.sql.catalyst.trees.TreePattern"


def plan_text(plan: Plan) -> str:
    """How Spark shows a plan."""
    return str(plan.toString())


def kind_of(node: Any) -> str:
    """The class of a node of a plan or an expression, such as ``Filter``."""
    return class_name(node)


def selects_from(plan: Plan, source: Plan) -> bool:
    """Whether a plan computes a row of each of ``source`` by itself. SQL functions have projections of their own."""
    below = plan
    while kind_of(below) == "Project":
        below = below.children().head()
        if below.sameResult(source):
            return True
    return False


def has_other_columns(plan: Plan, source: Plan) -> bool:
    """Whether a plan is one of rows of ``source``, with columns that are hidden in it, such as ``_metadata``."""
    return kind_of(_below_projections(plan)) == kind_of(_below_projections(source))


def _below_projections(plan: Plan) -> Plan:
    while kind_of(plan) == "Project":
        plan = plan.children().head()
    return plan


def first_non_deterministic(plan: Plan) -> int | None:
    """Number of the first expression of a plan that may give another value each time; None if there is none."""
    if plan.deterministic():
        return None
    expressions = enumerate(items(plan.expressions()))
    return next((number for number, expression in expressions if not expression.deterministic()), None)


def is_of_now(plan: Plan) -> bool:
    """Whether a plan depends on when it is run, as ``now()`` does."""
    return contains(plan, "CURRENT_LIKE")


def has_filter(plan: Plan) -> bool:
    """Whether a plan leaves out rows by a condition somewhere."""
    return contains(plan, "FILTER")


def with_subqueries(plan: Plan) -> list[Plan]:
    """A plan, and those of the subqueries that stand in expressions, of it and of each other."""
    return [plan, *(items(plan.subqueriesAll()) if contains(plan, "PLAN_EXPRESSION") else ())]


def contains(plan: Plan, pattern: str) -> bool:
    """Whether a plan has a node of a kind, by Spark's own name for it, such as ``GENERATE``."""
    return bool(plan.containsPattern(_pattern(java_class(_PATTERN), pattern)))


@lru_cache(maxsize=16)
def _pattern(patterns: Any, name: str) -> Any:
    """A kind of nodes, which the JVM is asked for once."""
    return getattr(patterns, name)()
