"""UNION ALL over stand-ins of clauses: its branches, and the one relation that they become.

Where the branches are projections and filters of rows that one relation has, all of these are expressions over a row of
it. So the relation is read once, and each of its rows becomes the rows of the branches that take it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from sparkext.jvm.frames import expression
from sparkext.jvm.gateway import items, java_class, option, scala_object, scala_seq
from sparkext.jvm.plans import Plan, contains, kind_of

_numbers = itertools.count(1)

_TAG = "sparkext.stand_in"
_BRANCH = "branch"

_ONLY_NAMES = ("SubqueryAlias", "View")
"""Nodes that change no rows."""

_STOPS = ("MapInArrow",)
"""Nodes that Spark's optimizer moves no filter or projection through."""

_TO_FEW_NODES = (
    "org.apache.spark.sql.catalyst.analysis.EliminateSubqueryAliases",
    "org.apache.spark.sql.catalyst.optimizer.PushDownPredicates",
    "org.apache.spark.sql.catalyst.optimizer.CollapseProject",
)
"""Rules of Spark's that leave a filter and a projection of many. To ask it for each node takes longer."""

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
        return self.more or _problem(self.above)


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


def with_unions(
    plan: Plan, replace: Callable[[list[Branch]], list[Plan]], may_have_one: Callable[[Plan], bool] = has_streamed_union
) -> Plan:
    """A plan with other relations in place of branches of UNION ALLs in it.

    Args:
        plan: Analysed by Spark.
        replace: Gives what is to stand for the branches of a union, which may be these themselves.
        may_have_one: Whether a plan may have a union that is asked for; of others nothing is looked at.
    """
    return _with_unions(plan, replace, may_have_one, {})


def _with_unions(
    plan: Plan,
    replace: Callable[[list[Branch]], list[Plan]],
    may_have_one: Callable[[Plan], bool],
    ctes: dict[int, Plan],
) -> Plan:
    """As `with_unions`, where there are common table expressions, by Spark's numbers."""
    if not may_have_one(plan):
        return plan
    kind = kind_of(plan)
    if kind == "WithCTE":
        ctes = {**ctes, **{int(one.id()): one.child() for one in items(plan.cteDefs())}}
    if kind != "Union":
        before = items(plan.children())
        after = [_with_unions(child, replace, may_have_one, ctes) for child in before]
        if all(one is other for one, other in zip(before, after, strict=True)):
            return plan
        changed = plan.withNewChildren(scala_seq(after))
        return _without_unread(changed) if kind == "WithCTE" else changed
    parts = _branches(scala_object("org.apache.spark.sql.catalyst.optimizer.CombineUnions").apply(plan), ctes)
    inner = [
        part if part.is_read else _changed(part, _with_unions(part.plan, replace, may_have_one, ctes)) for part in parts
    ]
    plans = replace(inner)
    if len(plans) == len(parts) and all(one is other for one, other in zip(parts, inner, strict=True)):
        return plan
    return plans[0] if len(plans) == 1 else plan.copy(scala_seq(plans), plan.byName(), plan.allowMissingCol())


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


def _problem(nodes: Sequence[Plan]) -> str:
    """Why some projections and filters are not those of one row at a time; empty if they are."""
    together = java_class("org.apache.spark.sql.catalyst.expressions.CreateArray")
    for node in nodes:
        all_of_it = together(node.expressions())
        if not all_of_it.deterministic():
            return "gives other values each time"
        for pattern, problem in _NOT_OF_ONE_ROW.items():
            if contains(all_of_it, pattern):
                return problem
    return ""


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


def over(branch: Branch, rows: Plan) -> Plan:
    """The plan of a branch with other rows in place of those of its stand-in.

    Args:
        branch: That has a stand-in.
        rows: Of which Spark knows the columns by other numbers.
    """
    return _under(branch.above, _named(rows, items(branch.below.output())))


