"""Many threads on one session, for as long as a test may take."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.spark_programs import ROOT, variables

pytestmark = [pytest.mark.long, pytest.mark.spark]


def test_threads_on_one_session() -> None:
    """No statement waits for ever, no row is wrong, and nothing is left when all views are gone."""
    command = [sys.executable, "-m", "tests.support.stress", "--minutes", "0.7", "--threads", "8"]
    done = subprocess.run(command, cwd=ROOT, env=variables(), capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
