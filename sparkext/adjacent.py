"""Conditions on adjacent events: from Spark's analysed tree to the planner's, by a whitelist.

``PREV(e)`` becomes a column, so that Spark reads and types the condition as it does any other. Of its
tree, what concerns one event alone is evaluated by Spark; only operators that relate the two events are
translated, and no text of the user's is ever run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from planner.adjacent import Apply, Constant, Here, Kind, Operand, Operation, Prev, may_start
from planner.attribute import Attribute
from planner.errors import PlanningError
from sparkext.expressions import AdjacentExpression
from sparkext.source import check_boolean, check_expressions
from sparkext.tokens import Kind as TokenKind
from sparkext.tokens import tokenize

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
    """A condition of DEFINE that names the event before, taken apart.

    Attributes:
        text: Canonical text of the whole.
        own: What concerns the event alone, as SQL; None when nothing does.
        start: What must be true, ``own`` included, of an event without one before it; None when it never is.
        condition: What relates the event to the one before.
        attributes: Texts of the attributes in it, which Spark evaluates.
    """

    text: str
    own: str | None
    start: str | None
    condition: Operand
    attributes: tuple[str, ...]


def bind_step(source: DataFrame, variable: str, expression: AdjacentExpression) -> BoundStep:
    """Take a condition apart.

    Args:
        source: Rows of events.
        variable: That is defined.
        expression: The condition.

    Raises:
        PlanningError: What `check_expressions` and `check_boolean` raise, and ``TREND_PREV_UNSUPPORTED`` for
            an operator that relates the two events and is not known.
    """
    found = check_expressions(source, [("PREV", before) for before in expression.before])
    plain = source.toDF(*source.columns)
    types = {name: kind.simpleString() for name, (_, kind) in zip(expression.names, found, strict=True)}
    nothing = {name: f"CAST(NULL AS {kind})" for name, kind in types.items()}
    both = plain.selectExpr("*", *(f"{null} AS {name}" for name, null in nothing.items()))
    try:
        [(_, kind)] = check_expressions(both, [("DEFINE", expression.whole)])
    except PlanningError as error:
        error.parameters = {key: _with_calls(text, expression) for key, text in error.parameters.items()}
        raise
    check_boolean(variable, expression.whole, kind)
    tree = _analysed(both, expression.whole.text)
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
    )


def _analysed(frame: DataFrame, text: str) -> Any:
    """Spark's tree of an expression over the columns of ``frame``."""
    plan = frame.select(F.expr(f"({text})").alias("x"))._jdf.queryExecution().analyzed()
    return plan.expressions().apply(0).children().head()


def _name(tree: Any) -> str:
    return str(tree.getClass().getSimpleName())


def _children(tree: Any) -> list[Any]:
    found = tree.children()
    return [found.apply(place) for place in range(found.size())]