def in_one(first: Branch, base: Plan, branches: Sequence[Plan]) -> Plan | None:
    """The rows of branches that are projections and filters of one relation, which is read once for all of them.

    A value is evaluated where it is read, by a row that all filters leave, as it is in a branch by itself.

    None where columns are structs of which fields are called otherwise in another branch.

    Args:
        first: The first of the branches, by the columns of which Spark is to know those of all.
        base: The relation, a node of the plans of the branches.
        branches: The branches.
    """
    made = [_row(branch, base) for branch in branches]
    values = [list(map(_apart, row)) for _, row in made]
    structs = (_struct(number, taken, row) for number, ((taken, _), row) in enumerate(zip(made, values, strict=True)))
    array = java_class("org.apache.spark.sql.catalyst.expressions.CreateArray")(scala_seq(structs))
    if not array.checkInputDataTypes().isSuccess():
        return None
    inline = java_class("org.apache.spark.sql.catalyst.expressions.Inline")(array)
    number = expression(f"1 AS {_BRANCH}").toAttribute().withNullability(True)
    columns = items(first.plan.output())
    now = [
        column.newInstance().withNullability(True).withDataType(field.dataType())  # of a struct that may be NULL
        for column, field in zip(columns, items(array.dataType().elementType())[1:], strict=True)
    ]
    by_column = [*zip(*values, strict=True)]
    choices = [_choice(number, [value.later for value in of_column]) for of_column in by_column]
    shown = []
    for attribute, choice, column, of_column in zip(now, choices, columns, by_column, strict=True):
        value = (
            attribute
            if choice is None
            else java_class("org.apache.spark.sql.catalyst.expressions.Coalesce")(scala_seq([attribute, choice]))
        )
        may_be_null = any(one.may_be_null for one in of_column)
        shown.append(
            _alias(
                value if may_be_null else java_class("org.apache.spark.sql.catalyst.expressions.KnownNotNull")(value),
                column,
            )
        )
    unread = scala_seq(_others(base, [choice for choice in choices if choice is not None]))
    every = java_class("org.apache.spark.sql.catalyst.plans.logical.Generate")(
        inline, unread, False, option(None), scala_seq([number, *now]), base
    )
    left = java_class("org.apache.spark.sql.catalyst.plans.logical.Filter")(
        java_class("org.apache.spark.sql.catalyst.expressions.IsNotNull")(number), every
    )
    return java_class("org.apache.spark.sql.catalyst.plans.logical.Project")(scala_seq(shown), left)


class _Value(NamedTuple):
    """A value of a branch: the first of these two that is not NULL.

    Attributes:
        now: What is evaluated for each row of the branch, since it cannot fail.
        later: What is evaluated where the value is read, in rows that filters above leave; None for nothing.
        may_be_null: Whether the value may be NULL.
    """

    now: Any
    later: Any | None
    may_be_null: bool


_CANNOT_FAIL = ("AttributeReference", "Literal")

_TOTAL = re.compile(r"\w+#\d+L?|cast\(exact_\d+#\d+L as decimal\(38,0\)\)|beyond#\d+\[\d+\]\.\w+|-?\d+(\.\d+)?")
"""A total of a run, as Spark shows it, or a number."""

_OF_TOTALS = re.compile(r"(?:coalesce|try_divide|CASE|WHEN|NOT|THEN|ELSE|END|<=>|[(),\s]|@)*")
"""An expression over totals, each written ``@``, that cannot fail."""

_COUNT = re.compile(r"coalesce\((.*), cast\(raise_error\(.*", re.DOTALL)


_FAILURE = re.compile(r"cast\(raise_error\(")


def _apart(value: Any) -> _Value:
    """A value, apart into what may be evaluated for all rows of a branch and what may fail."""
    may_be_null = bool(value.nullable())
    kind = kind_of(value)
    if kind in _CANNOT_FAIL:
        return _Value(value, None, may_be_null)
    text = str(value.toString())
    if _is_of_totals(text):
        return _Value(value, None, may_be_null)
    if kind == "Coalesce" and (count := _COUNT.fullmatch(text)) is not None and _is_of_totals(count[1]):
        *totals, failure = items(value.children())
        return _Value(
            java_class("org.apache.spark.sql.catalyst.expressions.Coalesce")(scala_seq(totals)), failure, may_be_null
        )
    return _Value(
        java_class("org.apache.spark.sql.catalyst.expressions.Literal")(None, value.dataType()), value, may_be_null
    )


