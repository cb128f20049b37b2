"""Processes that have torch loaded and run scripts in forks, so that a run does not wait for imports."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.quickly import XLA_FLAGS

SITE = Path(__file__).with_name("site")


class Server:
    """A process of the scripts' Python; with `xla`, torch_xla is loaded too."""

    def __init__(self, python: str, xla: bool) -> None:
        self.python = python
        command = [python, str(SITE / "server.py"), *(["xla"] if xla else [])]
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("XLA_", "PJRT_", "XLAMIG_"))}
        self.environment = {
            **{k: v for k, v in kept.items() if k != "PYTHONPATH"},
            **({"PJRT_DEVICE": "CPU", "XLA_FLAGS": XLA_FLAGS} if xla else {}),
            "CUDA_VISIBLE_DEVICES": "",
            "OMP_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",  # the order of a set of words decides what a script trains on
        }
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment, text=True
        )

    def run(self, command: Sequence[str], cwd: Path, environment: dict[str, str], limit: int) -> int | None:
        """Run a script and return its exit code, None if it took longer than the limit in CPU seconds."""
        script = {
            "command": list(command),
            "cwd": str(cwd),
            "environment": {**self.environment, **environment},
        }
        assert self.process.stdin is not None and self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps({"script": script, "limit": limit}) + "\n")
            self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self.python} cannot run scripts: does it have torch?")
        code: int | None = json.loads(answer)
        return code

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
