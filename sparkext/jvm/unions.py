"""UNION ALL over stand-ins of clauses: its branches, and the one relation that they become.

Where the branches are projections and filters of rows that one relation has, all of these are expressions over a row of
it. So the relation is read once, and each of its rows becomes the rows of the branches that take it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeAlias

from sparkext.jvm.gateway import items, java_class, java_method, option, scala_object, scala_seq
from sparkext.jvm.plans import Plan, contains, kind_of

_numbers = itertools.count(1)

_TAG = "sparkext.stand_in"

_ONLY_NAMES = ("SubqueryAlias", "View")
"""Nodes that change no rows."""

_WITHOUT_NAMES = (
    "org.apache.spark.sql.catalyst.analysis.EliminateSubqueryAliases",
    "org.apache.spark.sql.catalyst.analysis.EliminateView",
)
"""Rules of Spark's that leave those out."""

_NOT_OF_ONE_ROW = {
    "PYTHON_UDF": "calls a function in Python",
    "PLAN_EXPRESSION": "has a subquery",
}
"""Patterns of expressions that are more than a value of a row, and what they do."""


@dataclass(frozen=True, eq=False)
class Branch:
    """A branch of a UNION ALL.

    Attributes:
        below: A stand-in, or what else there are projections and filters of.
        stand_in: Number of that plan, given to `marked`; None if the branch does more with a stand-in, or has none.
        more: What it does then, in words that go on after "it".
        above: The projections and filters, from the top.
    """

    below: Plan
    stand_in: int | None
    more: str = ""
    above: tuple[Plan, ...] = ()

    @cached_property
    def plan(self) -> Plan:
        """Its rows, with the columns of the union."""
        return _under(self.above, self.below)

    @property
    def is_read(self) -> bool:
        """Whether it has a stand-in."""
        return self.stand_in is not None

    @cached_property
    def problem(self) -> str:
        """Why it is no projection and filter of each row of its stand-in by itself; empty if it is."""
        together = java_class("org.apache.spark.sql.catalyst.expressions.CreateArray")
        of_nodes = (_problem(together(node.expressions())) for node in self.above)
        return self.more or next(filter(None, of_nodes), "")


def new_number() -> int:
    """A number for a plan that is to be found again."""
    return next(_numbers)


def marked(plan: Plan, number: int) -> Plan:
    """A plan that is found again by a number, wherever Spark's analyzer puts it."""
    plan.setTagValue(_tag(java_class("org.apache.spark.sql.catalyst.trees.TreeNodeTag")), number)
    return plan


@lru_cache(maxsize=4)
def _tag(kind: Any) -> Any:
    return kind(_TAG)


def has_streamed_union(plan: Plan) -> bool:
    """Whether an analysed plan has a UNION ALL of streams, or of what is joined with streams."""
    return bool(plan.isStreaming()) and contains(plan, "UNION")


def has_union(plan: Plan) -> bool:
    """Whether an analysed plan has a UNION ALL."""
    return contains(plan, "UNION")


def with_unions(plan: Plan, replace: Callable[[list[Branch]], list[Plan]]) -> Plan:
    """A plan with other relations in place of branches of UNION ALLs of streams in it.

    Args:
        plan: Analysed by Spark.
        replace: Gives what is to stand for the branches of a union, which may be these themselves.
    """

    def changed(union: Plan, ctes: _Ctes) -> Plan:
        parts = _branches(_combined(union), ctes)
        inner = [part if part.is_read else _changed(part, inside(part.plan, ctes)) for part in parts]
        plans = replace(inner)
        is_same = len(plans) == len(parts) and all(one is other for one, other in zip(parts, inner, strict=True))
        return union if is_same else _united(union, plans)

    def inside(within: Plan, ctes: _Ctes) -> Plan:
        return _at_unions(within, has_streamed_union, changed, ctes)

    return inside(plan, {})


def with_selections(plan: Plan, replace: Callable[[list[Selection]], list[Plan]]) -> Plan:
    """A plan with other relations in place of branches of UNION ALLs in it.

    Args:
        plan: Analysed by Spark.
        replace: Gives what is to stand for the branches of a union, which may be the plans of these.
    """

    def changed(union: Plan, ctes: _Ctes) -> Plan:
        simple = _without_names(_with_definitions(union, ctes))
        branches = [_selection(child) for child in items(_combined(simple).children())]
        inner = [one if one.relation is not None else Selection(inside(one.plan, ctes)) for one in branches]
        plans = replace(inner)
        is_same = len(plans) == len(branches) and all(
            one is other.plan for one, other in zip(plans, branches, strict=True)
        )
        return union if is_same else _united(union, plans)

    def inside(within: Plan, ctes: _Ctes) -> Plan:
        return _at_unions(within, has_union, changed, ctes)

    return inside(plan, {})


