"""Tools that are a command of xlamig in a process of its own, because it runs a program or may be ended."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xlamig.mcp.answers import MOST_ANSWER, cut
from xlamig.mcp.roots import Refused

_XLAMIG = "from xlamig.cli import script; script()"


def run(arguments: Sequence[str], folder: Path, seconds: float) -> dict[str, Any]:
    """The exit code and what the command wrote.

    Raises:
        Refused: it took longer than `seconds`.
    """
    command = [sys.executable, "-c", _XLAMIG, *arguments]
    environment = {**os.environ, "CI": "1", "NO_COLOR": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise Refused(f"`xlamig {arguments[0]}` took longer than {seconds:.0f} seconds") from None
    return {
        "exit_code": done.returncode,
        "output": cut(done.stdout, MOST_ANSWER),
        "messages": cut(done.stderr[-8_000:]),
    }


def words(given: Sequence[str]) -> list[str]:
    """Raises Refused for a word that the command would take for an option."""
    for word in given:
        if word.startswith("-"):
            raise Refused(f"{word!r} is not a name: names do not start with a dash")
    return list(given)
