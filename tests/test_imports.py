"""Who may import what."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from sparkext.planner.strong_components import strong_components
from sparkext.udfs.jit.private_parts import PARTS
from sparkext.udfs.unpacked import COMPILED_FOLDERS

ROOT = Path(__file__).parent.parent

ALLOWED = {
    "planner": {"sparkext.planner"},
    "udfs": {
        "sparkext.udfs",
        "numpy",
        "pyarrow",
        "numba",
        "sparkext.planner.kernel_plan.event_form",
        "sparkext.planner.kernel_plan.kernel_plan",
        "sparkext.planner.kernel_plan.result_columns",
        "sparkext.planner.automata.guards",
        "sparkext.planner.patterns.query",
        "sparkext.planner.patterns.pattern",
    },
}
"""Per package, what it may import besides the standard library: packages, or modules of one."""

ORDER = ("sql", "jvm", "binding", "execution", "workload", "explain", "parser", "cli")
"""Folders of sparkext/, each of which may import those before it."""

PLANNER_ORDER = (
    ("amounts", "bits", "budget", "disjoint_sets", "errors", "strong_components"),
    ("patterns",),
    ("automata",),
    ("sharing",),
    ("kernel_plan",),
    ("conditions",),
    ("totals",),
    ("problem",),
    ("costs",),
    ("plan_completion",),
    ("gloria", "sharon", "hamlet", "mcep", "exhaustive"),
    ("optimizers",),
    ("compared_strategies",),
    ("compiler",),
)
"""Floors of planner/: folders and modules, each of which may import those of the floors below, and no neighbour; but
the modules of the lowest may import each other."""

UDFS_ORDER = (
    ("unpacked",),
    ("tables",),
    ("jit",),
    ("arithmetic",),
    ("comparisons",),
    ("kernels", "state"),
    ("completions",),
    ("arrow",),
    ("sorting",),
    ("matches",),
    ("workers",),
    ("streams",),
)
"""Floors of udfs/, likewise. What kernels are compiled from is below what reads batches and runs tasks."""

STRATEGY = re.compile("gloria|sharon|hamlet|mcep", re.IGNORECASE)
"""Names of strategies."""

KNOWS_STRATEGIES = ("planner/optimizers.py", "sparkext/settings.py", "planner/costs/paper.py")
"""Beside their own folders; the last says of which papers the costs are."""

FOR_ALL = ("sparkext.planner", "sparkext.udfs", "sparkext.settings", "sparkext.planner.amounts")
"""What any of them may import."""

OF_THE_JVM = frozenset(
    (
        "_callback_server",
        "_gateway",
        "_jc",
        "_jconf",
        "_jdf",
        "_jrdd",
        "_jsc",
        "_jschema",
        "_jsparkSession",
        "_jvm",
        "getClass",
        "java_exception",
        "mkString",
        "queryExecution",
        "sessionState",
        "sharedState",
    )
)
"""Attributes that only what PySpark or Py4J has of the JVM has."""

CLASS = re.compile(r"\b(?:org\.apache|scala|sun\.misc)\.[\w.$]*\w\$?|\borg\$apache\$[\w$]+")
"""Full name of a class of the JVM that is not Java's own, or of a method that Scala has named like one."""

PUBLIC_OF_NUMBA = ("numba.extending.", "numba.njit", "numba.types", "numba.core.types")
"""What numba documents."""