_Ctes: TypeAlias = "dict[int, Plan]"
"""Common table expressions, by Spark's numbers."""


def _at_unions(
    plan: Plan, may_have_one: Callable[[Plan], bool], change: Callable[[Plan, _Ctes], Plan], ctes: _Ctes
) -> Plan:
    """A plan with other relations in place of its UNION ALLs that have none above them.

    Args:
        plan: A node of what Spark has analysed.
        may_have_one: Whether a plan may have a union that is asked for; of others nothing is looked at.
        change: Gives what is to stand for a union, which may be itself.
        ctes: Those that the node may read.
    """
    if not may_have_one(plan):
        return plan
    kind = kind_of(plan)
    if kind == "Union":
        return change(plan, ctes)
    if kind == "WithCTE":
        ctes = {**ctes, **_defined(plan)}
    before = items(plan.children())
    after = [_at_unions(child, may_have_one, change, ctes) for child in before]
    if all(one is other for one, other in zip(before, after, strict=True)):
        return plan
    changed = plan.withNewChildren(scala_seq(after))
    return _without_unread(changed) if kind == "WithCTE" else changed


def _defined(plan: Plan) -> _Ctes:
    """The common table expressions of a ``WithCTE``."""
    return {int(one.id()): one.child() for one in items(plan.cteDefs())}


def _with_definitions(plan: Plan, ctes: _Ctes) -> Plan:
    """A plan that has common table expressions in it, where these give the same rows each time."""
    if not contains(plan, "CTE"):
        return plan
    kind = kind_of(plan)
    if kind == "WithCTE":
        return _without_unread(plan.copy(_with_definitions(plan.plan(), {**ctes, **_defined(plan)}), plan.cteDefs()))
    if kind == "CTERelationRef":
        defined = ctes.get(int(plan.cteId()))
        is_known = defined is not None and defined.deterministic()
        return _with_definitions(_named(defined, items(plan.output())), ctes) if is_known else plan
    return plan.withNewChildren(scala_seq(_with_definitions(child, ctes) for child in items(plan.children())))


def _combined(union: Plan) -> Plan:
    """A union with the branches of those that are its branches."""
    return scala_object("org.apache.spark.sql.catalyst.optimizer.CombineUnions").apply(union)


def _united(union: Plan, plans: Sequence[Plan]) -> Plan:
    return plans[0] if len(plans) == 1 else union.copy(scala_seq(plans), union.byName(), union.allowMissingCol())


def _without_names(plan: Plan) -> Plan:
    for rule in _WITHOUT_NAMES:
        plan = scala_object(rule).apply(plan)
    return plan


@dataclass(frozen=True, eq=False)
class Selection:
    """A branch of a UNION ALL, as what it selects from a relation.

    Attributes:
        plan: The branch.
        relation: Number of that relation, given to `marked`; None if it has none, or there is more in between.
        columns: Of the relation, which Spark knows by other numbers in each branch.
        values: The columns, as a ``Seq`` of named expressions over the relation.
        conditions: Which of its rows are selected; each of them is to be asked if those before it hold.
    """

    plan: Plan
    relation: int | None = None
    columns: Any = None
    values: Any = None
    conditions: Sequence[Any] = ()

    @cached_property
    def problem(self) -> str:
        """Why what it selects is more than values of a row; empty if it is not."""
        together = java_class("org.apache.spark.sql.catalyst.expressions.CreateArray")
        return _problem(together(self.values)) or _problem(together(scala_seq(self.conditions)))


def selection(plan: Plan) -> Selection:
    """A plan, as what it selects from what is below its projections, filters and names."""
    return _selection(_without_names(plan))


def _selection(plan: Plan) -> Selection:
    """A plan without names in it, as what it selects from what is below its projections and filters."""
    found = scala_object("org.apache.spark.sql.catalyst.planning.PhysicalOperation").unapply(plan)
    if not found.isDefined():
        return Selection(plan)
    of_it = found.get()
    values, conditions, below = of_it._1(), items(of_it._2()), of_it._3()
    relation = _number(below)
    if relation is not None:
        return Selection(plan, relation, below.output(), values, conditions)
    kind = kind_of(below)
    if kind not in ("Project", "Filter"):
        return Selection(plan)
    # Spark leaves apart what is computed once below and read more often above.
    if below.fastEquals(plan):
        values, conditions = (below.projectList(), []) if kind == "Project" else (below.output(), [below.condition()])
        below = below.children().head()
    inner = _selection(below)
    if inner.relation is None:
        return Selection(plan)
    collapse = scala_object("org.apache.spark.sql.catalyst.optimizer.CollapseProject")
    known = collapse.getAliasMap(inner.values)
    more = [collapse.replaceAlias(condition, known) for condition in conditions]
    shown = scala_seq(collapse.replaceAliasButKeepName(value, known) for value in items(values))
    return Selection(plan, inner.relation, inner.columns, shown, (*inner.conditions, *more))


