"""Variables in the text of a statement, ``${name}``, which Spark replaces by their values before it parses the text."""

from __future__ import annotations

import re

from sparkext.jvm.gateway import java_class
from sparkext.sql.text_edits import Edits

BEGINNING = "${"
"""How a variable begins."""

_VARIABLE = re.compile(r"\$\{(?:(?:\w+?):)?(?:\S+?)\}")
"""A variable, by the pattern that Spark's reader of confs has."""


def with_values(sql: str) -> Edits:
    """The replacement of the variables of a statement by their values; Spark is asked for each of them."""
    edits = Edits(sql)
    variables = list(_VARIABLE.finditer(sql)) if BEGINNING in sql else []
    if variables:
        substitution = java_class("org.apache.spark.sql.internal.VariableSubstitution")()
        for variable in variables:
            value = str(substitution.substitute(variable[0]))
            if value != variable[0]:
                edits.replace(*variable.span(), value)
    return edits
