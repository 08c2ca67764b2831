"""Packages: `sparkext`, and the folders beside it that are parts of it.

In the repository, ``sparkext/planner`` and ``sparkext/udfs`` are links to these folders, so that it can be imported as
it is. Nothing that is built follows them: archives, and Git on Windows, make text files of links.

A wheel puts the jar of `extension`, if it has been built, among those of PySpark, where Spark finds it.
"""

import sys
from pathlib import Path

from setuptools import find_packages, setup

BESIDE = ("planner", "udfs")
HAS_JAR = "bdist_wheel" in sys.argv and Path("extension/jars/sparkext.jar").exists()
JARS = {"pyspark.jars": "extension/jars"} if HAS_JAR else {}

setup(
    packages=[
        *find_packages(include=["sparkext", "sparkext.*"], exclude=[f"sparkext.{name}*" for name in BESIDE]),
        *(f"sparkext.{name}" for name in find_packages(include=[f"{name}*" for name in BESIDE])),
        *JARS,
    ],
    package_dir={f"sparkext.{name}": name for name in BESIDE} | JARS,
)