def _without_unread(plan: Plan) -> Plan:
    """Common table expressions over a plan, without those that nothing reads any more, as Spark would run them."""
    if contains(plan, "PLAN_EXPRESSION"):
        return plan
    defined = items(plan.cteDefs())
    read = _read_in(plan.plan()).union(*(_read_in(one) for one in defined))
    kept = [one for one in defined if int(one.id()) in read]
    return plan.copy(plan.plan(), scala_seq(kept)) if kept else plan.plan()


def _read_in(plan: Plan) -> set[int]:
    """Spark's numbers of the common table expressions that a plan reads."""
    if kind_of(plan) == "CTERelationRef":
        return {int(plan.cteId())}
    return set().union(*map(_read_in, items(plan.children())))


def _changed(branch: Branch, plan: Plan) -> Branch:
    return branch if plan is branch.plan else Branch(plan, None, branch.problem)


def _branches(union: Plan, ctes: dict[int, Plan]) -> list[Branch]:
    """The branches of a union, and of those that are its branches."""
    return [part for child in items(union.children()) for part in _parts(child, [], ctes)]


def _parts(plan: Plan, above: list[Plan], ctes: dict[int, Plan]) -> list[Branch]:
    """A branch, which is more than one where it is a union itself.

    Args:
        plan: A node of it.
        above: The nodes above that, from the top.
        ctes: Common table expressions, by Spark's numbers.
    """
    number = _number(plan)
    if number is not None:
        return [Branch(plan, number, above=tuple(above))]
    kind = kind_of(plan)
    if kind == "Union":
        columns = items(plan.output())
        return [_with_more_above(part, (*above, _named(part.plan, columns))) for part in _branches(plan, ctes)]
    if kind == "CTERelationRef" and (defined := ctes.get(int(plan.cteId()))) is not None:
        return _parts(_named(defined, items(plan.output())), above, ctes)
    if kind == "WithCTE":
        parts = _parts(plan.plan(), above, {**ctes, **_defined(plan)})
        # One that is more than a selection may read what is defined here.
        reason = next((part.problem for part in parts if part.problem), "")
        return [Branch(plan, None, reason, tuple(above))] if reason else parts
    if kind in (*_ONLY_NAMES, "Project", "Filter"):
        below = plan.children().head()
        return _parts(below, above if kind in _ONLY_NAMES else [*above, plan], ctes)
    reads = "reads no clause" if not items(plan.children()) else f"does more with a clause than to select ({kind})"
    return [Branch(plan, None, reads, tuple(above))]


def _with_more_above(branch: Branch, above: tuple[Plan, ...]) -> Branch:
    return Branch(branch.below, branch.stand_in, branch.more, (*above, *branch.above))


def _number(plan: Plan) -> int | None:
    found = plan.getTagValue(_tag(java_class("org.apache.spark.sql.catalyst.trees.TreeNodeTag")))
    return int(found.get()) if found.isDefined() else None


def _problem(expression: Any) -> str:
    """Why an expression is more than a value of a row at a time; empty if it is not."""
    if not expression.deterministic():
        return "gives other values each time"
    return next((problem for pattern, problem in _NOT_OF_ONE_ROW.items() if contains(expression, pattern)), "")


def _under(above: Sequence[Plan], plan: Plan) -> Plan:
    """A plan under other nodes, which are given from the top."""
    for node in reversed(above):
        plan = node.withNewChildren(scala_seq([plan]))
    return plan


def _named(plan: Plan, columns: Sequence[Any]) -> Plan:
    """A plan of which Spark knows the columns as it knows ``columns``."""
    return java_class("org.apache.spark.sql.catalyst.plans.logical.Project")(
        scala_seq(map(_alias, items(plan.output()), columns)), plan
    )


def _alias(value: Any, column: Any) -> Any:
    alias = java_class("org.apache.spark.sql.catalyst.expressions.Alias")
    return alias(value, column.name(), column.exprId(), column.qualifier(), option(column.metadata()), scala_seq([]))


class UnionColumn(NamedTuple):
    """A column of a union: its name, its type in SQL, and whether there may be NULL in it."""

    name: str
    type: str
    may_be_null: bool


def columns_of(branches: Sequence[Branch]) -> list[UnionColumn]:
    """The columns of a union of branches."""
    kinds = [items(branch.plan.output()) for branch in branches]
    return [
        UnionColumn(str(column.name()), str(column.dataType().sql()), any(bool(one[index].nullable()) for one in kinds))
        for index, column in enumerate(kinds[0])
    ]


def columns_alone(plan: Plan, number: int) -> Plan:
    """A relation that is found again by a number, with the columns of a plan and no rows."""
    return marked(
        scala_object("org.apache.spark.sql.catalyst.plans.logical.LocalRelation").apply(plan.output()), number
    )


