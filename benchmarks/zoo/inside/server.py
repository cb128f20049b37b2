"""Imports torch_xla once, forks a process for each package, and from that one for each case.

Reads a package's job from each line of standard input (see `benchmarks.zoo.run`) and prints a line of
JSON for each case. A fork has a recorder, a device and counters to itself, so cases cannot disturb each
other.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import re
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 10  # seconds of waiting for each second of processor time


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # packages print
    warnings.filterwarnings("ignore")
    import torch_xla  # noqa: F401

    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _serve(json.loads(line), answers)
            os._exit(0)
        os.waitpid(child, 0)
        _answer(answers, {"case": None, "status": "end"})


def _serve(job: dict[str, Any], answers: Any) -> None:
    """Import the package, then run its cases one after another."""
    sys.path[:0] = job["sources"]
    from benchmarks.zoo.inside import values

    scope = values.modules()
    try:
        exec(job["setup"], scope)
    except BaseException as error:
        return _answer(answers, {"case": None, "status": "import", "error": _described(error, job)})
    for number, case in enumerate(job["cases"]):
        _answer(
            answers, {"case": case["name"], **_observe(case, scope, job, Path(job["folder"], str(number)))}
        )
    return None


def _answer(answers: Any, content: dict[str, Any]) -> None:
    print(json.dumps(content), file=answers, flush=True)


def _observe(
    case: dict[str, Any], scope: dict[str, Any], job: dict[str, Any], folder: Path
) -> dict[str, Any]:
    """Run a case on XLA, and one that raises there on the CPU as well."""
    folder.mkdir(parents=True)
    status, error = _forked(lambda: _on_xla(case, scope, job["root"], folder), job, folder)
    if status in ("raised", "crashed"):
        on_cpu, cause = _forked(lambda: _on_cpu(case, scope), job, folder)
        if on_cpu != "ran":
            status, error = "broken", cause or error
    return {"status": status, "error": error, "folder": str(folder)}


def _on_xla(case: dict[str, Any], scope: dict[str, Any], root: str, folder: Path) -> None:
    import torch
    import torch_xla

    from benchmarks.zoo.inside import reach, steps, values
    from xlamig.observe.inside import start

    os.environ[start.FOLDER] = str(folder)
    faulthandler.enable((folder / "fault").open("w"))
    recorder = start.begin({})
    parts = reach.watch(recorder, root)

    def finish(*_: object) -> None:
        recorder.finish()
        (folder / "unreached").write_text(json.dumps(parts.unreached()))

    signal.signal(signal.SIGTERM, lambda *_: (finish(), os._exit(3)))
    device = torch.device(torch_xla.device())
    try:
        scope.update(values.helpers(device))
        steps.run(scope, case, torch_xla.sync)
    finally:
        finish()


def _on_cpu(case: dict[str, Any], scope: dict[str, Any]) -> None:
    import torch

    from benchmarks.zoo.inside import steps, values

    scope.update(values.helpers(torch.device("cpu")))
    steps.run(scope, case, lambda: None)


def _forked(
    action: Callable[[], None], job: dict[str, Any], folder: Path
) -> tuple[str, dict[str, Any] | None]:
    """Return how a child that does `action` ended: ran, raised, slow or crashed."""
    note = folder / "error"
    child = os.fork()
    if child == 0:
        try:
            action()
        except BaseException as error:
            note.write_text(json.dumps(_described(error, job)))
            os._exit(1)
        os._exit(0)
    code = _wait(child, job["seconds"])
    if code == 0:
        return "ran", None
    if code == 1 and note.is_file():
        error = json.loads(note.read_text())
        note.unlink()
        return "raised", error
    if code is None:
        return "slow", None
    return "crashed", _crash(code, folder / "fault", job["root"])


def _crash(code: int, fault: Path, root: str) -> dict[str, Any]:
    """Name the innermost line inside the sources of the zoo that was running."""
    text = fault.read_text() if fault.is_file() else ""
    place = re.search(rf'File "{re.escape(root)}([^"]+)", line (\d+)', text)
    kind = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return {
        "type": kind,
        "message": "",
        "file": place and place[1],
        "row": int(place[2]) if place else 0,
    }


def _wait(child: int, seconds: float) -> int | None:
    """Return the exit code, None for a child that used too much processor time."""
    for allowed, number in ((seconds, signal.SIGTERM), (seconds + 5, signal.SIGKILL)):
        end = time.monotonic() + PATIENCE * allowed
        while _used(child) < allowed and time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status) if number == signal.SIGTERM else None
            time.sleep(0.02)
        with contextlib.suppress(OSError):
            os.kill(child, number)
    os.waitpid(child, 0)
    return None


def _used(child: int) -> float:
    """Return the seconds of processor time of a process."""
    fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _described(error: BaseException, job: dict[str, Any]) -> dict[str, Any]:
    """Name the innermost line inside the sources of the zoo; the message may hold no path."""
    place: tuple[str | None, int] = (None, 0)
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith(job["root"]):
            place = os.path.relpath(frame.filename, job["root"]), frame.lineno or 0
    message = " ".join(re.sub(r"/[^\s'\"]*/", "", str(error)).split())[:200]
    return {"type": type(error).__name__, "message": message, "file": place[0], "row": place[1]}


if __name__ == "__main__":
    main()