class _Translator:
    def __init__(self, frame: DataFrame, expression: AdjacentExpression) -> None:
        self._frame = frame
        self._expression = expression
        self._whole = expression.whole
        self._before = {name: before.text for name, before in zip(expression.names, expression.before, strict=True)}
        self._common: dict[str, Any] = {}
        self.attributes: dict[str, None] = {}

    def split(self, tree: Any) -> tuple[list[Any], list[Any]]:
        """The conditions that are joined with AND: those on the event alone, and those that name the one before."""
        if _name(tree) == "And":
            (one, related), (other, more) = map(self.split, _children(tree))
            return one + other, related + more
        return ([], [tree]) if self._sides(tree) - {"here"} else ([tree], [])

    def conjunction(self, trees: Sequence[Any]) -> Operand:
        """The condition that all of ``trees`` are true."""
        parts = [self._conjunct(tree) for tree in trees]
        if not parts:
            return Constant(1, Kind.FLAG)
        whole = parts[0]
        for part in parts[1:]:
            whole = Apply(Operation.AND, (whole, part), Kind.FLAG)
        return whole

    def _conjunct(self, tree: Any) -> Operand:
        part = self._operand(tree)
        if not isinstance(part, Prev):
            return part
        # What concerns the event before alone is looked up like an equality.
        self.attributes[_TRUE.text] = None
        return Apply(Operation.EQUAL, (Here(_TRUE, Kind.FLAG), part), Kind.FLAG)

    def text(self, tree: Any, before: dict[str, str] | None = None) -> str:
        """SQL for a tree over one event, with ``before`` in place of the columns that stand for PREV.

        Raises:
            PlanningError: ``TREND_PREV_UNSUPPORTED`` when Spark's text for it does not mean the same.
        """
        text = str(tree.sql())
        try:
            again = _analysed(self._frame, text)
        except CapturedException:
            raise self._unsupported(tree) from None
        if not again.semanticEquals(tree) and _plain_sql(again) != _plain_sql(tree):
            raise self._unsupported(tree)
        return _with_names(text, self._before if before is None else before)

    def _sides(self, tree: Any) -> frozenset[str]:
        """Which events a tree is about: here, prev; and whether it holds a reference to be looked up."""
        name = _name(tree)
        if name == "AttributeReference":
            return frozenset(("prev" if tree.name() in self._before else "here",))
        if name == "CommonExpressionRef":
            return frozenset(("reference",))
        sides: frozenset[str] = frozenset().union(*map(self._sides, _children(tree)))
        return sides - {"reference"} if name == "With" else sides

    def _operand(self, tree: Any) -> Operand:
        sides = self._sides(tree)
        if not sides:
            return self._constant(tree)
        if sides in ({"here"}, {"prev"}):
            return self._attribute(tree, sides == {"prev"})
        name = _name(tree)
        if name == "CommonExpressionRef":
            return self._operand(self._common[str(tree.id())])
        if name == "With":
            child, *definitions = _children(tree)
            self._common.update((str(d.id()), d.child()) for d in definitions)
            return self._operand(child)
        return self._related(name, tree)

    def _attribute(self, tree: Any, is_prev: bool) -> Operand:
        kind, type_ = self._kind(tree), str(tree.dataType().sql()).lower()
        attribute = Attribute(self.text(tree), type_)
        self.attributes[attribute.text] = None
        return Prev(attribute, kind, _is_strict(tree)) if is_prev else Here(attribute, kind)

    def _constant(self, tree: Any) -> Operand:
        kind = self._kind(tree)
        if kind in (Kind.KEY, Kind.IDENTITY):
            return self._attribute(tree, False)
        value = tree.eval(None)
        if value is not None and tree.dataType().typeName().startswith("decimal"):
            value = value.toUnscaledLong()
        return Constant(value, kind)

    def _related(self, name: str, tree: Any) -> Operand:
        """An operator whose operands concern both events."""
        if name in _COMPARISONS:
            operation, turned = _COMPARISONS[name]
            one, other = map(self._operand, _children(tree))
            if Kind.IDENTITY in (one.kind, other.kind) and name not in ("EqualTo", "EqualNullSafe"):
                raise self._unsupported(tree)
            return _flag(operation, *((other, one) if turned else (one, other)))
        if name in ("And", "Or"):
            return _flag(Operation[name.upper()], *map(self._operand, _children(tree)))
        if name in _ARITHMETIC:
            return self._arithmetic(name, tree)
        rule = _RULES.get(name)
        if rule is not None:
            return rule(self, tree)
        if self._is_replaceable(tree):
            return self._operand(tree.replacement())
        raise self._unsupported(tree)

    def _arithmetic(self, name: str, tree: Any) -> Operand:
        kind = self._kind(tree)
        children = _children(tree)
        if kind is Kind.KEY or Kind.KEY in map(self._kind, children):
            raise self._unsupported(tree)
        operands = [self._operand(child) for child in children[: 1 if name in ("UnaryMinus", "Abs") else 2]]
        if _scale(tree) is not None:
            if name == "Divide":
                raise self._unsupported(tree)
            if name != "Multiply":
                scale = max(_scale(child) or 0 for child in children)
                operands = [_rescaled(o, _scale(c) or 0, scale) for o, c in zip(operands, children, strict=False)]
        return Apply(_ARITHMETIC[name], tuple(operands), kind)

    def _cast(self, tree: Any) -> Operand:
        child = _children(tree)[0]
        operand, kind, before = self._operand(child), self._kind(tree), self._kind(child)
        scale, scale_before = _scale(tree), _scale(child)
        whole_numbers = before is Kind.WHOLE and _is_numeric(child)
        if kind is before and scale is None and scale_before is None:
            same = _type_name(child) == _type_name(tree) or (whole_numbers and _is_numeric(tree))
            if same and (not whole_numbers or _WIDTHS[_type_name(child)] <= _WIDTHS[_type_name(tree)]):
                return operand
        if kind is Kind.WHOLE and scale is not None and whole_numbers and (scale_before or 0) <= scale:
            return _rescaled(operand, scale_before or 0, scale)
        if kind in (Kind.NUMBER, Kind.SINGLE) and before in (Kind.NUMBER, Kind.SINGLE):
            return operand if kind is Kind.NUMBER else Apply(Operation.ADD, (operand, Constant(0.0, kind)), kind)
        if kind is Kind.NUMBER and whole_numbers and (scale_before is None or _precision(child) <= _EXACT_DIGITS):
            number = Apply(Operation.TO_NUMBER, (operand,), kind)
            if not scale_before:
                return number
            return Apply(Operation.DIVIDE, (number, Constant(10.0**scale_before, kind)), kind)
        raise self._unsupported(tree)

    def _is_null(self, tree: Any) -> Operand:
        return _flag(Operation.IS_NULL, self._operand(_children(tree)[0]))

    def _is_not_null(self, tree: Any) -> Operand:
        return _flag(Operation.NOT, self._is_null(tree))

    def _not(self, tree: Any) -> Operand:
        return _flag(Operation.NOT, self._operand(_children(tree)[0]))

    def _in(self, tree: Any) -> Operand:
        value, *choices = map(self._operand, _children(tree))
        whole = _flag(Operation.EQUAL, value, choices[0])
        for choice in choices[1:]:
            whole = _flag(Operation.OR, whole, _flag(Operation.EQUAL, value, choice))
        return whole

    def _case(self, tree: Any) -> Operand:
        parts = [self._operand(child) for child in _children(tree)]
        kind = self._kind(tree)
        result = parts.pop() if len(parts) % 2 else Constant(None, kind)
        while parts:
            value, condition = parts.pop(), parts.pop()
            result = Apply(Operation.CHOOSE, (condition, value, result), kind)
        return result

    def _coalesce(self, tree: Any) -> Operand:
        *first, result = [self._operand(child) for child in _children(tree)]
        for operand in reversed(first):
            known = _flag(Operation.NOT, _flag(Operation.IS_NULL, operand))
            result = Apply(Operation.CHOOSE, (known, operand, result), self._kind(tree))
        return result

    def _extreme(self, tree: Any) -> Operand:
        result, *others = [self._operand(child) for child in _children(tree)]
        for other in others:
            pair = (result, other) if _name(tree) == "Least" else (other, result)
            better = _flag(Operation.OR, _flag(Operation.LESS, *pair), _flag(Operation.IS_NULL, other))
            result = Apply(Operation.CHOOSE, (better, result, other), self._kind(tree))
        return result

    def _days_between(self, tree: Any) -> Operand:
        days = Apply(Operation.SUBTRACT, tuple(map(self._operand, _children(tree))), Kind.WHOLE)
        return Apply(Operation.MULTIPLY, (days, Constant(_DAY, Kind.WHOLE)), Kind.WHOLE)

    def _kind(self, tree: Any) -> Kind:
        """How values of a tree's type are held.

        Raises:
            PlanningError: ``TREND_PREV_UNSUPPORTED`` for types that are not.
        """
        name = _type_name(tree)
        if name.startswith("decimal"):
            return Kind.WHOLE if _precision(tree) <= _DIGITS else Kind.KEY
        if name.startswith("interval") and "month" not in name and "year" not in name:
            return Kind.WHOLE
        if name not in _KINDS or (name == "string" and str(tree.dataType().sql()) != "STRING"):
            raise self._unsupported(tree)
        return _KINDS[name]

    def _is_replaceable(self, tree: Any) -> bool:
        """Whether Spark has another tree that it runs instead."""
        jvm: Any = self._frame.sparkSession._jvm
        kind = jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable")
        return bool(kind.isInstance(tree))

    def _unsupported(self, tree: Any) -> PlanningError:
        start, end = self._whole.start, self._whole.end
        origin = tree.origin()
        if origin.startIndex().isDefined() and origin.stopIndex().isDefined() and _name(tree) != "AttributeReference":
            # Offsets are those of the text in parentheses.
            start, end = start + origin.startIndex().get() - 1, start + origin.stopIndex().get()
            shown = self._whole.text[start - self._whole.start : end - self._whole.start]
        else:
            shown = str(tree.sql())
        shown = " ".join(_with_calls(shown, self._expression).split())
        return PlanningError("TREND_PREV_UNSUPPORTED", start, end, expression=shown, type=_type_name(tree).upper())


