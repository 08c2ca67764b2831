"""Errors of stand-ins, thrown where Spark's analyzer leaves them as they are.

What a table function throws, the analyzer puts at its call, which is not where the user wrote what is wrong. So a
call that fails gives a plan of which the analyzer asks the rest a step later, by a function that throws.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from sparkext.jvm.gateway import JavaError, java_class, scala_object, scala_seq
from sparkext.jvm.plans import Plan


def failing_plan(spark: SparkSession, error: JavaError) -> Plan:
    """A plan that cannot be analysed because of ``error``: one whose name is to be found out."""
    name = spark._jsparkSession.sessionState().sqlParser().parseExpression("'name'")
    throw = scala_object("org.apache.spark.api.java.JavaPairRDD").toScalaFunction2(_Raise(error))
    plan = java_class("org.apache.spark.sql.catalyst.analysis.PlanWithUnresolvedIdentifier")
    return plan(name, scala_seq([]), throw)


class _Raise:
    """A function that throws what it is made with."""

    def __init__(self, error: JavaError) -> None:
        self._error = error

    def call(self, _name: Any, _plans: Any) -> Any:
        """Throw it."""
        raise self._error

    class Java:
        implements = ("org.apache.spark.api.java.function.Function2",)
