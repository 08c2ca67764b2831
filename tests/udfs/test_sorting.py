"""Events of a task come to the kernel in order, whatever they are, in memory and by way of the disk."""

from __future__ import annotations

import errno
import gc
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pytest

from sparkext.planner.kernel_plan.kernel_plan import Layout
from sparkext.udfs.sorting import sorted_runs
from sparkext.udfs.sorting.held_events import HeldEvents
from sparkext.udfs.sorting.row_order import Digit, digit, digits_of, moments, row_order
from sparkext.udfs.sorting.sorted_events import Sort, sorted_events
from sparkext.udfs.sorting.sorted_runs import NoRoomError, SortedRun

FEW, MANY = 300, 1 << 30
"""Bytes in memory: some ten events, and all of them."""

NESTED: dict[str, tuple[Any, list[Any]]] = {
    "list": (pa.list_(pa.float64()), [[], [None], [None, 1.0], [-1.0, 5.0], [2.0], [2.0, None], [float("nan")]]),
    "struct": (
        pa.struct([("a", pa.int32()), ("b", pa.string())]),
        [{"a": None, "b": "z"}, {"a": 1, "b": None}, {"a": 1, "b": "a"}, {"a": 1, "b": "b"}, {"a": 2, "b": ""}],
    ),
    "list of structs": (
        pa.list_(pa.struct([("a", pa.list_(pa.binary()))])),
        [[], [None], [{"a": None}], [{"a": []}], [{"a": [b"\xff"]}], [{"a": [b"\xff"]}, {"a": []}]],
    ),
}
"""As `KINDS`, of types that a further column may have, and a key may not."""

KINDS: dict[str, tuple[Any, list[Any]]] = {
    "string": (pa.string(), ["", "a", "ab", "b", "z" * 40, "é"]),
    "large_string": (pa.large_string(), ["", "a", "z"]),
    "binary": (pa.binary(), [b"", b"\0", b"\0\0", b"a", b"\xff"]),
    "bool": (pa.bool_(), [False, True]),
    "int8": (pa.int8(), [-128, -1, 0, 127]),
    "int32": (pa.int32(), [-(1 << 31), 0, 7, (1 << 31) - 1]),
    "int64": (pa.int64(), [-(1 << 63), -1, 0, 1, (1 << 63) - 1]),
    "float": (pa.float32(), [-1.5, 0.0, 2.5, float("inf"), float("nan")]),
    "double": (pa.float64(), [float("-inf"), -1.5, 0.0, 2.5, float("nan")]),
    "decimal": (pa.decimal128(30, 2), [Decimal("-12345678901234567890.25"), Decimal("0.00"), Decimal("7.50")]),
    "date": (pa.date32(), [date(1960, 1, 1), date(1970, 1, 1), date(2030, 5, 6)]),
    "timestamp": (pa.timestamp("us", "UTC"), [datetime(1969, 1, 1, tzinfo=timezone.utc), datetime(2020, 2, 2)]),
    "duration": (pa.duration("us"), [timedelta(-1), timedelta(0), timedelta(days=3, microseconds=1)]),
}
"""Per name, a type that keys and further columns may have, and some of its values in Spark's order, NaN last."""

TIMES: tuple[Callable[[Random], int], ...] = (
    lambda random: random.randrange(5),
    lambda random: random.randrange(-(10**15), 10**15),
    lambda random: random.choice((-(1 << 63), (1 << 63) - 1, 0, 1)),
)


def drawn(random: Random, kind: str, rows: int, distinct: int = 9) -> Any:
    """A column with NULLs."""
    type_, values = KINDS[kind]
    chosen = [*random.sample(values, min(distinct, len(values))), None]
    return pa.array([random.choice(chosen) for _ in range(rows)], type_)


def cut(random: Random, whole: pa.RecordBatch, longest: int) -> Iterator[pa.RecordBatch]:
    """The rows in batches of random sizes, also empty ones."""
    at = 0
    while at < whole.num_rows:
        rows = random.randint(0, longest)
        yield whole.slice(at, rows)
        at += rows


def plain(value: Any) -> Any:
    """A value that can be compared and counted; NaN is a text."""
    return "NaN" if isinstance(value, float) and value != value else value


def rows_of(batches: Iterable[pa.RecordBatch]) -> list[tuple[Any, ...]]:
    """The rows as tuples, keys decoded."""
    events: list[tuple[Any, ...]] = []
    for batch in batches:
        columns = [c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for c in batch.columns]
        events += zip(*([plain(value) for value in column.to_pylist()] for column in columns), strict=True)
    return events


def rank(kind: str, value: Any) -> int:
    """Where a value is in the order of Spark."""
    values = [plain(value) for value in KINDS[kind][1]]
    if kind == "timestamp" and value is not None:
        return int(value.year)
    return -1 if value is None else values.index(value)


