"""What has been asked for lately, so much of it and no more."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


class Recent(Generic[_K, _V]):
    """Values by key, of which the one that has not been asked for longest goes when there are too many.

    Several threads may use it.
    """

    def __init__(self, most: int) -> None:
        """Without any.

        Args:
            most: How many stay.
        """
        self._most = most
        self._values: OrderedDict[_K, _V] = OrderedDict()
        self._changing = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: _K) -> _V | None:
        """The value of a key, which has been asked for with this; None if there is none."""
        with self._changing:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def __setitem__(self, key: _K, value: _V) -> None:
        with self._changing:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._most:
                self._values.popitem(last=False)

    def pop(self, key: _K) -> _V | None:
        """Forget a key; gives its value, or None if there is none."""
        with self._changing:
            return self._values.pop(key, None)

    def values(self) -> list[_V]:
        """All values, none of which is asked for with this."""
        with self._changing:
            return list(self._values.values())

    def clear(self) -> None:
        """Forget all."""
        with self._changing:
            self._values.clear()
