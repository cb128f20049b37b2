"""Starts programs as `launch` does, in forks of a process that has imported torch_xla."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

from xlamig.observe import launch
from xlamig.observe.launch import Exit, Program, Watch

_PASSED = (launch.FOLDER, launch.WATCH, "XLA_FLAGS", "WANDB_MODE", "MPLBACKEND")
_servers = threading.local()
limit = 0  # seconds a program may take, 0 for any number


def forked(program: Program, watch: Watch, folder: Path) -> Exit:
    """Run a script to its end; what it prints is lost."""
    server = _server(program.python)
    environment = launch._environment(watch, folder)
    where = program.folder or Path(program.target).parent
    asked = {
        "argv": [program.target, *program.arguments],
        "cwd": str(where),
        "environment": {name: environment[name] for name in _PASSED if name in environment},
        "output": os.devnull,
        "limit": limit,
    }
    assert server.stdin and server.stdout
    server.stdin.write(json.dumps(asked) + "\n")
    server.stdin.flush()
    code = int(server.stdout.readline())
    return Exit(128 - code, "signal") if code < 0 else Exit(code)


def _server(python: str) -> subprocess.Popen[str]:
    """Return this thread's process."""
    if not hasattr(_servers, "process"):
        environment = {**os.environ, "PJRT_DEVICE": "CPU"}
        command = [python, str(Path(__file__).with_name("server.py"))]
        pipe = subprocess.PIPE
        _servers.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)
    process: subprocess.Popen[str] = _servers.process
    return process