@pytest.mark.parametrize("most", [FEW, 3000, MANY])
def test_random_events(most: int) -> None:
    """Against Python's own sort: whole groups and keys, each in order, and no event lost or doubled."""
    several = 0
    for seed in range(60):
        random = Random(seed)
        rows = random.choice((0, 1, 2, 30, 200))
        kinds = [random.choice(list(KINDS)) for _ in range(random.choice((0, 1, 1, 2, 3)))]
        groups = random.randint(0, len(kinds))
        chunks = random.random() < 0.3
        layout = Layout(groups, len(kinds) - groups, 10 if chunks else None)
        further = [random.choice(list(KINDS)) for _ in range(random.choice((0, 0, 1, 2)))]
        time = random.choice(TIMES)
        columns = [drawn(random, kind, rows, random.choice((1, 3, 9))) for kind in kinds]
        columns += [pa.array([random.randrange(-2, 3) for _ in range(rows)], pa.int64())] * chunks
        columns += [pa.array([time(random) for _ in range(rows)], pa.int64()), pa.array(range(rows), pa.int64())]
        columns += [drawn(random, "double", rows)]
        orders = tuple(range(len(columns), len(columns) + len(further)))
        columns += [drawn(random, kind, rows) for kind in further]
        whole = pa.RecordBatch.from_arrays(columns, [f"c{number}" for number in range(len(columns))])
        batches = list(sorted_events(layout, Sort(orders, most), cut(random, whole, random.choice((1, 7, 300)))))
        assert all(batch.num_rows for batch in batches)
        in_order = rows_of(batches)
        assert Counter(in_order) == Counter(rows_of([whole])), seed
        for width in (layout.group_keys, layout.keys):
            begun = [key for key, _ in groupby(row[:width] for row in in_order)]
            assert len(begun) == len(set(begun)), (seed, width)
        for _, events in groupby(in_order, itemgetter(slice(layout.keys))):
            order = [
                (row[layout.keys], *(rank(kind, row[at]) for kind, at in zip(further, orders, strict=True)))
                for row in events
            ]
            assert order == sorted(order), seed
        several += len(batches) > 1
    assert several > 10 or most == MANY


