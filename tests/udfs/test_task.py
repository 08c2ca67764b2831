"""What a task does besides its work."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pyarrow as pa
import pytest

from sparkext.udfs.workers.task import as_task, leave_loaded


class Node:
    """Something that refers to itself, so that only the garbage collector takes it away."""

    def __init__(self) -> None:
        self.own = self


@pytest.fixture
def unfrozen() -> Iterator[None]:
    """What a test has left alone is looked at again after it."""
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("unfrozen")
def test_results_and_name_are_those_of_the_function() -> None:
    batches = [pa.RecordBatch.from_pydict({"a": [n]}) for n in range(3)]

    def twice(given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in given:
            yield from (batch, batch)

    task = as_task(twice)
    assert task.__name__ == "twice"
    assert list(task(iter(batches))) == [batch for batch in batches for _ in range(2)]


@pytest.mark.usefixtures("unfrozen")
def test_what_is_loaded_is_left_alone() -> None:
    loaded = [[n] for n in range(20_000)]
    gc.collect()
    list(as_task(iter)(iter(())))
    assert gc.get_freeze_count() > len(loaded)
    assert len(gc.get_objects(generation=2)) < len(loaded)


@pytest.mark.usefixtures("unfrozen")
def test_what_is_no_longer_used_is_not_kept() -> None:
    loaded = [[n] for n in range(20_000)]
    gc.collect()
    gone = weakref.ref(Node())
    leave_loaded()
    assert gone() is None
    assert gc.get_freeze_count() > len(loaded)


@pytest.mark.usefixtures("unfrozen")
def test_little_is_not_worth_a_collection() -> None:
    """After what was loaded has been left alone once."""
    leave_loaded()
    kept = [Node() for _ in range(10)]
    leave_loaded()
    looked_at = {id(tracked) for tracked in gc.get_objects()}
    assert all(id(node) in looked_at for node in kept)
