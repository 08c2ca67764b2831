"""Compiles the jar by which Spark finds sparkext, against the jars of this environment's PySpark::

    python -m extension.build

It needs the ``javac`` of a JDK: of ``JAVA_HOME``, of PATH, or where JDKs usually are. A wheel that is built afterwards
has the jar in it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

HERE = Path(__file__).parent
SOURCES = HERE / "src"
JAR = HERE / "jars" / "sparkext.jar"
"""What is made, for the folder of PySpark's own jars."""

PROVIDER = "META-INF/services/org.apache.spark.sql.SparkSessionExtensionsProvider"
CLASS = "sparkext.Extension"
"""What ``spark.sql.extensions`` may name."""

_OLDEST_JAVA = "8"
"""Earlier versions of Spark, which say that the jar is not for them, run on that."""

_BOUNDS = re.compile(r'"pyspark>=([\d.]+),<([\d.]+)"')
_VERSION = re.compile(r'^__version__ = "(.*)"', re.MULTILINE)
_WHEN = (1980, 1, 1, 0, 0, 0)


class CompilerMissingError(Exception):
    """There is no JDK; the text says what to do."""


def build(jar: Path = JAR, **said: str) -> Path:
    """Make the jar.

    Args:
        jar: Where.
        said: What it is to say of itself, in place of what is so: ``version``, ``first`` and ``after`` of Spark.

    Raises:
        CompilerMissingError: There is no compiler.
        subprocess.CalledProcessError: It found something wrong.
    """
    compiler = find_compiler()
    if compiler is None:
        raise CompilerMissingError("No javac was found: install a JDK of Java 17, such as openjdk-17-jdk-headless.")
    entries = {PROVIDER: f"{CLASS}\n".encode(), "sparkext/jar.properties": _properties(said).encode()}
    with tempfile.TemporaryDirectory() as folder:
        sources = sorted(map(str, SOURCES.rglob("*.java")))
        command = [compiler, "--release", _OLDEST_JAVA, "-nowarn", "-Xlint:-options", "-proc:none"]
        ran = subprocess.run(
            [*command, "-cp", f"{_jars_of_spark()}/*", "-d", folder, *sources], capture_output=True, text=True
        )
        if ran.returncode:
            sys.stderr.write(ran.stderr)
            ran.check_returncode()
        for path in sorted(Path(folder).rglob("*.class")):
            entries[path.relative_to(folder).as_posix()] = path.read_bytes()
    jar.parent.mkdir(parents=True, exist_ok=True)
    with ZipFile(jar, "w", ZIP_DEFLATED) as file:
        for name, content in entries.items():  # of one time, so that the jar is the same whenever it is made
            file.writestr(ZipInfo(name, _WHEN), content, ZIP_DEFLATED)
    return jar


def find_compiler() -> str | None:
    """The path of ``javac``; None if there is none."""
    home = os.environ.get("JAVA_HOME")
    places = [Path(home, "bin", "javac")] if home else []
    on_path = shutil.which("javac")
    places += [Path(on_path)] if on_path else []
    places += sorted(Path("/usr/lib/jvm").glob("*/bin/javac"))
    return next((str(place) for place in places if os.access(place, os.X_OK)), None)


def _properties(said: dict[str, str]) -> str:
    bounds = _BOUNDS.search((HERE.parent / "pyproject.toml").read_text())
    version = _VERSION.search((HERE.parent / "sparkext" / "__init__.py").read_text())
    assert bounds is not None
    assert version is not None
    values = {"version": version[1], "first": bounds[1], "after": bounds[2]} | said
    names = {"version": "version", "first": "spark.first", "after": "spark.after"}
    return "".join(f"{names[name]}={value}\n" for name, value in values.items())


def _jars_of_spark() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent / "jars"


def main() -> int:
    """Make the jar and print where it is."""
    try:
        print(build())
    except CompilerMissingError as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
