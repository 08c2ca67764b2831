"""What differs between Spark 4.0, 4.1, 4.2 and 4.3. All else that this package uses is the same in all of them.

Spark calls its parser differently, which calls for nothing but methods of all names: 4.0 passes statements to
``parsePlan``, later versions to ``parsePlanWithParameters``; the newest let it divide the lines of a prompt, by
``splitStatements``.
"""

from __future__ import annotations

from typing import Any

from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from sparkext.jvm.gateway import class_object, java_class, option

PARSE_EXCEPTION = "org.apache.spark.sql.catalyst.parser.ParseException"
_ORIGIN = "org.apache.spark.sql.catalyst.trees.Origin"
_UNBOUND = "UNBOUND_SQL_PARAMETER"


def has_qualified_functions(spark: SparkSession) -> bool:
    """Whether a session knows a function by its name, a schema and a catalog, which it does from 4.2 on."""
    return bool(spark._jsparkSession.sessionState().functionRegistry().listFunction().head().catalog().isDefined())


def builtin_function(spark: SparkSession, name: str) -> Any:
    """What a session knows a function by that is its own as Spark's are: no view has to say that it calls it."""
    identifier = java_class("org.apache.spark.sql.catalyst.FunctionIdentifier")
    return identifier(name, option("builtin"), option("system")) if has_qualified_functions(spark) else identifier(name)


def parse_exception(sql: str | None, position: Any, condition: str, parameters: Any, contexts: Any) -> Any:
    """A ParseException about ``sql``: of a start and a stop in 4.0, of one position from 4.1 on."""
    constructors = class_object(PARSE_EXCEPTION).getConstructors()
    wanted = max(
        [kind.getSimpleName() for kind in constructor.getParameterTypes()].count("Origin")
        for constructor in constructors
    )
    return java_class(PARSE_EXCEPTION)(option(sql), *[position] * wanted, condition, parameters, contexts)


def origin(*position: Any) -> Any:
    """A position in a statement: an Origin, which later versions put more into, nothing here."""
    missing = class_object(_ORIGIN).getDeclaredConstructors()[0].getParameterCount() - len(position)
    return java_class(_ORIGIN)(*position, *[option(None)] * missing)


def is_without_values(error: CapturedException) -> bool:
    """Whether analysis finds parameters without values: in 4.0, they get them only after a statement is parsed."""
    return error.getCondition() == _UNBOUND
