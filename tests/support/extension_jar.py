"""The jar for tests, made once, and with something else that it says of itself."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from zipfile import ZipFile

import pyspark
import pytest

from extension.build import JAR, CompilerMissingError, build
from tests.support.versions import SPARKS

PROPERTIES = "sparkext/jar.properties"


@lru_cache(maxsize=1)
def jar() -> Path:
    """The jar, made from its source; the test is skipped where that cannot be.

    It is compiled against the newest PySpark. Under others, the one that `make jar` has left is taken.
    """
    if not pyspark.__version__.startswith(SPARKS[-1]):
        if JAR.exists():
            return JAR
        pytest.skip(f"the jar is compiled with PySpark {SPARKS[-1]}, and extension/jars has none")
    try:
        return build(Path(mkdtemp()) / "sparkext.jar")
    except CompilerMissingError as error:
        pytest.skip(str(error))


def jar_that_says(where: Path, **said: str) -> Path:
    """A copy of the jar that says something else of itself.

    Args:
        where: The folder for it.
        said: The ``version`` of sparkext, and the ``first`` version of Spark that it is for and the one ``after``.
    """
    made = where / "sparkext.jar"
    with ZipFile(jar()) as old, ZipFile(made, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == PROPERTIES:
                lines = text.decode().splitlines()
                known = dict(line.split("=") for line in lines)
                known |= {key if key in known else f"spark.{key}": value for key, value in said.items()}
                text = "".join(f"{key}={value}\n" for key, value in known.items()).encode()
            new.writestr(name, text)
    return made
