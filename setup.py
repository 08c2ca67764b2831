"""Packages: `sparkext`, and the folders beside it that are parts of it.

In the repository, ``sparkext/planner`` and ``sparkext/udfs`` are links to these folders, so that it can be imported as
it is. Nothing that is built follows them: archives, and Git on Windows, make text files of links.

The description of the package is README.md without what leads nowhere on an index of packages.

A wheel puts the jar of `extension`, if it has been built, among those of PySpark, where Spark finds it.
"""

import re
import sys
from pathlib import Path

from setuptools import find_packages, setup

BESIDE = ("planner", "udfs")
HAS_JAR = "bdist_wheel" in sys.argv and Path("extension/jars/sparkext.jar").exists()
JARS = {"pyspark.jars": "extension/jars"} if HAS_JAR else {}


def description(readme: str) -> str:
    """A page for an index of packages: pictures and links of the repository are not there, their words are."""
    picture = r"\n!\[[^\]]*\]\((?!https?:)[^)]*\)\n"
    text = re.sub(picture, "", re.sub(rf":\n{picture}", ".\n", readme))
    return re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)


if __name__ == "__main__":
    setup(
        long_description=description(Path("README.md").read_text(encoding="utf-8")),
        long_description_content_type="text/markdown",
        packages=[
            *find_packages(include=["sparkext", "sparkext.*"], exclude=[f"sparkext.{name}*" for name in BESIDE]),
            *(f"sparkext.{name}" for name in find_packages(include=[f"{name}*" for name in BESIDE])),
            *JARS,
        ],
        package_dir={f"sparkext.{name}": name for name in BESIDE} | JARS,
    )
