"""Conditions on an event and an earlier one: from Spark's analysed tree to the planner's, by a whitelist.

``PREV(e)``, and ``A.e`` of another variable, becomes a column, so that Spark reads and types the condition as it does
any other. Of its tree, what concerns one event alone is evaluated by Spark; only operators that relate the two events
are translated, and no text of the user's is ever run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from sparkext.binding.column_metadata import DECLARED, metadata_of
from sparkext.binding.orders import KEY_TYPES
from sparkext.binding.relation import check_boolean, check_expressions
from sparkext.binding.type_text import null_sql
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.expressions import (
    Tree,
    analysed_expression,
    children_of,
    column_name,
    common_expressions,
    common_reference,
    holds_common_expressions,
    precision_of,
    readable_sql,
    replacement,
    scale_of,
    span_of,
    sql_of,
    type_name,
    type_sql,
    value_of,
)
from sparkext.jvm.frames import columns_of, own_column
from sparkext.jvm.plans import kind_of
from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.prev_condition import (
    Apply,
    Constant,
    Operand,
    Operation,
    OwnAttribute,
    PrevAttribute,
    ValueKind,
    may_start,
)
from sparkext.sql.event_expressions import AdjacentExpression
from sparkext.sql.quoting import alone, identifier
from sparkext.sql.tokens import TokenKind, tokenize

_DAY = 86_400_000_000
_DIGITS = 18
"""Most digits of a decimal that fit into 64 bits."""
_EXACT_DIGITS = 15
"""Most digits of a whole number that a double holds exactly."""

_COMPARISONS = {
    "EqualTo": (Operation.EQUAL, False),
    "EqualNullSafe": (Operation.SAME, False),
    "LessThan": (Operation.LESS, False),
    "LessThanOrEqual": (Operation.AT_MOST, False),
    "GreaterThan": (Operation.LESS, True),
    "GreaterThanOrEqual": (Operation.AT_MOST, True),
}
_ARITHMETIC = {
    "Add": Operation.ADD,
    "Subtract": Operation.SUBTRACT,
    "Multiply": Operation.MULTIPLY,
    "Divide": Operation.DIVIDE,
    "IntegralDivide": Operation.DIVIDE,
    "Remainder": Operation.REMAINDER,
    "UnaryMinus": Operation.NEGATE,
    "Abs": Operation.ABS,
    "SubtractTimestamps": Operation.SUBTRACT,
    "DateDiff": Operation.SUBTRACT,
}
_STRICT = frozenset((*_ARITHMETIC, *_COMPARISONS, "AttributeReference", "Cast", "Literal", "Upper", "Lower", "Not"))
"""Operators that are NULL when an operand is, as far as it matters here."""
_STRICT -= {"EqualNullSafe"}
_TRUE = Attribute("TRUE", "boolean")


@dataclass(frozen=True, slots=True)
class BoundStep:
    """A condition of DEFINE that names an earlier event, taken apart.

    Attributes:
        text: Canonical text of the whole.
        own: What concerns the event alone, as SQL; None when nothing does.
        start: What must be true, ``own`` included, of an event without an earlier one; None when it never is.
        condition: What relates the event to the earlier one.
        attributes: Texts of the attributes in it, which Spark evaluates.
        anchor: The variable of which the earlier event is the latest; None when it is the event just before.
    """

    text: str
    own: str | None
    start: str | None
    condition: Operand
    attributes: tuple[str, ...]
    anchor: str | None


def bind_step(source: AnalysedFrame, variable: str, expression: AdjacentExpression) -> BoundStep:
    """Take a condition apart.

    Args:
        source: Rows of events.
        variable: That is defined.
        expression: The condition.

    Raises:
        PlanningError: What `check_expressions` and `check_boolean` raise, and ``TREND_PREV_UNSUPPORTED`` for
            an operator that relates the two events and is not known.
    """
    where = "PREV" if expression.earlier is None else "DEFINE"
    checked = check_expressions(source, [(where, before) for before in expression.before])
    plain = source.toDF(*source.columns)
    texts = [before.text for before in expression.before]
    nothing = {
        name: _nothing(text, kind) for name, text, (_, kind) in zip(expression.names, texts, checked, strict=True)
    }
    declared = dict(metadata_of(source, list(zip(expression.names, texts, strict=True))))
    both = _with_columns(plain, nothing, declared)
    try:
        [(_, kind)] = check_expressions(both, [("DEFINE", expression.whole)])
    except PlanningError as error:
        error.parameters = {key: _with_calls(text, expression) for key, text in error.parameters.items()}
        raise
    check_boolean(variable, expression.whole, kind)
    tree = analysed_expression(both, expression.whole.text)
    translator = _Translator(both, expression)
    alone, related = translator.split(tree)
    condition = translator.conjunction(related)
    own = " AND ".join(f"({translator.text(part)})" for part in alone) or None
    start = None
    if may_start(condition):
        without = (f"({translator.text(part, nothing)})" for part in related)
        start = " AND ".join((*([] if own is None else [own]), *without))
    return BoundStep(
        text=expression.canonical,
        own=own,
        start=start,
        condition=condition,
        attributes=tuple(translator.attributes),
        anchor=None if expression.earlier is None else expression.earlier.name,
    )


def _with_columns(frame: DataFrame, texts: dict[str, str], metadata: dict[str, str]) -> AnalysedFrame:
    """The columns of ``frame`` and some more, each declared as what it stands for: with a CHAR(n) or without."""
    if not any(DECLARED in text for text in metadata.values()):
        return columns_of(frame, ["*", *(f"{text} AS {name}" for name, text in texts.items())])
    known = {name: json.loads(metadata.get(name, "{}")) for name in texts}
    return AnalysedFrame.of(
        frame.select("*", *(own_column(text).alias(name, metadata=known[name]) for name, text in texts.items()))
    )


def _nothing(text: str, kind: DataType) -> str:
    """SQL of a NULL of the type of an expression; fields may have any name, and to some types Spark does not cast."""
    is_written = isinstance(kind, KEY_TYPES)
    return null_sql(kind.simpleString()) if is_written else f"CASE WHEN FALSE THEN {alone(text)} END"


class _Translator:
    def __init__(self, frame: AnalysedFrame, expression: AdjacentExpression) -> None:
        self._frame = frame
        self._expression = expression
        self._whole = expression.whole
        self._before = {name: before.text for name, before in zip(expression.names, expression.before, strict=True)}
        self._common: dict[str, Tree] = {}
        self.attributes: dict[str, None] = {}

    def split(self, tree: Tree) -> tuple[list[Tree], list[Tree]]:
        """The conditions that are joined with AND: those on the event alone, and those that name the one before."""
        if kind_of(tree) == "And":
            (left_alone, left_related), (right_alone, right_related) = map(self.split, children_of(tree))
            return left_alone + right_alone, left_related + right_related
        return ([], [tree]) if self._sides(tree) - {"here"} else ([tree], [])

    def conjunction(self, trees: Sequence[Tree]) -> Operand:
        """The condition that all of ``trees`` are true."""
        parts = [self._conjunct(tree) for tree in trees]
        if not parts:
            return Constant(1, ValueKind.FLAG)
        whole = parts[0]
        for part in parts[1:]:
            whole = Apply(Operation.AND, (whole, part), ValueKind.FLAG)
        return whole

    def _conjunct(self, tree: Tree) -> Operand:
        if self._sides(tree) != {"prev"}:
            return self._operand(tree)
        # What concerns the event before alone is looked up like an equality.
        self.attributes[_TRUE.text] = None
        return Apply(
            Operation.EQUAL, (OwnAttribute(_TRUE, ValueKind.FLAG), self._attribute(tree, True)), ValueKind.FLAG
        )

    def text(self, tree: Tree, before: dict[str, str] | None = None) -> str:
        """SQL for a tree over one event, with ``before`` in place of the columns that stand for the earlier event.

        Raises:
            PlanningError: ``TREND_PREV_UNSUPPORTED`` when Spark's text for it does not mean the same.
        """
        written = self._written(tree)
        readable = readable_sql(self._frame, tree, None if written is None else self._whole.text[slice(*written)])
        if readable is None:
            raise self._unsupported(tree)
        text, variables = readable
        self.attributes |= dict.fromkeys(f"system.session.{identifier(name)}" for name in variables)
        return _with_names(text, self._before if before is None else before)

    def _sides(self, tree: Tree) -> frozenset[str]:
        """Which events a tree is about: here, prev; and whether it holds a reference to be looked up."""
        name = kind_of(tree)
        if name == "AttributeReference":
            return frozenset(("prev" if column_name(tree) in self._before else "here",))
        if name == "CommonExpressionRef":
            return frozenset(("reference",))
        sides: frozenset[str] = frozenset().union(*map(self._sides, children_of(tree)))
        return sides - {"reference"} if name == "With" else sides

    def _operand(self, tree: Tree) -> Operand:
        sides, name = self._sides(tree), kind_of(tree)
        if not sides:
            return self._constant(tree)
        if sides == {"prev"} and name in ("IsNull", "IsNotNull") and self._is_ordered(children_of(tree)[0]):
            # What is compared elsewhere in the condition is in order, and NULL is in that order as well.
            return self._is_null(tree) if name == "IsNull" else self._is_not_null(tree)
        if sides in ({"here"}, {"prev"}):
            return self._attribute(tree, sides == {"prev"})
        if name == "CommonExpressionRef":
            return self._operand(self._common[common_reference(tree)])
        if name == "With":
            child, *definitions = children_of(tree)
            self._common |= common_expressions(definitions)
            return self._operand(child)
        return self._related(name, tree)

    def _attribute(self, tree: Tree, is_prev: bool) -> Operand:
        kind, type_ = self._kind(tree), type_sql(tree).lower()
        attribute = Attribute(self.text(tree), type_)
        self.attributes[attribute.text] = None
        return PrevAttribute(attribute, kind, _is_strict(tree)) if is_prev else OwnAttribute(attribute, kind)

    def _constant(self, tree: Tree) -> Operand:
        kind = self._kind(tree)
        if kind in (ValueKind.KEY, ValueKind.IDENTITY) or holds_common_expressions(tree):
            return self._attribute(tree, False)
        return Constant(value_of(tree), kind)

    def _related(self, name: str, tree: Tree) -> Operand:
        """An operator whose operands concern both events."""
        if name in _COMPARISONS:
            operation, turned = _COMPARISONS[name]
            left, right = map(self._operand, children_of(tree))
            if ValueKind.IDENTITY in (left.kind, right.kind) and name not in ("EqualTo", "EqualNullSafe"):
                raise self._unsupported(tree)
            return _flag(operation, *((right, left) if turned else (left, right)))
        if name in ("And", "Or"):
            return _flag(Operation[name.upper()], *map(self._operand, children_of(tree)))
        if name in _ARITHMETIC:
            return self._arithmetic(name, tree)
        rule = _RULES.get(name)
        if rule is not None:
            return rule(self, tree)
        instead = replacement(tree)
        if instead is not None:
            return self._operand(instead)
        raise self._unsupported(tree)

    def _arithmetic(self, name: str, tree: Tree) -> Operand:
        kind = self._kind(tree)
        children = children_of(tree)
        if kind is ValueKind.KEY or ValueKind.KEY in map(self._kind, children):
            raise self._unsupported(tree)
        operands = [self._operand(child) for child in children[: 1 if name in ("UnaryMinus", "Abs") else 2]]
        if any(scale_of(value) is not None for value in (tree, *children)):
            if name == "Divide":
                raise self._unsupported(tree)
            if name != "Multiply":
                scale = max(scale_of(child) or 0 for child in children)
                if any(_digits(child) + scale - (scale_of(child) or 0) > _DIGITS for child in children):
                    raise self._unsupported(tree)  # with as many digits after the point as the other, it may not fit
                operands = [_rescaled(o, scale_of(c) or 0, scale) for o, c in zip(operands, children, strict=False)]
        return Apply(_ARITHMETIC[name], tuple(operands), kind)

    def _cast(self, tree: Tree) -> Operand:
        child = children_of(tree)[0]
        operand, kind, before = self._operand(child), self._kind(tree), self._kind(child)
        scale, scale_before = scale_of(tree), scale_of(child)
        whole_numbers = before is ValueKind.WHOLE and _is_numeric(child)
        if kind is before and scale is None and scale_before is None:
            same = type_name(child) == type_name(tree) or (whole_numbers and _is_numeric(tree))
            if same and (not whole_numbers or _WIDTHS[type_name(child)] <= _WIDTHS[type_name(tree)]):
                return operand
        if kind is ValueKind.WHOLE and scale is not None and whole_numbers and (scale_before or 0) <= scale:
            before_point = precision_of(tree) - scale
            if before_point < _digits(child) - (scale_before or 0):
                operand = _within(operand, 10 ** (before_point + (scale_before or 0)) - 1)
            return _rescaled(operand, scale_before or 0, scale)
        if kind in (ValueKind.NUMBER, ValueKind.SINGLE) and before in (ValueKind.NUMBER, ValueKind.SINGLE):
            return operand if kind is ValueKind.NUMBER else Apply(Operation.ADD, (operand, Constant(0.0, kind)), kind)
        if (
            kind is ValueKind.NUMBER
            and whole_numbers
            and (scale_before is None or precision_of(child) <= _EXACT_DIGITS)
        ):
            number = Apply(Operation.TO_NUMBER, (operand,), kind)
            if not scale_before:
                return number
            return Apply(Operation.DIVIDE, (number, Constant(10.0**scale_before, kind)), kind)
        raise self._unsupported(tree)

    def _is_null(self, tree: Tree) -> Operand:
        return _flag(Operation.IS_NULL, self._operand(children_of(tree)[0]))

    def _is_not_null(self, tree: Tree) -> Operand:
        return _flag(Operation.NOT, self._is_null(tree))

    def _not(self, tree: Tree) -> Operand:
        return _flag(Operation.NOT, self._operand(children_of(tree)[0]))

    def _in(self, tree: Tree) -> Operand:
        value, *choices = map(self._operand, children_of(tree))
        whole = _flag(Operation.EQUAL, value, choices[0])
        for choice in choices[1:]:
            whole = _flag(Operation.OR, whole, _flag(Operation.EQUAL, value, choice))
        return whole

    def _case(self, tree: Tree) -> Operand:
        parts = [self._operand(child) for child in children_of(tree)]
        kind = self._kind(tree)
        result = parts.pop() if len(parts) % 2 else Constant(None, kind)
        while parts:
            value, condition = parts.pop(), parts.pop()
            result = Apply(Operation.CHOOSE, (condition, value, result), kind)
        return result

    def _coalesce(self, tree: Tree) -> Operand:
        *first, result = [self._operand(child) for child in children_of(tree)]
        for operand in reversed(first):
            has_value = _flag(Operation.NOT, _flag(Operation.IS_NULL, operand))
            result = Apply(Operation.CHOOSE, (has_value, operand, result), self._kind(tree))
        return result

    def _extreme(self, tree: Tree) -> Operand:
        if self._kind(tree) is ValueKind.IDENTITY:
            raise self._unsupported(tree)
        result, *others = [self._operand(child) for child in children_of(tree)]
        for operand in others:
            pair = (result, operand) if kind_of(tree) == "Least" else (operand, result)
            better = _flag(Operation.OR, _flag(Operation.LESS, *pair), _flag(Operation.IS_NULL, operand))
            result = Apply(Operation.CHOOSE, (better, result, operand), self._kind(tree))
        return result

    def _days_between(self, tree: Tree) -> Operand:
        days = Apply(Operation.SUBTRACT, tuple(map(self._operand, children_of(tree))), ValueKind.WHOLE)
        return Apply(Operation.MULTIPLY, (days, Constant(_DAY, ValueKind.WHOLE)), ValueKind.WHOLE)

    def _kind(self, tree: Tree) -> ValueKind:
        """How values of a tree's type are held.

        Raises:
            PlanningError: ``TREND_PREV_UNSUPPORTED`` for types that are not.
        """
        name = type_name(tree)
        if name.startswith("decimal"):
            return ValueKind.WHOLE if precision_of(tree) <= _DIGITS else ValueKind.KEY
        if name.startswith("interval") and "month" not in name and "year" not in name:
            return ValueKind.WHOLE
        if name not in _KINDS or (name == "string" and type_sql(tree) != "STRING"):
            raise self._unsupported(tree)
        return _KINDS[name]

    def _is_ordered(self, tree: Tree) -> bool:
        """Whether values of a tree's type are held as numbers or order keys."""
        name = type_name(tree)
        is_interval = name.startswith("interval") and "month" not in name and "year" not in name
        return name.startswith("decimal") or is_interval or name in _KINDS.keys() - {"string", "binary"}

    def _written(self, tree: Tree) -> tuple[int, int] | None:
        """Where a tree stands in the text of the condition; None if Spark does not say."""
        span = span_of(tree)  # of the text in parentheses
        return None if span is None else (span[0] - 1, span[1] - 1)

    def _unsupported(self, tree: Tree) -> PlanningError:
        start, end = self._whole.start, self._whole.end
        written = self._written(tree)
        if written is not None and kind_of(tree) != "AttributeReference":
            shown = self._whole.text[slice(*written)]
            start, end = start + written[0], start + written[1]
        else:
            shown = sql_of(tree)
        shown = " ".join(_with_calls(shown, self._expression).split())
        return PlanningError("TREND_PREV_UNSUPPORTED", start, end, expression=shown, type=type_name(tree).upper())


