"""Which rows are the same whatever session of the application asks for them."""

from __future__ import annotations

import re

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.gateway import JvmError

_CLASS = re.compile(r'"class":"([\w.$]+)"')
"""In a plan as Spark writes it as JSON, each node and expression; quotes inside of texts are escaped there."""

_OF_SPARK = "org.apache.spark.sql.catalyst."

_EXPRESSIONS = re.compile(
    re.escape(f"{_OF_SPARK}expressions.") + r"(\w+\$?|aggregate\.(AggregateExpression|Average|Count|Max|Min|Sum))"
)
"""Of aggregates those for which the order of rows does not matter."""

_NOT_ITS_OWN = frozenset(
    (
        "ApplyFunctionExpression",
        "CallMethodViaReflection",
        "Invoke",
        "PythonUDAF",
        "PythonUDF",
        "PythonUDTF",
        "ScalaUDF",
        "StaticInvoke",
        "TryReflect",
        "V2Aggregator",
        "VariableReference",
    )
)
"""Expressions that run code, or have a value, which a session may have and another one not."""

_NODES = frozenset(
    (
        *(
            f"{_OF_SPARK}plans.logical.{node}"
            for node in (
                "Aggregate",
                "Distinct",
                "Filter",
                "Join",
                "LocalRelation",
                "OneRowRelation",
                "Project",
                "Range",
                "SubqueryAlias",
                "Union",
                "View",
            )
        ),
        f"{_OF_SPARK}catalog.HiveTableRelation",
        "org.apache.spark.sql.execution.datasources.LogicalRelation",
    )
)
"""Nodes of plans whose rows their expressions and tables decide, and of which Spark writes all expressions."""


def is_session_free(frame: AnalysedFrame) -> bool:
    """Whether an equal plan of another session has the same rows, as far as it reads the same files.

    That is so where there are tables and Spark's own deterministic expressions, and nothing else; where Spark does not
    tell, it is not.
    """
    plan = frame.analysed_plan
    try:
        classes = set(_CLASS.findall(str(plan.toJSON())))
    except JvmError:
        return False
    return bool(plan.deterministic()) and all(map(_is_known, classes))


def _is_known(name: str) -> bool:
    if name in _NODES:
        return True
    return _EXPRESSIONS.fullmatch(name) is not None and name.rpartition(".")[2] not in _NOT_ITS_OWN