def over(branch: Branch, rows: Plan) -> Selection:
    """What a branch selects from a relation, with other rows in place of those of its stand-in.

    Args:
        branch: That has a stand-in.
        rows: Selected from the relation; Spark knows the columns by other numbers.
    """
    plan = _under(branch.above, _named(rows, items(branch.below.output())))
    return selection(plan)


def in_one(first: Plan, base: Plan, branches: Sequence[Selection]) -> Plan | None:
    """The rows of branches that select from one relation, which is read once for all of them.

    A value is evaluated where it is read, of a row that all filters leave, as it is in a branch by itself.

    None where a branch selects from no relation, or more than values of a row, and where columns are structs of which
    fields are called otherwise in another branch.

    Args:
        first: The first branch; Spark is to know the columns of all by its numbers and names.
        base: The relation.
        branches: The branches.
    """
    if any(branch.relation is None for branch in branches):
        return None
    literal = scala_object("org.apache.spark.sql.catalyst.expressions.Literal")
    numbers = [literal.apply(number) for number in range(len(branches))]
    nothing = literal.apply(None, numbers[0].dataType())
    taken = [_guarded(number, branch.conditions, nothing) for number, branch in zip(numbers, branches, strict=True)]
    known = _columns_of(base, branches)
    array = known(java_class("org.apache.spark.sql.catalyst.expressions.CreateArray")(scala_seq(taken)))
    explode = java_class("org.apache.spark.sql.catalyst.expressions.Explode")(array)
    made = java_method("org.apache.spark.sql.catalyst.types.DataTypeUtils", "toAttributes")(explode.elementSchema())
    generated = java_class("org.apache.spark.sql.catalyst.plans.logical.Generate")(
        explode, scala_seq([]), False, option(None), made, base
    )
    number = made.head()
    columns = zip(*(items(branch.values) for branch in branches), strict=True)
    values = [_choice(number, numbers, column, known) for column in columns]
    if any(value is None or _problem(value) for value in (array, *values)):
        return None
    is_taken = java_class("org.apache.spark.sql.catalyst.expressions.IsNotNull")(number)
    shown = map(_alias, values, items(first.output()))
    rows = java_class("org.apache.spark.sql.catalyst.plans.logical.Filter")(is_taken, generated)
    plan = java_class("org.apache.spark.sql.catalyst.plans.logical.Project")(scala_seq(shown), rows)
    return plan if generated.missingInput().isEmpty() and plan.missingInput().isEmpty() else None


def _columns_of(base: Plan, branches: Sequence[Selection]) -> Callable[[Any], Any]:
    """Gives expressions over the relations of branches as expressions over ``base``, without names for parts."""
    collapse = scala_object("org.apache.spark.sql.catalyst.optimizer.CollapseProject")
    output, pairs = base.output(), scala_seq([])
    for branch in branches:
        pairs = pairs.appendedAll(branch.columns.zip(output))
    columns = scala_object("org.apache.spark.sql.catalyst.expressions.AttributeMap").apply(pairs)
    return lambda value: collapse.replaceAlias(value, columns)


def _guarded(number: Any, conditions: Sequence[Any], nothing: Any) -> Any:
    """A number, or ``nothing`` if not all conditions hold. What they leave out is not evaluated: it might fail."""
    for condition in reversed(conditions):
        number = java_class("org.apache.spark.sql.catalyst.expressions.If")(condition, number, nothing)
    return number


def _choice(number: Any, numbers: Sequence[Any], values: Sequence[Any], known: Callable[[Any], Any]) -> Any:
    """A column of the branch that has a number; None where branches have other types of it.

    Without the number there is NULL, also where all branches have one value. Else Spark would see no choice in it, and
    evaluate what stands above for rows that no branch takes.
    """
    of_all = java_class("org.apache.spark.sql.catalyst.expressions.CreateArray")(scala_seq(values))
    if not of_all.checkInputDataTypes().isSuccess():
        return None
    either = java_class("org.apache.spark.sql.catalyst.expressions.If")
    is_less = java_class("org.apache.spark.sql.catalyst.expressions.LessThan")

    def one_of(first: int, end: int) -> Any:
        if end - first == 1:
            return values[first]
        half = (first + end) // 2
        return either(is_less(number, numbers[half]), one_of(first, half), one_of(half, end))

    nothing = java_class("org.apache.spark.sql.catalyst.expressions.Literal")(None, of_all.dataType().elementType())
    below = scala_object("org.apache.spark.sql.catalyst.expressions.Literal").apply(-1)
    choice = known(either(is_less(below, number), one_of(0, len(values)), nothing))
    if of_all.dataType().containsNull():
        return choice
    return java_class("org.apache.spark.sql.catalyst.expressions.KnownNotNull")(choice)
