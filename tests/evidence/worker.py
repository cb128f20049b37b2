"""Runs programs on real torch_xla, one forked child each. Reads and writes JSON lines.

The parent imports torch and torch_xla once and never touches the XLA client: a client does not
survive a fork, so every child starts its own and takes all state with it when it ends.
`--without-xla` hides torch_xla, for programs that must also run on plain CPU torch.
"""

from __future__ import annotations

import json
import os
import runpy
import select
import signal
import socket
import sys
import tempfile
import traceback
from importlib.machinery import PathFinder
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

STEPS = 6


class _WithoutXla(PathFinder):
    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> Any:
        return (
            None if fullname.partition(".")[0] == "torch_xla" else super().find_spec(fullname, path, target)
        )


def _error(error: BaseException, filename: str) -> dict[str, Any]:
    rows = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == filename]
    text = "".join(traceback.format_exception(error))
    return {
        "type": type(error).__name__,
        "message": str(error),
        "row": rows[-1] if rows else None,
        "traceback": text[-4000:],
    }


def _attempt(call: str, action: Any, filename: str) -> dict[str, Any]:
    try:
        action()
    except SystemExit as stop:
        return {"call": call, "error": None if not stop.code else _error(stop, filename)}
    except BaseException as error:
        return {"call": call, "error": _error(error, filename)}
    return {"call": call, "error": None}


def _steps(step: Any, outcome: dict[str, Any]) -> None:
    """Runs them as `xlamig trace` does; the raw record has what happened on which line."""
    import torch_xla

    from xlamig.observe.inside import start

    torch_xla.sync(wait=True)
    recorder = start.begin({})
    totals = [recorder.last[:3]]
    try:
        for i in range(STEPS):
            step(i)
            torch_xla.sync(wait=True)
            totals.append(recorder.last[:3])
    finally:
        recorder.finish()
    outcome["steps"] = [[now - then for now, then in zip(b, a, strict=True)] for a, b in pairwise(totals)]
    outcome["events"] = json.loads(recorder.path.read_text())["events"]


def _run(request: dict[str, Any]) -> dict[str, Any]:
    import torch

    filename = request["path"]
    sys.argv = [filename, *request["args"]]
    sys.path.insert(0, str(Path(filename).parent))
    outcome: dict[str, Any] = {"attempts": [], "steps": [], "events": []}
    names: dict[str, Any] = {}
    run_name = "fixture" if request["calls"] or request["trace"] else "__main__"
    load = _attempt("", lambda: names.update(runpy.run_path(filename, run_name=run_name)), filename)
    outcome["attempts"].append(load)
    if load["error"] is None:
        if run_name != "__main__":  # where pickle looks for its classes
            sys.modules[run_name] = ModuleType(run_name)
            vars(sys.modules[run_name]).update(names)
        for call in request["calls"]:
            outcome["attempts"].append(_attempt(call, lambda call=call: eval(call, names), filename))
        if "check" in names:
            outcome["attempts"].append(_attempt("check", lambda: names["check"](torch), filename))
        if request["trace"]:
            steps = _attempt("step", lambda: _steps(names["step"], outcome), filename)
            outcome["attempts"].append(steps)
    return outcome


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _child(request: dict[str, Any], folder: str) -> None:
    os.chdir(folder)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(_free_port()), XLAMIG_WATCH_FOLDER=folder)
    output = os.open("output", os.O_CREAT | os.O_WRONLY)
    os.dup2(output, 1)
    os.dup2(output, 2)
    outcome = _run(request)
    Path(folder, "outcome.json").write_text(json.dumps(outcome, default=str))
    sys.stdout.flush()
    sys.stderr.flush()


def _forked(request: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        pid = os.fork()
        if pid == 0:
            try:
                _child(request, folder)
            finally:
                os._exit(0)  # no interpreter shutdown: the XLA client does not survive it
        ended, _, _ = select.select([os.pidfd_open(pid)], [], [], request["timeout"])
        if not ended:
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        outcome = Path(folder, "outcome.json")
        output = Path(folder, "output")
        answer: dict[str, Any] = {"crashed": "" if ended else f"still running after {request['timeout']} s"}
        answer["output"] = output.read_text(errors="replace")[-4000:] if output.exists() else ""
        if outcome.exists():
            return {**answer, **json.loads(outcome.read_text())}
        return {**answer, "crashed": answer["crashed"] or "the process died"}


def _import_torch(xla: bool) -> None:
    # torch._inductor asks for CUDA devices when imported, after which no forked child may touch CUDA;
    # with these two the answer does not come from the driver.
    untouched = {"PYTORCH_NVML_BASED_CUDA_CHECK": "1", "CUDA_VISIBLE_DEVICES": ""}
    before = dict(os.environ)
    os.environ.update(untouched)
    import torch
    import torch._dynamo  # the first optimizer of each child would

    if xla:
        import torch_xla  # noqa: F401
    for name in untouched.keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)
    torch.set_num_threads(1)


def main() -> None:
    sys.path.append(str(Path(__file__).parents[2] / "src"))  # this Python may have no xlamig
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print must not mix with the replies
    xla = "--without-xla" not in sys.argv
    if not xla:
        sys.meta_path[:] = [_WithoutXla if finder is PathFinder else finder for finder in sys.meta_path]
    try:
        _import_torch(xla)
    except ImportError as error:
        print(json.dumps({"ready": False, "reason": str(error)}), file=replies)
        return
    print(json.dumps({"ready": True}), file=replies)
    for line in sys.stdin:
        print(json.dumps(_forked(json.loads(line))), file=replies)


if __name__ == "__main__":
    main()
