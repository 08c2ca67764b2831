"""Confs under which Spark parses what sparkext writes, whatever the session has set."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from sparkext.jvm.gateway import class_object, java_gateway, java_method, scala_object

_CONF = "org.apache.spark.sql.internal.SQLConf"
_OURS = {
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.legacy.interval.enabled": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
}
"""What changes how a text is parsed, or what its intervals are, with the values that sparkext writes texts for."""


class _Thread(threading.local):
    """Confs that had been put in place of the session's when this thread began to use our own; None if it does not."""

    before: tuple[Any] | None = None


_thread = _Thread()


@contextmanager
def own_confs(confs: Mapping[str, str]) -> Iterator[None]:
    """Let Spark parse texts of sparkext's in this thread as they are meant.

    Args:
        confs: That this thread's analyses read. Nothing is done where they are as usual.
    """
    changed = {name: value for name, value in _OURS.items() if confs.get(name, value).lower() != value}
    if not changed or _thread.before is not None:
        yield
        return
    used = java_method(_CONF, "get")().clone()
    for name, value in changed.items():
        used.setConfString(name, value)
    local = _local(java_gateway().jvm)
    _thread.before = (local.get(),)
    local.set(used)
    try:
        yield
    finally:
        [before] = _thread.before
        local.set(before)
        _thread.before = None


@contextmanager
def confs_of_the_user() -> Iterator[None]:
    """Within `own_confs`, let Spark parse a text of the user's as the session has it."""
    if _thread.before is None:
        yield
        return
    kept, local = _thread.before, _local(java_gateway().jvm)
    used = local.get()
    local.set(kept[0])
    _thread.before = None
    try:
        yield
    finally:
        local.set(used)
        _thread.before = kept


@lru_cache(maxsize=4)
def _local(_: Any) -> Any:
    """What holds the confs of a thread of the JVM that are to be read in place of the session's."""
    field = class_object(f"{_CONF}$").getDeclaredField("existingConf")
    field.setAccessible(True)
    return field.get(scala_object(_CONF))