@pytest.mark.parametrize("bits", [(3, 5), (20, 44), (20, 45), (64,), (64, 64), (1, 64, 1), (30, 30, 30), (8,) * 12])
def test_order_of_digits(bits: tuple[int, ...]) -> None:
    """As numpy's lexsort has it, however many bits there are; rows that are equal may be anywhere."""
    random = np.random.default_rng(len(bits) + sum(bits))
    for rows in (1, 2, 3, 100, 5000):
        columns = [random.integers(0, 1 << bits_of, rows, np.uint64, endpoint=False) if bits_of < 64 else
                   random.integers(0, (1 << 64) - 1, rows, np.uint64, endpoint=True) for bits_of in bits]  # fmt: skip
        columns[0][rows // 2 :] = columns[0][0]
        order = row_order([Digit(column, bits_of) for column, bits_of in zip(columns, bits, strict=True)], rows)
        expected = np.lexsort(columns[::-1])
        assert sorted(order) == list(range(rows))
        for column in columns:
            assert (column[order] == column[expected]).all()


def test_order_without_digits() -> None:
    assert row_order([], 3).tolist() == [0, 1, 2]
    assert row_order([digit(np.zeros(3, np.int64))], 3).tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", [*KINDS, *NESTED])
def test_values_in_sparks_order(kind: str) -> None:
    """NULLs first, NaN last; where one value comes after another, and where they are the same."""
    type_, values = (KINDS | NESTED)[kind]
    random = Random(kind)
    expected = [None, None, *values, values[-1]]
    mixed = random.sample(expected, len(expected))
    column = pa.array([values[-1], *mixed], type_).slice(1)
    order = row_order(digits_of(column), len(mixed))
    assert [str(mixed[at]) for at in order] == [str(value) for value in expected]
    in_order = pa.array([values[0], *expected], type_).slice(1)
    assert moments(in_order).tolist() == [False, False, *(True for _ in values), False]


def events(keys: Iterable[str], times: Iterable[int]) -> pa.RecordBatch:
    """Events of one key column, with nothing but a time and a class."""
    key, time = pa.array(keys, pa.string()), pa.array(times, pa.int64())
    return pa.RecordBatch.from_arrays([key, time, time], ["k", "t", "c"])


@pytest.mark.parametrize("most", [FEW, 1 << 20, MANY])
def test_keys_of_megabytes(most: int) -> None:
    """Each is held once for a batch, in memory and on disk."""
    long = ["x" * (1 << 20) + end for end in "ab"]
    batches = [events([long[at % 2], long[0]], [100 - at, at]) for at in range(10)]
    held = HeldEvents(Layout(0, 1))
    for batch in batches:
        held.add(batch)
    assert held.nbytes < 3 << 20
    rows = rows_of(sorted_events(Layout(0, 1), Sort((), most), iter(batches)))
    assert [row[0] for row in rows] in ([long[0]] * 15 + [long[1]] * 5, [long[1]] * 5 + [long[0]] * 15)


def test_one_key_with_nearly_all_events() -> None:
    """Runs are merged by time where they have but one key."""
    random = Random(1)
    times = random.sample(range(10_000), 5000)
    whole = events(["all" if at % 100 else "other" for at in range(5000)], times)
    rows = rows_of(sorted_events(Layout(0, 1), Sort((), 20_000), cut(random, whole, 50)))
    assert [row[1] for row in rows if row[0] == "all"] == sorted(times[at] for at in range(5000) if at % 100)
    assert len([1 for _ in groupby(row[0] for row in rows)]) == 2


@pytest.fixture
def largest(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of what was held when it was put in order."""
    sizes: list[int] = []
    order = HeldEvents.order

    def seen(held: HeldEvents, by_value: bool) -> Any:
        sizes.append(held.nbytes)
        return order(held, by_value)

    monkeypatch.setattr(HeldEvents, "order", seen)
    return sizes


@pytest.mark.parametrize("distinct", [1, 50, 20_000])
def test_memory_is_bounded(largest: list[int], monkeypatch: pytest.MonkeyPatch, distinct: int) -> None:
    """Also when there are more runs than are merged at once, and however many keys there are."""
    monkeypatch.setattr("sparkext.udfs.sorting.sorted_events.MOST_RUNS", 4)
    random, rows, most = Random(distinct), 20_000, 60_000
    times = random.sample(range(10**9), rows)
    whole = events([f"key {random.randrange(distinct)}" for _ in times], times)
    in_order = rows_of(sorted_events(Layout(0, 1), Sort((), most), cut(random, whole, 100)))
    assert sorted(in_order) == sorted(rows_of([whole]))
    assert [(k, t) for k, t, _ in in_order] == sorted((k, t) for k, t, _ in in_order)
    assert len(largest) > 10
    assert max(largest) < 1.3 * most


def open_files() -> int:
    return sum(Path(f"/proc/self/fd/{name}").readlink().is_relative_to(tempfile.gettempdir()) for name in fds())


def fds() -> list[str]:
    return [name for name in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{name}")]


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Spark's directory for files of tasks, beside one that is not there."""
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path},{tmp_path / 'gone'}")
    return tmp_path


@pytest.mark.parametrize("ends", ["read", "left", "failed"])
def test_nothing_is_left(local: Path, ends: str) -> None:
    """Files have no names, so that even a process that is killed leaves none, and are closed however it ends."""

    def batches() -> Iterator[pa.RecordBatch]:
        for at in range(100):
            yield events([str(at)] * 10, range(10))
            assert not list(local.iterdir())
            if at == 99 and ends == "failed":
                raise ValueError("of a source")

    run = sorted_events(Layout(0, 1), Sort((), FEW), batches())
    before = open_files()
    if ends == "failed":
        with pytest.raises(ValueError, match="of a source"):
            next(run)
    else:
        next(run)
        assert open_files() > before
        if ends == "left":
            run.close()
        else:
            assert sum(batch.num_rows for batch in run) > 900
    del run
    gc.collect()
    assert open_files() == before
    assert not list(local.iterdir())


def test_where_runs_are(local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sorted_runs.directory() == local
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(local / "gone"))
    assert sorted_runs.directory() == Path(tempfile.gettempdir())
    monkeypatch.delenv("SPARK_LOCAL_DIRS")
    assert sorted_runs.directory() == Path(tempfile.gettempdir())


def test_a_full_disk(local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Says what does not fit where, and what to do; the file is closed."""
    full: list[IO[bytes]] = []

    def device(dir: Path) -> IO[bytes]:  # noqa: A002
        assert dir == local
        full.append(open("/dev/full", "r+b", buffering=0))  # noqa: SIM115
        return full[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", device)
    batches = [events([str(at)] * 10, range(10)) for at in range(100)]
    with pytest.raises(NoRoomError, match=rf"{local}, where [\d,]+ MB are free; spark.local.dir") as caught:
        next(sorted_events(Layout(0, 1), Sort((), FEW), iter(batches)))
    assert caught.value.errno == errno.ENOSPC
    assert full
    assert all(file.closed for file in full)


@pytest.mark.usefixtures("local")
def test_other_errors_of_files_are_as_they_are() -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        raise OSError(errno.EIO, "of a source")
        yield

    with pytest.raises(OSError, match="of a source") as caught:
        SortedRun(batches(), 100)
    assert not isinstance(caught.value, NoRoomError)


KILLED = """
import os, signal
from sparkext.planner.kernel_plan.kernel_plan import Layout
from sparkext.udfs.sorting.sorted_events import Sort, sorted_events
from tests.udfs.test_sorting import events, fds
batches = (events([str(at)] * 10, range(10)) for at in range(100))
run = sorted_events(Layout(0, 1), Sort((), 300), batches)
next(run)
print(sum("deleted" in os.readlink(f"/proc/self/fd/{name}") for name in fds()), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_nothing(local: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert int(done.stdout) > 2, "runs were on disk"
    assert not list(local.iterdir())