_RULES: dict[str, Callable[[_Translator, Any], Operand]] = {
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
_WIDTHS = {"boolean": 0, "tinyint": 1, "smallint": 2, "integer": 3, "bigint": 4}
_KINDS = {
    "boolean": Kind.FLAG,
    "tinyint": Kind.WHOLE,
    "smallint": Kind.WHOLE,
    "integer": Kind.WHOLE,
    "bigint": Kind.WHOLE,
    "date": Kind.WHOLE,
    "timestamp": Kind.WHOLE,
    "timestamp_ntz": Kind.WHOLE,
    "float": Kind.SINGLE,
    "double": Kind.NUMBER,
    "string": Kind.IDENTITY,
    "binary": Kind.IDENTITY,
}
_SPELLINGS = {"byte": "tinyint", "short": "smallint", "int": "integer", "long": "bigint"}


def _flag(operation: Operation, *operands: Operand) -> Apply:
    return Apply(operation, operands, Kind.FLAG)


def _rescaled(operand: Operand, before: int, scale: int) -> Operand:
    """A decimal's digits with more places after the point."""
    if scale == before:
        return operand
    return Apply(Operation.MULTIPLY, (operand, Constant(10 ** (scale - before), Kind.WHOLE)), Kind.WHOLE)


def _type_name(tree: Any) -> str:
    name = str(tree.dataType().typeName())
    return _SPELLINGS.get(name, name)


def _is_numeric(tree: Any) -> bool:
    return _type_name(tree) in ("tinyint", "smallint", "integer", "bigint") or _scale(tree) is not None


def _scale(tree: Any) -> int | None:
    return int(tree.dataType().scale()) if _type_name(tree).startswith("decimal") else None


def _precision(tree: Any) -> int:
    return int(tree.dataType().precision())


def _is_strict(tree: Any) -> bool:
    """Whether a tree is certainly NULL when its columns are."""
    return _name(tree) in _STRICT and all(map(_is_strict, _children(tree)))


def _plain_sql(tree: Any) -> str:
    """Spark's text for a tree without casts that change nothing, some of which Spark adds each time it reads one."""
    text = str(tree.sql())
    if _name(tree) == "Cast" and tree.dataType().sql() == _children(tree)[0].dataType().sql():
        return _plain_sql(_children(tree)[0])
    for child in _children(tree):
        text = text.replace(str(child.sql()), _plain_sql(child), 1)
    return text


def _with_calls(text: str, expression: AdjacentExpression) -> str:
    """``text`` with calls of PREV in place of the names of columns that stand for them."""
    for name, before in zip(expression.names, expression.before, strict=True):
        text = f"PREV({before.text.strip()})".join(re.split(rf"`?\b{name}\b`?", text))
    return text


def _with_names(text: str, replacements: dict[str, str]) -> str:
    """``text`` with expressions in place of column names."""
    parts: list[str] = []
    at = 0
    for token in tokenize(text):
        if token.kind is TokenKind.WORD and token.text in replacements:
            parts += [text[at : token.start], f"({replacements[token.text].strip()})"]
            at = token.end
    return "".join([*parts, text[at:]])
