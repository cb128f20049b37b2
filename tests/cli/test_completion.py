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


def completed(words: str, at: int) -> set[str]:
    environment = {
        **os.environ,
        "_XLAMIG_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(at),
    }
    code = "from xlamig.cli import script; script()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    return set(done.stdout.split())


def test_completes_commands() -> None:
    expected = {"plain,check", "plain,config", "plain,clean", "plain,completion"}
    assert expected <= completed("xlamig c", 1)


def test_completes_rule_codes_in_a_list() -> None:
    found = completed("xlamig check --ignore XLA101,xla70", 3)
    assert "plain,XLA101,XLA701" in found
    assert "plain,XLA101,XLA102" not in found


def test_knows_no_other_shell(invoke: Any) -> None:
    assert invoke("completion", "csh").exit_code == 2