_RULES: dict[str, Callable[[_Translator, Tree], Operand]] = {
    "Cast": _Translator._cast,
    "IsNull": _Translator._is_null,
    "IsNotNull": _Translator._is_not_null,
    "Not": _Translator._not,
    "In": _Translator._in,
    "If": _Translator._case,
    "CaseWhen": _Translator._case,
    "Coalesce": _Translator._coalesce,
    "Greatest": _Translator._extreme,
    "Least": _Translator._extreme,
    "SubtractDates": _Translator._days_between,
}
_WHOLE_DIGITS = {"tinyint": 3, "smallint": 5, "integer": 10, "bigint": 19}
_WIDTHS = {"boolean": 0, "tinyint": 1, "smallint": 2, "integer": 3, "bigint": 4}
_KINDS = {
    "boolean": ValueKind.FLAG,
    "tinyint": ValueKind.WHOLE,
    "smallint": ValueKind.WHOLE,
    "integer": ValueKind.WHOLE,
    "bigint": ValueKind.WHOLE,
    "date": ValueKind.WHOLE,
    "timestamp": ValueKind.WHOLE,
    "timestamp_ntz": ValueKind.WHOLE,
    "float": ValueKind.SINGLE,
    "double": ValueKind.NUMBER,
    "string": ValueKind.IDENTITY,
    "binary": ValueKind.IDENTITY,
}


