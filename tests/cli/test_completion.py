"""The completion scripts, and what they complete."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_prints_the_script_of_a_shell(invoke: Any, shell: str) -> None:
    result = invoke("completion", shell)
    assert result.exit_code == 0
    assert "_XLAMIG_COMPLETE" in result.stdout


def test_completes_commands() -> None:
    environment = {
        **os.environ,
        "_XLAMIG_COMPLETE": "bash_complete",
        "COMP_WORDS": "xlamig c",
        "COMP_CWORD": "1",
    }
    code = "from xlamig.cli import script; script()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert {"plain,check", "plain,config", "plain,clean", "plain,completion"} <= set(done.stdout.split())


def test_knows_no_other_shell(invoke: Any) -> None:
    assert invoke("completion", "csh").exit_code == 2
