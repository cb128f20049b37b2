"""How many GPU scripts of public repositories run under `xlamig trace --as-cuda`, unmodified.

python -m benchmarks.as_cuda --mirror DIR [--python PATH] [--state FILE] [--limit N] [ID ...]
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.mirror import MissingMirror
from benchmarks.quickly import XLA_FLAGS
from benchmarks.scripts.cases import CannotPrepare, Script, of_manifest
from benchmarks.verify_gate import forks
from xlamig.observe import run
from xlamig.observe.launch import Program
from xlamig.observe.run import Asked

STEPS = 4
OURS = {"torch_xla.sync() after Optimizer.step"}  # what no script asks for


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", type=Path, required=True, help="folder of repositories")
    parser.add_argument("--python", default=os.environ.get("XLAMIG_XLA_PYTHON", sys.executable))
    parser.add_argument("--state", type=Path, help="file that keeps what is done, to go on from")
    parser.add_argument("--limit", type=int, default=240, help="seconds one script may take")
    parser.add_argument("ids", nargs="*")
    options = parser.parse_args()
    chosen = [s for s in of_manifest() if s.id in options.ids or (not options.ids and s.half == "dev")]
    os.environ |= {
        "WANDB_MODE": "disabled",
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1",
        "XLA_FLAGS": XLA_FLAGS,
    }
    forks.limit = options.limit
    run.launch = forks.forked
    run.require = lambda program, package: None
    done = _kept(options.state)
    for script in chosen:
        if script.id not in done:
            done[script.id] = measured(script, options.mirror, options.python)
            if options.state:
                options.state.write_text(json.dumps(done, indent=1))
        print(_row(done[script.id]), flush=True)
    results = [done[script.id] for script in chosen]
    counted = [one for one in results if one["verdict"] != "asks for no CUDA"]
    ran = sum(one["verdict"] == "ran" for one in counted)
    none = len(results) - len(counted)
    print(f"{ran} of {len(counted)} scripts that ask for CUDA ran; {none} ask for none")
    return 0


def _kept(state: Path | None) -> dict[str, dict[str, Any]]:
    return json.loads(state.read_text()) if state and state.exists() else {}


def _row(result: dict[str, Any]) -> str:
    return f"| {' | '.join(str(result[key]) for key in ('id', 'repo', 'verdict', 'steps', 'why'))} |"


def measured(script: Script, mirror: Path, python: str) -> dict[str, Any]:
    """Return how a script ended: it ran if it exited with 0 after a step on XLA."""
    result = {"id": script.id, "repo": script.repo, "steps": 0, "why": ""}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "repository"
        try:
            script.lay_out(folder, mirror, python)
        except (CannotPrepare, MissingMirror) as error:
            return {**result, "verdict": "not set up", "why": str(error)}
        return {**result, **traced(script, folder, python)}


def traced(script: Script, folder: Path, python: str) -> dict[str, Any]:
    """Return the verdict on one run, its steps, and the exception that ended it."""
    target, *arguments = entry(script, folder)
    more = ["cuda" if word == "xla" else word for word in script.xla]
    program = Program(
        target=target, arguments=(*arguments, *script.args, *more), python=python, folder=folder / script.cwd
    )
    ended = run.run(program, Asked(steps=STEPS, as_cuda=True))
    trace = ended.trace
    if trace is None:
        return {"verdict": "failed", "why": f"no trace, exit code {ended.exit.code}"}
    if not ended.exit.code and not {name for name, _ in trace.redirected} - OURS:
        return {"verdict": "asks for no CUDA"}
    good = ended.exit.code == 0 and trace.totals.executions > 0
    failure = trace.failure.summary[:100] if trace.failure else f"exit code {ended.exit.code}"
    return {"verdict": "ran" if good else "failed", "steps": trace.steps, "why": "" if good else failure}


def entry(script: Script, folder: Path) -> list[str]:
    """Return the program; one that is given as text becomes a file."""
    words = shlex.split(script.entry)
    if words[0] != "-c":
        return words
    (folder / script.cwd / "entry_point.py").write_text(words[1])
    return ["entry_point.py", *words[2:]]


if __name__ == "__main__":
    sys.exit(main())
