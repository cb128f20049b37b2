"""Runs programs one after another, each in a fork of a process that has imported torch_xla once.

The process reads one JSON object per line, {"argv", "cwd", "environment", "output", "limit"}, and answers
with the exit code.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import runpy
import signal
import sys
from pathlib import Path
from typing import Any


def child(asked: dict[str, Any]) -> int:
    signal.alarm(asked["limit"])
    os.environ.update(asked["environment"])
    os.chdir(asked["cwd"])
    sys.argv = asked["argv"]
    sys.path.insert(0, str(Path(sys.argv[0]).resolve().parent))
    output = os.open(asked["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    watch = json.loads(asked["environment"]["XLAMIG_WATCH"])
    importlib.import_module(watch["entry"]).begin(watch["settings"])
    code: object = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    return code if isinstance(code, int) else int(code is not None)


def main() -> None:
    import torch  # noqa: F401
    import torch_xla  # noqa: F401

    for line in sys.stdin:
        process = os.fork()
        if not process:
            os._exit(child(json.loads(line)))
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