WITHOUT_SPARK = (
    "prev_conditions",
    "automata",
    "by_hand",
    "completion_pools",
    "completions",
    "enumerator",
    "gloria_texts",
    "kernel_harness",
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
    "sparkext.planner.conditions.access",
    "sparkext.planner.automata.automaton",
    "sparkext.planner.compiler.compile",
    "sparkext.planner.automata.determinise",
    "sparkext.planner.automata.guards",
    "sparkext.planner.automata.merging",
    "sparkext.planner.automata.positions",
    "sparkext.planner.sharing.prefixes",
    "sparkext.planner.automata.refinement",
    "sparkext.planner.automata.shuffle",
    "sparkext.planner.sharing.template",
    "sparkext.planner.automata.unambiguous",
    "sparkext.udfs",
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
            of_sparkext = [f"sparkext.{alias.name}" for alias in node.names]
            names.update(of_sparkext if node.module == "sparkext" else [node.module])
    return names


def is_within(name: str, packages: set[str] | tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def is_of_spark_side(name: str) -> bool:
    """Whether a module is sparkext's, and neither the planner's nor the kernels'."""
    return is_within(name, ("sparkext",)) and not is_within(name, ("sparkext.planner", "sparkext.udfs"))


@pytest.mark.parametrize("folder", ORDER)
def test_folders_import_one_way(folder: str) -> None:
    allowed = {*FOR_ALL, *(f"sparkext.{before}" for before in ORDER[: ORDER.index(folder) + 1])}
    if folder == "cli":
        allowed |= {"sparkext.__version__", "sparkext.session", "sparkext.sharing_picture"}
    files = sorted((ROOT / "sparkext" / folder).rglob("*.py"))
    assert files
    for path in files:
        for name in imported(path):
            assert not is_within(name, ("sparkext",)) or is_within(name, allowed), f"{path} imports {name}"


def test_what_reads_text_knows_nothing_of_spark() -> None:
    for path in (ROOT / "sparkext" / "sql").glob("*.py"):
        assert not any(is_within(name, ("pyspark", "py4j")) for name in imported(path)), path


def test_only_one_folder_touches_the_jvm() -> None:
    files = [path for folder in ("sparkext", "planner", "udfs") for path in (ROOT / folder).rglob("*.py")]
    outside = [path for path in files if ROOT / "sparkext" / "jvm" not in path.parents]
    assert len(files) > len(outside) > 0
    for path in outside:
        assert not any(is_within(name, ("py4j", "pyspark.java_gateway")) for name in imported(path)), path
        for node in ast.walk(ast.parse(path.read_text(), str(path))):
            if isinstance(node, ast.Attribute):
                assert node.attr not in OF_THE_JVM, f"{path}:{node.lineno} uses {node.attr}"
            elif isinstance(node, ast.ClassDef):
                assert node.name != "Java", f"{path}:{node.lineno} is called by the JVM"


def test_what_is_private_is_listed() -> None:
    """Classes of Spark's and private attributes of PySpark's, and what is listed is used."""
    listed = (ROOT / "docs" / "private_apis.md").read_text()
    classes: set[str] = set()
    for path in (ROOT / "sparkext" / "jvm").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(), str(path))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                classes.update(CLASS.findall(node.value))
            elif isinstance(node, ast.Attribute) and re.match("_[a-zA-Z]", node.attr) and not is_own(node.value):
                assert re.search(rf"\b{node.attr}\b", listed), f"{path} uses {node.attr}"
    assert classes == set(CLASS.findall(listed))


def test_what_is_private_of_numba_is_listed() -> None:
    """Each module of numba's that is not public is among the parts that are looked for, and each part on the page."""
    listed = (ROOT / "docs" / "private_apis.md").read_text()
    for module, names in PARTS.items():
        assert f"`{module}`" in listed
        for name in names:
            assert f"`{name}`" in listed, f"{module}.{name}"
    for path in (ROOT / "udfs").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(), str(path))):
            if isinstance(node, ast.ImportFrom) and re.match(r"numba($|\.)", node.module or ""):
                for alias in node.names:
                    full_name = f"{node.module}.{alias.name}"
                    is_listed = any(f"{m}.{name}".startswith(full_name) for m, names in PARTS.items() for name in names)
                    assert is_listed or full_name.startswith(PUBLIC_OF_NUMBA), f"{path} uses {full_name}"


