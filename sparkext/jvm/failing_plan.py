"""Errors of stand-ins, thrown where Spark's analyzer leaves them as they are.

What a table function throws, the analyzer puts at its call, which is not where the user wrote what is wrong. So a
call that fails gives a plan of which the analyzer asks the rest a step later, by a function that throws.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from sparkext.jvm.gateway import JavaError, class_object, java_array, java_class, java_method, scala_object, scala_seq
from sparkext.jvm.plans import Plan


def failing_plan(spark: SparkSession, error: JavaError) -> Plan:
    """A plan that cannot be analysed because of ``error``: one whose name is to be found out."""
    name = spark._jsparkSession.sessionState().sqlParser().parseExpression("'name'")
    throw = scala_object("org.apache.spark.api.java.JavaPairRDD").toScalaFunction2(_thrower(error))
    plan = java_class("org.apache.spark.sql.catalyst.analysis.PlanWithUnresolvedIdentifier")
    return plan(name, scala_seq([]), throw)


def _thrower(error: JavaError) -> object:
    """A function of two arguments that throws what the JVM has thrown.

    It is none of Python's. The JVM would hold that one, by the plan that the analyzer notes in what is thrown, and it
    would hold what is thrown: neither of them could tell that nobody else does.
    """
    handles, kind = java_class("java.lang.invoke.MethodHandles"), class_object("java.lang.Object")
    throw = handles.throwException(kind, class_object("java.lang.Throwable"))
    bound = handles.insertArguments(throw, 0, java_array("java.lang.Object", [error.java_exception]))
    called = handles.dropArguments(bound, 0, java_array("java.lang.Class", [kind, kind]))
    proxy = java_method("java.lang.invoke.MethodHandleProxies", "asInterfaceInstance")
    return proxy(class_object("org.apache.spark.api.java.function.Function2"), called)