def _is_of_totals(text: str) -> bool:
    return _OF_TOTALS.fullmatch(_TOTAL.sub("@", text)) is not None


def _choice(number: Any, values: Sequence[Any | None]) -> Any | None:
    """That of some values which is of the branch with a number; None if there are none.

    Spark is to see a choice in it also if all are one value: else it would evaluate what stands above a union for rows
    that no branch takes. So where there is no number, there is NULL.
    """
    those = [(index, value) for index, value in enumerate(values) if value is not None]
    if not those:
        return None
    failures = [value for _, value in those if _FAILURE.match(str(value.toString()))]
    if len(failures) == len(values):
        # Only messages differ. A choice of code grows with the branches, so that the JVM does not compile it.
        failure = failures[0].children().head()
        messages = scala_seq(one.children().head().children().last() for one in failures)
        array = java_class("org.apache.spark.sql.catalyst.expressions.CreateArray")(messages)
        message = java_class("org.apache.spark.sql.catalyst.expressions.GetArrayItem")(array, number, False)
        raised = failure.withNewChildren(scala_seq([failure.children().head(), message]))
        return failures[0].withNewChildren(scala_seq([raised]))
    choices = scala_seq(one for index, value in those for one in (expression(str(index)), value))
    return scala_object("org.apache.spark.sql.catalyst.expressions.CaseKeyWhen").apply(number, choices)


def _others(base: Plan, read: Sequence[Any]) -> list[int]:
    """Indexes of the columns of a relation that none of some expressions reads."""
    used = {str(column.exprId()) for one in read for column in items(one.references().toSeq())}
    size = base.output().size()
    if not used:
        return list(range(size))
    return [index for index, column in enumerate(items(base.output())) if str(column.exprId()) not in used]


def _struct(number: int, conditions: Sequence[Any], row: Sequence[_Value]) -> Any:
    """The row of a branch with its number, as a struct; NULL where it has none."""
    named = [expression(f"'{_BRANCH}'"), expression(str(number))]
    for index, value in enumerate(row):
        named += [expression(f"'{index}'"), value.now]
    made = java_class("org.apache.spark.sql.catalyst.expressions.CreateNamedStruct")(scala_seq(named))
    kind = made.dataType()
    # What a filter leaves out is not evaluated further up, where it might fail.
    for condition in reversed(conditions):
        made = java_class("org.apache.spark.sql.catalyst.expressions.If")(
            condition, made, java_class("org.apache.spark.sql.catalyst.expressions.Literal")(None, kind)
        )
    return made


def _row(plan: Plan, base: Plan) -> tuple[list[Any], list[Any]]:
    """What a branch makes of a row of ``base``, as expressions over it: its conditions, and its values."""
    columns, nodes = items(plan.output()), []
    collapse = scala_object("org.apache.spark.sql.catalyst.optimizer.CollapseProject")
    if kind_of(base) in _STOPS:
        for rule in _TO_FEW_NODES:
            plan = scala_object(rule).apply(plan)
    while not plan.fastEquals(base) and (kind := kind_of(plan)) not in _STOPS:
        if kind not in _ONLY_NAMES:
            nodes.append((kind, plan))
        plan = plan.children().head()
    known, conditions = None, []
    for kind, node in reversed(nodes):
        if kind == "Filter":
            conditions.append(node.condition() if known is None else collapse.replaceAlias(node.condition(), known))
        elif known is None:
            known = collapse.getAliasMap(node)
        else:
            listed = [collapse.replaceAliasButKeepName(one, known) for one in items(node.projectList())]
            known = collapse.getAliasMap(node.copy(scala_seq(listed), base))
    return conditions, [column if known is None else collapse.replaceAlias(column, known) for column in columns]
