"""Scripts of public repositories on the CPU, before and after `xlamig check --fix`.

Each script of the manifest runs seeded for a few steps, is fixed with every other file that it came with, and
runs again: it has to end as before, with the same losses handed to `backward()`. Nothing outside a temporary
folder is written.

python -m benchmarks.scripts.as_before --mirror DIR [--python PATH] [--state FILE] [ID ...]
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.mirror import MissingMirror
from benchmarks.scripts.cases import CannotPrepare, Script, of_manifest
from benchmarks.scripts.runs import Bench
from benchmarks.scripts.servers import Server
from benchmarks.scripts.verdict import last_line


def compared(bench: Bench, script: Script) -> dict[str, Any]:
    """Return how the script ends before and after the safe fixes."""
    result = {"id": script.id, "repo": script.repo, "half": script.half}
    folder = bench.work / script.id / "plain"
    try:
        script.lay_out(folder, bench.mirror, bench.python)
    except (CannotPrepare, MissingMirror) as why:
        return {**result, "verdict": "not set up", "why": str(why)}
    sources = contents(folder)
    before = bench.run(script, folder, xla=False)
    if before.code != 0:
        return {**result, "verdict": "fails as it is", "why": last_line(before)}
    try:
        bench.fix(folder)
    except subprocess.CalledProcessError as error:
        return {**result, "verdict": "not fixed", "why": error.stderr.decode().strip().splitlines()[-1]}
    changed = sum(sources.get(path) != text for path, text in contents(folder).items())
    after = bench.run(script, folder, xla=False)
    same = (after.code, after.losses) == (before.code, before.losses)
    why = f"{len(before.losses)} losses" if same else last_line(after) or "other losses"
    return {**result, "verdict": "as before" if same else "differs", "changed": changed, "why": why}


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*.py")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", type=Path, required=True, help="folder of repositories")
    parser.add_argument("--python", default=sys.executable, help="one with torch and requirements")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds per run")
    parser.add_argument("--state", type=Path, help="file that keeps what is done, to go on from")
    parser.add_argument("ids", nargs="*")
    options = parser.parse_args()
    done: dict[str, dict[str, Any]] = {}
    if options.state and options.state.exists():
        done = json.loads(options.state.read_text())
    chosen = [script for script in of_manifest() if not options.ids or script.id in options.ids]
    python = str(Path(shutil.which(options.python) or options.python).absolute())
    server = Server(python, xla=False)
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(
            python, server, server, options.steps, options.limit, Path(work), "portable",
            options.mirror.resolve(),
        )  # fmt: skip
        for script in chosen:
            if script.id not in done:
                done[script.id] = compared(bench, script)
                if options.state:
                    options.state.write_text(json.dumps(done, indent=1))
            if script.half == "dev":
                one = done[script.id]
                print(f"| {one['id']} | {one['repo']} | {one['verdict']} | {one['why']} |", flush=True)
    server.close()
    counted = [one for one in done.values() if one.get("changed") or one["verdict"] == "not fixed"]
    for verdict in ("as before", "differs", "not fixed"):
        repositories = {one["repo"] for one in counted if one["verdict"] == verdict}
        scripts = sum(one["verdict"] == verdict for one in counted)
        print(f"{verdict}: {scripts} scripts of {len(repositories)} repositories")
    return int(any(one["verdict"] != "as before" for one in counted))


if __name__ == "__main__":
    sys.exit(main())
