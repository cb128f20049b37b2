"""Edits real files at random in a workspace and compares it with a batch check.

    python benchmarks/edits.py FOLDER --edits 10000 --state edits.json
    python benchmarks/edits.py FOLDER --latency

The first form makes seeded edits to a copy of FOLDER: pieces are deleted, doubled, moved, replaced
and typed, also so that a file does not parse. The findings are compared with those of `check` after every
`--compare` edits and at the end. Progress is written to `--state`, so that an interrupted run goes on
where it was. The second form times checks after one edit of each of the largest files.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import shutil
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from xlamig import engine
from xlamig.engine import Options
from xlamig.engine.workspace import Workspace
from xlamig.findings import Report

TYPED = (
    "import torch\n", "x = x.cuda()\n", "    loss.item()\n", "torch.cuda.synchronize()\n", ")", "(", '"""',
    "for step in range(10):\n", "    optimizer.step()\n", "def f(x):\n    return x.item()\n", "é𝔘", "\f",
    "# xlamig: ignore[XLA005]\n", "if x.sum() > 0:\n", ":", "\t", "\n\n", "\r\n", "'",
    "device = 'cuda'\n", "\u2028",
)  # fmt: skip


def edited(rng: random.Random, text: str) -> str:
    """`text` with one edit as people and editors make them."""
    lines = text.splitlines(keepends=True)
    kind = rng.randrange(6)
    if kind == 0 or not lines:
        at = rng.randrange(len(text) + 1)
        return text[:at] + rng.choice(TYPED) + text[at:]
    row = rng.randrange(len(lines))
    count = rng.randrange(1, 4)
    if kind == 1:
        del lines[row : row + count]
    elif kind == 2:
        lines[row:row] = lines[row : row + count]
    elif kind == 3:
        lines.insert(row, rng.choice(TYPED))
    elif kind == 4:
        other = rng.randrange(len(lines))
        lines[row], lines[other] = lines[other], lines[row]
    else:
        at = rng.randrange(len(lines[row]) + 1)
        lines[row] = lines[row][:at] + lines[row][at + rng.randrange(8) :]
    return "".join(lines)


def parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def edits(files: Sequence[Path], count: int, start: int = 0) -> Iterator[tuple[int, Path, str]]:
    """Number, file and new text of every edit. An edit to a text that does not parse starts from the last
    one that did, and every twentieth goes back to the original."""
    originals = {path: path.read_bytes().decode("utf-8") for path in files}
    now, good = dict(originals), dict(originals)
    for number in range(count):
        rng = random.Random(number)
        path = files[rng.randrange(len(files))]
        now[path] = originals[path] if rng.randrange(20) == 0 else edited(rng, good[path])
        if parses(now[path]):
            good[path] = now[path]
        if number >= start:
            yield number, path, now[path]


def batch(folder: Path, texts: dict[Path, str]) -> Report:
    """What `check` says of the folder with these texts saved."""
    for path, text in texts.items():
        path.write_bytes(text.encode("utf-8"))
    return engine.check([folder], Options(cache=False))


def memory() -> int:
    """The peak resident size of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def python_files(folder: Path) -> list[Path]:
    def is_text(path: Path) -> bool:
        try:
            path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            return False
        return True

    return [path for path in sorted(folder.rglob("*.py")) if path.is_file() and is_text(path)]


def run(folder: Path, count: int, compare: int, state: Path | None) -> int:
    """Make the edits; how many comparisons differed."""
    scratch = Path(tempfile.mkdtemp())
    live, saved = scratch / "live", scratch / "saved"
    shutil.copytree(folder, live)
    shutil.copytree(folder, saved)
    start = json.loads(state.read_text())["done"] if state and state.exists() else 0
    workspace = Workspace([Path()], Options(jobs=1, cache=False))
    os.chdir(live)
    workspace.check()
    files = python_files(live)
    texts: dict[Path, str] = {}
    for _, path, text in edits(files, start):
        texts[path] = text
        workspace.edit(path, text.encode("utf-8"))
    different, times, peak = 0, [], 0
    for number, path, text in edits(files, count, start):
        texts[path] = text
        workspace.edit(path, text.encode("utf-8"))
        began = time.perf_counter()
        report = workspace.check()
        times.append(time.perf_counter() - began)
        if (number + 1) % compare == 0 or number + 1 == count:
            os.chdir(saved)
            expected = batch(Path(), {saved / p.relative_to(live): t for p, t in texts.items()})
            os.chdir(live)
            same = report.findings == expected.findings
            different += not same
            peak = peak or memory()
            middle = statistics.median(times) * 1000
            print(f"{number + 1} edits: {'same' if same else 'DIFFERENT'}, {len(report.findings)} findings, "
                  f"median {middle:.0f} ms, {memory()} MiB at most (first {peak})", flush=True)  # fmt: skip
            if state:
                state.write_text(json.dumps({"done": number + 1, "different": different}))
    shutil.rmtree(scratch)
    return different


def latency(folder: Path, largest: int) -> None:
    """Time checks after edits in the last function of each of the largest files, warm."""
    os.chdir(folder)
    workspace = Workspace([Path()], Options())
    workspace.check()
    files = sorted(python_files(Path.cwd()), key=lambda path: -len(path.read_bytes()))[:largest]
    for path in files:
        text = path.read_bytes().decode("utf-8")
        at = text.rfind("\n        return ") + 1
        wall, cpu = [], []
        for turn in range(6):
            workspace.edit(path, f"{text[:at]}        edited = {turn}\n{text[at:]}".encode())
            began, busy = time.perf_counter(), time.process_time()
            workspace.check()
            wall.append((time.perf_counter() - began) * 1000)
            cpu.append((time.process_time() - busy) * 1000)
        workspace.close(path)
        lines = text.count("\n")
        print(f"{lines:6} lines  median {statistics.median(wall[1:]):5.0f} ms, best {min(wall[1:]):5.0f} ms, "
              f"CPU {statistics.median(cpu[1:]):5.0f} ms  {path.relative_to(Path.cwd())}")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--compare", type=int, default=500, help="compare after so many edits")
    parser.add_argument("--state", type=Path, help="where progress is kept")
    parser.add_argument("--latency", action="store_true")
    parser.add_argument("--largest", type=int, default=5, help="how many files --latency edits")
    asked = parser.parse_args()
    if asked.latency:
        latency(asked.folder, asked.largest)
        return 0
    return (
        1
        if run(asked.folder.resolve(), asked.edits, asked.compare, asked.state and asked.state.resolve())
        else 0
    )


if __name__ == "__main__":
    sys.exit(main())
