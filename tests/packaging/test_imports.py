"""The command starts fast because it loads little."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "heavy", ["torch", "torch_xla", "numpy", "libcst", "rich", "pygls", "mcp", "watchfiles"]
)
def test_the_command_line_does_not_import(heavy: str) -> None:
    code = f"import sys, xlamig.cli; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
