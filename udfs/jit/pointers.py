"""How numba hands on named tuples of arrays as one pointer, see `sparkext.udfs.jit.handed_on.by_reference`.

Numba hands a tuple on by value: each array in it is seven arguments of each function that is called, hundreds in all,
which LLVM has to move about at each call, and which takes most of the time that compiling takes. By reference a tuple
lies on the stack of the function that Python calls, and what is called reads from it only what it uses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.types.containers import BaseNamedTuple
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_builtin, lower_getattr_generic, register_model, type_callable


class ByReference(types.Type):
    """The type of a named tuple by reference.

    Args:
        parts: The type of the tuple.
    """

    def __init__(self, parts: Any) -> None:
        self.parts = parts
        super().__init__(name=f"ByReference({parts})")

    @property
    def key(self) -> Any:
        """What tells it from other types."""
        return self.parts


@register_model(ByReference)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: ByReference) -> None:
        super().__init__(manager, kind, cgutils.voidptr_t)


def _type_of(_: Any) -> Any:
    def typer(parts: Any) -> Any:
        return ByReference(parts) if isinstance(parts, BaseNamedTuple) else parts

    return typer


def _nothing(context: Any, *_: Any) -> Any:
    return context.get_dummy_value()


def _on_the_stack(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
    (parts,) = arguments
    pointer = cgutils.alloca_once(builder, parts.type)
    builder.store(parts, pointer)
    return builder.bitcast(pointer, cgutils.voidptr_t)


def teach(by_reference: Callable[..., Any]) -> None:
    """Let numba compile calls of a function that says where a tuple is to be handed on so."""
    type_callable(by_reference)(_type_of)
    lower_builtin(by_reference, types.none)(_nothing)
    lower_builtin(by_reference, BaseNamedTuple)(_on_the_stack)


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = ByReference

    def generic_resolve(self, kind: ByReference, name: str) -> Any:
        if name not in kind.parts.fields:
            return None
        part = kind.parts.types[kind.parts.fields.index(name)]
        return ByReference(part) if isinstance(part, BaseNamedTuple) else part


@lower_getattr_generic(ByReference)
def _attribute(context: Any, builder: Any, kind: ByReference, value: Any, name: str) -> Any:
    number = kind.parts.fields.index(name)
    whole = context.get_value_type(kind.parts).as_pointer()
    pointer = cgutils.gep_inbounds(builder, builder.bitcast(value, whole), 0, number)
    if isinstance(kind.parts.types[number], BaseNamedTuple):
        return builder.bitcast(pointer, cgutils.voidptr_t)
    return builder.load(pointer)
