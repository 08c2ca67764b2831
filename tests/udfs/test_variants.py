"""Kernels run interpreted until one process has compiled them, whatever happens to it and to what it keeps."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numba
import pyarrow as pa
import pytest

from sparkext.cli.compile_command import smallest_plan
from sparkext.cli.main import main
from sparkext.planner.compiler.compile import compile_completions, compile_plan
from sparkext.planner.kernel_plan.kernel_plan import Layout
from sparkext.planner.sharing.template import template_of
from sparkext.udfs.completions.completion_machine import CompletionMachine
from sparkext.udfs.completions.kernel_form import Form
from sparkext.udfs.completions.start_machine import StartMachine
from sparkext.udfs.jit import compiled
from sparkext.udfs.tables.batch import no_batch
from sparkext.udfs.unpacked import COMPILED_FOLDERS
from sparkext.udfs.workers import variants
from sparkext.udfs.workers.every_variant import every_variant
from sparkext.udfs.workers.machine import Machine
from sparkext.udfs.workers.pool_run import PoolRun
from sparkext.udfs.workers.variants import (
    COMPILED,
    INTERPRETED,
    Arguments,
    CompletionArguments,
    CountArguments,
    KernelForm,
    Variant,
)
from tests.support.completion_pools import draw
from tests.support.kernel_harness import combined, source_batch
from tests.support.sharing_plans import draw_plan
from tests.support.workloads import workload
from tests.udfs.test_kernel import kleene, stream

NOTHING = Arguments(*[None] * 10)

COMPILES = "import os, sys; sys.stdin.read(); os.pwrite(int(sys.argv[1]), b'compiled\\n', 0)"
FAILS = "import sys; sys.stdin.read(); sys.exit(1)"
GOES_ON = "import sys; sys.stdin.read(); print('at work', flush=True); sys.stdin = open(0); input()"


class Compilers:
    """Processes in place of those that compile, and what has been compiled in this one."""

    def __init__(self) -> None:
        self.program = COMPILES
        self.started: list[subprocess.Popen[bytes]] = []
        self.loads = 0
        self.is_torn = False

    def start(self, lock: int, signature: object) -> subprocess.Popen[bytes]:
        del signature
        command = [sys.executable, "-S", "-c", self.program, str(lock)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(lock,))
        self.started.append(process)
        return process

    def finish(self) -> None:
        """Let all go on, and wait for their end."""
        for process in self.started:
            process.communicate()

    def compile(self, signature: object) -> None:
        del signature
        self.loads += 1
        if self.is_torn:
            self.is_torn = False
            raise EOFError("Ran out of input")


@pytest.fixture
def compilers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Compilers:
    started = Compilers()
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    monkeypatch.setattr(compiled, "DIRECTORY", tmp_path / "kernels")
    monkeypatch.setattr(compiled, "FUNCTIONS", [])
    monkeypatch.setattr(variants, "_compiling", started.start)
    monkeypatch.setattr(variants, "compile_signatures", started.compile)
    monkeypatch.setattr(variants, "_variants", {})
    return started


def test_interpreted_until_the_compiled_form_is_kept(compilers: Compilers) -> None:
    form, variant = KernelForm(), Variant(NOTHING)
    assert [form.of(variant) for _ in range(3)] == [INTERPRETED] * 3
    assert len(compilers.started) == 1
    compilers.finish()
    assert form.of(variant) is COMPILED
    assert form.of(Variant(NOTHING)) is COMPILED, "a machine that starts later"
    assert len(compilers.started) == 1
    assert not form.alone


def test_a_pass_goes_on_compiled_where_it_was(compilers: Compilers) -> None:
    """With the results of one form alone; no more events are interpreted than before the compiled form is there."""
    plan, layout = kleene(None), Layout(1, 0)
    source = source_batch(plan, stream(list(range(300)), Random(1)))
    run = PoolRun(plan, layout, form=KernelForm(patience=1e9))

    def batches() -> Iterator[pa.RecordBatch]:
        for at in range(0, 300, 100):
            yield source.slice(at, 100)
            compilers.finish()

    rows_written = [row for batch in run.results(batches()) for row in batch.to_pylist()]
    assert run.counters.interpreted == 100
    variants._variants.clear()
    expected = [row for batch in PoolRun(plan, layout).results(iter([source])) for row in batch.to_pylist()]
    assert combined(plan, layout, rows_written) == combined(plan, layout, expected)


def test_a_pass_that_has_been_patient_waits(compilers: Compilers) -> None:
    form, variant = KernelForm(patience=1.0), Variant(NOTHING)
    form.took(variant, 1000, 0.5)
    assert form.of(variant) is INTERPRETED
    form.took(variant, 1000, 0.6)
    process = compilers.started[0]
    assert process.stdin is not None
    process.stdin.close()
    assert form.of(variant) is COMPILED
    assert form.events == 2000


def test_of_twenty_workers_one_compiles(compilers: Compilers) -> None:
    workers = [Variant(NOTHING) for _ in range(20)]
    assert all(KernelForm().of(variant) is INTERPRETED for variant in workers)
    assert len(compilers.started) == 1
    compilers.finish()
    assert all(KernelForm().of(variant) is COMPILED for variant in workers)
    assert len(compilers.started) == 1


def test_a_process_that_is_killed_is_replaced(compilers: Compilers) -> None:
    """Its lock goes with it."""
    compilers.program = GOES_ON
    form, workers = KernelForm(), [Variant(NOTHING) for _ in range(3)]
    assert all(form.of(variant) is INTERPRETED for variant in workers)
    compilers.started[0].send_signal(signal.SIGKILL)
    compilers.started[0].wait()
    compilers.program = COMPILES
    assert all(form.of(variant) is INTERPRETED for variant in workers)
    assert len(compilers.started) == 2
    compilers.finish()
    assert all(form.of(variant) is COMPILED for variant in workers)
    assert not form.alone


def test_who_sees_processes_fail_compiles_alone(compilers: Compilers) -> None:
    """As where the disk is full; until it pays, events are interpreted."""
    compilers.program = FAILS
    form, variant = KernelForm(patience=1.0), Variant(NOTHING)
    for _ in range(2):
        assert form.of(variant) is INTERPRETED
        compilers.finish()
    assert form.of(variant) is INTERPRETED
    assert variant.is_alone
    assert compilers.loads == 0
    form.took(variant, 1000, 2.0)
    assert form.of(variant) is COMPILED
    assert form.alone
    assert compilers.loads == 1
    assert len(compilers.started) == 2


def unwritable(directory: Path) -> None:
    directory.write_text("not a directory")


def linked(directory: Path) -> None:
    directory.mkdir()
    (directory / "plain.variant").symlink_to(directory.parent / "elsewhere")


def missing(directory: Path) -> None:
    del directory


@pytest.mark.parametrize("spoil", [unwritable, linked, missing])
def test_where_nothing_can_be_kept(
    spoil: Callable[[Path], None], compilers: Compilers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spoil(tmp_path / "kernels")
    if spoil is missing:
        monkeypatch.setattr(compiled, "DIRECTORY", None)
    before = sorted(tmp_path.rglob("*"))
    form, variant = KernelForm(patience=1.0), Variant(NOTHING)
    assert form.of(variant) is INTERPRETED
    form.took(variant, 1000, 2.0)
    assert form.of(variant) is COMPILED
    assert form.alone
    assert compilers.started == []
    assert sorted(tmp_path.rglob("*")) == before


def test_others_may_read_what_is_kept(compilers: Compilers, tmp_path: Path) -> None:
    """As of any file that a user makes: an image is built by root, and its queries are run by others."""
    before = os.umask(0o022)
    try:
        KernelForm().of(Variant(NOTHING))
    finally:
        os.umask(before)
    compilers.finish()
    kept = tmp_path / "kernels"
    assert [kept.stat().st_mode & 0o777, (kept / "plain.variant").stat().st_mode & 0o777] == [0o755, 0o644]


def test_what_is_torn_is_thrown_away(compilers: Compilers, tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "plain.variant").write_bytes(b"compiled\n")
    (tmp_path / "kernels" / "some.nbi").write_bytes(b"torn")
    compilers.is_torn = True
    form, variant = KernelForm(patience=1.0), Variant(NOTHING)
    assert form.of(variant) is INTERPRETED
    assert list(tmp_path.iterdir()) == []
    form.took(variant, 1000, 2.0)
    assert form.of(variant) is COMPILED
    assert form.alone
    assert KernelForm().of(Variant(NOTHING)) is INTERPRETED, "another process has it compiled again"
    assert len(compilers.started) == 1
    compilers.finish()


def test_each_processor_has_a_directory_of_its_own() -> None:
    here = compiled.cache_directory()
    assert here is not None
    assert here.name == f"kernels-{compiled.SOURCES}-{compiled.MACHINE}"


@pytest.mark.parametrize("seed", range(12))
def test_variants_compiled_ahead_are_those_of_machines(
    seed: int, compilers: Compilers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All arguments of a random plan's machine have the same types."""
    monkeypatch.setattr(variants.Variant, "look", lambda _: None)
    template = template_of(workload(Random(seed)).queries)
    for plan in (compile_plan(template, draw_plan(Random(seed), template)), kleene(None)):
        variant = Machine(plan, None, combine=True)._variant
        (ahead,) = (
            Variant(arguments) for arguments in every_variant(smallest_plan()) if arguments.name == variant.name
        )
        assert ahead._signatures == variant._signatures
    assert compilers.started == []


