"""A Java that Spark can run on: found on this machine, else installed.

``python -m examples.java`` prints its home directory; what is done to get it is told on stderr. It uses
nothing but the standard library and, to install, ``apt-get`` or the package ``install-jdk``.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

OLDEST = 17
"""Oldest version of Java that Spark 4 runs on."""

DEBIAN_PACKAGES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless")
"""Tried in this order; which of them exists depends on the release."""

_HOMES = Path.home() / ".jdk"
_PLACES = (
    (Path("/usr/lib/jvm"), "*/bin/java"),
    (_HOMES, "*/bin/java"),
    (_HOMES, "*/Contents/Home/bin/java"),
    (Path("/Library/Java/JavaVirtualMachines"), "*/Contents/Home/bin/java"),
)


class JavaMissingError(Exception):
    """There is no Java that Spark can use, and none could be installed; says how to get one."""


def make_sure() -> str:
    """Home of a Java of version `OLDEST` or later, which ``JAVA_HOME`` of this process names afterwards.

    Raises:
        JavaMissingError: None was found, and none could be installed.
    """
    home = find() or _install()
    os.environ["JAVA_HOME"] = home
    return home


def find() -> str | None:
    """Home of a fitting Java: of ``JAVA_HOME``, of ``java`` on PATH, or where they are usually installed."""
    given = os.environ.get("JAVA_HOME")
    if given:
        home = home_of(Path(given) / "bin" / "java")
        if home is not None:
            return given
        _tell(f"JAVA_HOME is {given}, which holds no Java {OLDEST} or later; looking elsewhere.")
    return next((home for java in _candidates() if (home := home_of(java)) is not None), None)


def home_of(java: Path) -> str | None:
    """Home directory that the program ``java`` reports; None if it does not run or is too old."""
    command = [str(java), "-XshowSettings:properties", "-version"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    settings = dict(re.findall(r"^\s+(java\.home|java\.specification\.version) = (.+)$", said.stderr, re.MULTILINE))
    version = settings.get("java.specification.version", "").strip()
    if said.returncode or not version.isdigit() or int(version) < OLDEST:
        return None
    return settings.get("java.home", "").strip() or None


def _candidates() -> Iterator[Path]:
    on_path = shutil.which("java")
    if on_path is not None:
        yield Path(on_path)
    for directory, pattern in _PLACES:
        yield from sorted(directory.glob(pattern))


def _install() -> str:
    _tell(f"No Java {OLDEST} or later was found.")
    reasons: list[str] = []
    for install in (_with_apt, _with_install_jdk):
        try:
            install()
        except (OSError, subprocess.SubprocessError, RuntimeError) as error:
            reasons.append(str(error))
            continue
        home = find()
        if home is not None:
            _tell(f"Java is now in {home}.")
            return home
        reasons.append("what was installed does not run")
    raise JavaMissingError(_advice(reasons))


def _with_apt() -> None:
    """Install Debian's package.

    Raises:
        RuntimeError: This is not Debian, the user is not root, or the installation failed.
    """
    if shutil.which("apt-get") is None:
        raise RuntimeError("there is no apt-get here")
    if os.geteuid() != 0:
        raise RuntimeError("apt-get needs root")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    _tell("Asking apt-get for its list of packages.")
    subprocess.run(["apt-get", "update", "-q"], capture_output=True, timeout=300, check=False)
    said = ""
    for package in DEBIAN_PACKAGES:
        _tell(f"Installing {package} with apt-get; this takes about a minute.")
        command = ["apt-get", "install", "-q", "-y", "--no-install-recommends", package]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, env=environment)
        if done.returncode == 0:
            return
        said = done.stderr.strip().rpartition("\n")[2] or f"it ended with {done.returncode}"
    raise RuntimeError(f"apt-get could not install Java: {said}")


def _with_install_jdk() -> None:
    """Download a Java runtime into ``~/.jdk``.

    Raises:
        RuntimeError: The package ``install-jdk`` is missing, or the download failed.
    """
    try:
        import jdk
    except ImportError:
        raise RuntimeError("the Python package install-jdk is not installed") from None
    _tell(f"Downloading a Java {OLDEST} runtime into {_HOMES} with install-jdk; this takes about a minute.")
    try:
        jdk.install(str(OLDEST), jre=True, path=str(_HOMES))
    except Exception as error:  # install-jdk raises whatever urllib, ssl, tarfile and its own code raise
        raise RuntimeError(f"the download failed: {error}") from error


def _advice(reasons: list[str]) -> str:
    how = {
        "Linux": "with your system's packages (Debian, Ubuntu: apt-get install openjdk-17-jre-headless; "
        "Fedora: dnf install java-21-openjdk-headless)",
        "Darwin": "with Homebrew (brew install openjdk@17)",
    }.get(platform.system(), "from https://adoptium.net")
    tried = "; ".join(reasons)
    return (
        f"Spark needs Java {OLDEST} or later, and none was found.\n"
        f"It could not be installed for you: {tried}.\n"
        f"Install it {how}, or set JAVA_HOME to where one is, and run this again."
    )


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    """Print the home of a fitting Java."""
    try:
        print(make_sure())
    except JavaMissingError as error:
        _tell(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