def _flag(operation: Operation, *operands: Operand) -> Apply:
    return Apply(operation, operands, ValueKind.FLAG)


def _rescaled(operand: Operand, before: int, scale: int) -> Operand:
    """A decimal's digits with more of them after the point."""
    if scale == before:
        return operand
    return Apply(Operation.MULTIPLY, (operand, Constant(10 ** (scale - before), ValueKind.WHOLE)), ValueKind.WHOLE)


def _within(operand: Operand, most: int) -> Operand:
    """A whole number, or NULL where it is above ``most`` or below its negative."""
    least, greatest = (Constant(bound, ValueKind.WHOLE) for bound in (-most, most))
    fits = _flag(Operation.AND, _flag(Operation.AT_MOST, least, operand), _flag(Operation.AT_MOST, operand, greatest))
    return Apply(Operation.CHOOSE, (fits, operand, Constant(None, ValueKind.WHOLE)), ValueKind.WHOLE)


def _digits(tree: Tree) -> int:
    """Most digits of a number that is held as a whole one."""
    return precision_of(tree) if scale_of(tree) is not None else _WHOLE_DIGITS.get(type_name(tree), 0)


def _is_numeric(tree: Tree) -> bool:
    return type_name(tree) in ("tinyint", "smallint", "integer", "bigint") or scale_of(tree) is not None


def _is_strict(tree: Tree) -> bool:
    """Whether a tree is certainly NULL when its columns are."""
    return kind_of(tree) in _STRICT and all(map(_is_strict, children_of(tree)))


def _with_calls(text: str, expression: AdjacentExpression) -> str:
    """``text`` with what the user wrote in place of the names of columns that stand for it."""
    for name, before in zip(expression.names, expression.before, strict=True):
        text = expression.shown(before.text.strip()).join(re.split(rf"`?\b{name}\b`?", text))
    return text


def _with_names(text: str, replacements: dict[str, str]) -> str:
    """``text`` with expressions in place of column names: columns as they are, as in what is asked of this event."""
    parts: list[str] = []
    at = 0
    for token in tokenize(text):
        if token.kind is TokenKind.WORD and token.text in replacements:
            instead = replacements[token.text].strip()
            parts += [text[at : token.start], instead if _is_one_token(instead) else f"({instead})"]
            at = token.end
    return "".join([*parts, text[at:]])


def _is_one_token(text: str) -> bool:
    return [text[token.start : token.end] for token in tokenize(text)] == [text]