def test_that_of_completions_is_compiled_ahead_as_it_is_called() -> None:
    (*_, ahead, ahead_for_counts) = every_variant(smallest_plan())
    assert (ahead.name, ahead_for_counts.name) == ("completions", "counts")
    compared = counted = 0
    for seed in range(20):
        queries = draw(Random(seed))[0].queries
        for query in queries:
            plan = compile_completions(template_of([query]))
            machine = CompletionMachine(plan, 1, Form(), 1)
            assert CompletionArguments(*machine.arrays, no_batch(plan)).signatures() == ahead.signatures()
            compared += 1
            assert plan.completions is not None
            if plan.completions.needs_starts_alone:
                arrays = StartMachine(plan, 1, Form()).arrays
                assert CountArguments(*arrays, no_batch(plan)).signatures() == ahead_for_counts.signatures()
                counted += 1
    assert compared > 20
    assert counted > 3


def test_all_variants_ahead() -> None:
    names = [arguments.name for arguments in every_variant(smallest_plan())]
    assert names == ["plain", "forms", "spans", "full", "completions", "counts"]


def test_the_command_compiles_what_is_asked_for(
    compilers: Compilers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begin = compilers.start

    def to_the_end(lock: int, signature: object) -> subprocess.Popen[bytes]:
        process = begin(lock, signature)
        process.communicate()
        return process

    monkeypatch.setattr(variants, "_compiling", to_the_end)
    assert main(["compile", "full", "plain", "--jobs", "2"]) == 0
    assert len(compilers.started) == 2
    assert main(["compile", "full"]) == 0
    assert len(compilers.started) == 2, "it is kept already"
    said = capsys.readouterr()
    assert "full: compiled" in said.out
    assert f"0 MB in {compiled.DIRECTORY}" in said.out
    assert main(["compile", "prev"]) == 2
    assert "no variant 'prev'; there are plain, forms, spans, full, completions, counts" in capsys.readouterr().err
    compilers.program = FAILS
    assert main(["compile", "forms"]) == 1
    assert "forms could not be kept" in capsys.readouterr().err


COUNT = """
import sys
from random import Random
from sparkext.planner.kernel_plan.kernel_plan import Layout
from sparkext.udfs.workers import variants
from sparkext.udfs.workers.pool_run import PoolRun
from tests.support.kernel_harness import source_batch
from tests.udfs.test_kernel import kleene, stream
plan, form = kleene(None), variants.KernelForm(float(sys.argv[1]))
run = PoolRun(plan, Layout(1, 0), form=form)
source = source_batch(plan, stream([1, 2, 3], Random(0)))
print(sum(batch.num_rows for batch in run.results(iter([source]))), run.counters.interpreted, run.counters.alone)
"""
"""Prints how many rows a pass over three events has, how many are interpreted, and whether the process is alone."""


@pytest.mark.long
def test_a_process_compiles_for_the_next(tmp_path: Path) -> None:
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    assert compiled.DIRECTORY is not None
    (tmp_path / compiled.DIRECTORY.name).mkdir()  # else what is kept beside the sources is copied
    said = [
        subprocess.run(
            [sys.executable, "-c", COUNT, patience], env=variables, stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        for patience in ("60", "0", "60")
    ]
    assert said == ["1 3 0\n", "1 0 0\n", "1 0 0\n"]
    assert sorted(path.name for path in tmp_path.glob("*/*.variant")) == ["plain.variant"]


def test_what_a_kernel_is_handed_is_part_of_its_sources() -> None:
    """It reads parts of named tuples by their place, so it is compiled anew when one of them changes."""
    todo: list[object] = [
        part for arguments in every_variant(smallest_plan()) if isinstance(arguments, tuple) for part in arguments
    ]
    modules: set[str] = set()
    while todo:
        value = todo.pop()
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            modules.add(type(value).__module__)
            todo += value
    assert len(modules) > 3
    assert {name.removeprefix("sparkext.udfs.").split(".")[0] for name in modules} <= {*COMPILED_FOLDERS}
