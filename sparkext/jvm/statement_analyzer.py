"""Statements that Spark parses: the values of their parameters, and their analysis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from pyspark.errors.exceptions.captured import CapturedException

from sparkext.jvm.gateway import class_object, items
from sparkext.jvm.plans import Plan, kind_of
from sparkext.jvm.sessions import Reference
from sparkext.jvm.versions import is_without_values

_COMMANDS = (
    "org.apache.spark.sql.catalyst.plans.logical.Command",
    "org.apache.spark.sql.catalyst.plans.logical.ParsedStatement",
)


class StatementAnalyzer:
    """Analyses statements of a session that read trends, before Spark does, so that errors have no plans in them.

    Spark puts the plan of a statement into an error of its analysis. That of a view with trends is the plan of a pass.
    """

    def __init__(self, session: Reference) -> None:
        """An analyzer of the statements of a session."""
        self._session = session
        self._known: dict[str, bool] = {}

    def analysed(self, plan: Plan) -> Plan:
        """``plan``, a statement that has been parsed, as analysis makes it; as it is if it is no query.

        Raises:
            CapturedException: What analysis finds wrong.
        """
        kind = kind_of(plan)
        if is_script(plan) or kind == "ExplainCommand":
            return plan
        analyzer = self._analyzer.get()
        is_command = self._is_command(kind, plan)
        try:
            # Analysis leaves marks in a plan. Spark is to do with a command what it always does.
            analysed = analyzer.execute(plan.clone() if is_command else plan)
            analyzer.checkAnalysis(analysed)
        except CapturedException as error:
            if is_without_values(error):
                return plan
            raise
        return plan if is_command else analysed

    @cached_property
    def _analyzer(self) -> Reference:
        """Spark's analyzer of the session, the same for the session's whole life, by which it is not held."""
        session = self._session.get()
        assert session is not None
        return Reference(session.sessionState().analyzer())

    def _is_command(self, kind: str, plan: Plan) -> bool:
        """Whether a plan, of the class ``kind``, is of a statement that does something beside returning rows."""
        if kind not in self._known:
            self._known[kind] = any(class_object(name).isInstance(plan) for name in _COMMANDS)
        return self._known[kind]


def is_script(plan: Plan) -> bool:
    """Whether a plan is that of ``BEGIN … END``, which Spark can neither analyse as a whole nor copy."""
    return kind_of(plan) == "CompoundBody"


def values_of(context: Any) -> dict[int | str, str]:
    """The values, in SQL, by their names or positions.

    Args:
        context: Spark's ParameterContext; None when this version of Spark hands none to its parser.
    """
    match None if context is None else _kind_of_context(context):
        case None:
            return {}
        case "NamedParameterContext":
            return {str(pair._1()): str(pair._2().sql()) for pair in items(context.params().toSeq())}
        case "PositionalParameterContext":
            return {position: str(value.sql()) for position, value in enumerate(items(context.params()))}
        case _:  # of EXECUTE IMMEDIATE, where a value has a position and may have a name
            given = zip(items(context.args()), items(context.paramNames()), strict=True)
            values = [(position, str(name), str(value.sql())) for position, (value, name) in enumerate(given)]
            return {key: value for position, name, value in values for key in (name, position)}


def only_at(context: Any, kept: Sequence[int]) -> Any:
    """A context of those parameters by position that are at ``kept``."""
    if _kind_of_context(context) == "PositionalParameterContext":
        return context.copy(_only(context.params(), kept))
    return context.copy(_only(context.args(), kept), _only(context.paramNames(), kept))


def _kind_of_context(context: Any) -> str:
    """Its class; asked of itself, which does without a JVM where texts alone are looked at."""
    return str(context.getClass().getSimpleName())


def _only(values: Any, kept: Sequence[int]) -> Any:
    """A Scala sequence of the elements of ``values`` at ``kept``."""
    builder = values.take(0)
    for position in kept:
        builder = builder.appended(values.apply(position))
    return builder
