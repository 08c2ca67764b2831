"""Who may import what."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

ALLOWED = {
    "planner": {"planner"},
    "udfs": {
        "udfs",
        "numpy",
        "pyarrow",
        "numba",
        "planner.kernel_plan",
        "planner.result_columns",
        "planner.guards",
        "planner.query",
        "planner.pattern",
    },
}
"""Per package, what it may import besides the standard library: packages, or modules of one."""

WITHOUT_SPARK = (
    "adjacent",
    "automata",
    "by_hand",
    "enumerator",
    "gloria_texts",
    "harness",
    "instruction_twin",
    "kernel_plans",
    "kernel_twin",
    "optimizer_workloads",
    "pools",
    "published",
    "soak",
    "workloads",
)
"""Modules of the tests that need no JVM."""

FORBIDDEN_TO_THE_ENUMERATOR = (
    "planner.access",
    "planner.automaton",
    "planner.compile",
    "planner.determinise",
    "planner.guards",
    "planner.merging",
    "planner.positions",
    "planner.prefixes",
    "planner.refinement",
    "planner.shuffle",
    "planner.template",
    "planner.unambiguous",
    "udfs",
)


def imported(path: Path) -> set[str]:
    """Names of the modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively"
            assert node.module is not None
            names.add(node.module)
    return names


def is_within(name: str, packages: set[str] | tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


@pytest.mark.parametrize("package", ALLOWED)
def test_packages_import_what_they_may(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    for path in files:
        for name in imported(path):
            assert name.split(".")[0] in sys.stdlib_module_names or is_within(name, ALLOWED[package]), (
                f"{path.relative_to(ROOT)} imports {name}"
            )


@pytest.mark.parametrize("module", WITHOUT_SPARK)
def test_truth_and_harness_need_no_spark(module: str) -> None:
    assert not any(is_within(name, ("pyspark", "sparkext")) for name in imported(ROOT / "tests" / f"{module}.py"))


def test_truth_knows_nothing_of_what_it_is_the_truth_for() -> None:
    for module in ("adjacent", "enumerator", "instruction_twin", "kernel_twin"):
        for name in imported(ROOT / "tests" / f"{module}.py"):
            assert not is_within(name, FORBIDDEN_TO_THE_ENUMERATOR), f"{module} imports {name}"


def test_what_the_truth_must_not_import_exists() -> None:
    for name in FORBIDDEN_TO_THE_ENUMERATOR:
        path = ROOT / name.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), name