def is_own(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


@pytest.mark.parametrize("package", ALLOWED)
def test_packages_import_what_they_may(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    for path in files:
        for name in imported(path):
            assert name.split(".")[0] in sys.stdlib_module_names or is_within(name, ALLOWED[package]), (
                f"{path.relative_to(ROOT)} imports {name}"
            )


@pytest.mark.parametrize(("package", "order"), [("planner", PLANNER_ORDER), ("udfs", UDFS_ORDER)])
def test_floors(package: str, order: tuple[tuple[str, ...], ...]) -> None:
    """There is no way back, so there is no ring, and every folder and module has its floor."""
    floor = {name: number for number, names in enumerate(order) for name in names}
    entries = {path.stem for path in (ROOT / package).iterdir() if path.is_dir() or path.suffix == ".py"}
    assert entries - {"__init__", "__pycache__"} == floor.keys()
    for name in floor:
        path = ROOT / package / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]:
            for module in imported(file):
                if is_within(module, (f"sparkext.{package}",)):
                    entry = module.split(".")[2]
                    is_below = floor[entry] < floor[name] or floor[entry] == floor[name] == 0
                    assert entry == name or is_below, f"{file.relative_to(ROOT)} imports {module}"


def test_kernels_are_compiled_from_the_lowest_floors() -> None:
    """An edit of what reads batches or runs tasks compiles no kernel anew."""
    floors = [name for names in UDFS_ORDER[1:7] for name in names]
    assert sorted(floors) == sorted(COMPILED_FOLDERS)
    decorated = re.compile(r"^@(?:kernel|inner|inlined|arithmetic)$", re.MULTILINE)
    compiled = [path for path in (ROOT / "udfs").rglob("*.py") if decorated.search(path.read_text())]
    assert {path.relative_to(ROOT / "udfs").parts[0] for path in compiled} <= {*COMPILED_FOLDERS}


@pytest.mark.parametrize("package", ALLOWED)
def test_no_rings(package: str) -> None:
    """No module imports itself by way of others."""
    paths = sorted((ROOT / package).rglob("*.py"))
    names = [f"sparkext.{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}" for path in paths]
    number = {name: index for index, name in enumerate(names)}
    links = [
        (number[name], number[module])
        for name, path in zip(names, paths, strict=True)
        for module in imported(path)
        if module in number
    ]
    rings = [[names[index] for index in ring] for ring in strong_components(range(len(names)), links) if len(ring) > 1]
    assert not rings


def test_no_two_files_have_one_name() -> None:
    """An editor that is asked for a file by its name finds the one that is meant."""
    files = [path for folder in ("sparkext", "planner", "udfs") for path in (ROOT / folder).rglob("*.py")]
    names = Counter(path.name for path in files if path.name != "__init__.py")
    assert [name for name, times in names.items() if times > 1] == []


def test_strategies_are_named_in_few_places() -> None:
    for folder in ("sparkext", "planner", "udfs"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not STRATEGY.fullmatch(name.split("/")[1]) and name not in KNOWS_STRATEGIES:
                assert not STRATEGY.search(path.read_text()), name


def test_only_the_pricer_asks_the_cost_model() -> None:
    """Beside what checks it, and which plans are worth looking for."""
    price = re.compile(r"\bmodel\.(?:start|alone|shared|evaluation|entry)\b")
    asking = {path.name for path in (ROOT / "planner").rglob("*.py") if price.search(path.read_text())}
    assert asking == {"pricer.py", "plan_cost.py"}


@pytest.mark.parametrize("module", WITHOUT_SPARK)
def test_truth_and_harness_need_no_spark(module: str) -> None:
    assert not any(
        is_within(name, ("pyspark",)) or is_of_spark_side(name)
        for name in imported(ROOT / "tests" / "support" / f"{module}.py")
    )


def test_truth_knows_nothing_of_what_it_is_the_truth_for() -> None:
    for module in ("prev_conditions", "completions", "enumerator", "instruction_twin", "kernel_twin"):
        for name in imported(ROOT / "tests" / "support" / f"{module}.py"):
            assert not is_within(name, FORBIDDEN_TO_THE_ENUMERATOR), f"{module} imports {name}"


def test_what_the_truth_must_not_import_exists() -> None:
    for name in FORBIDDEN_TO_THE_ENUMERATOR:
        path = ROOT / name.removeprefix("sparkext.").replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), name
