"""Edits real files at random in a workspace and compares it with a batch check.

    python -m benchmarks.speed.edits FOLDER --edits 10000 --state edits.json
    python -m benchmarks.speed.edits FOLDER --edits 10000 --state edits.json --server
    python -m benchmarks.speed.edits FOLDER --latency [--server]

The first form makes seeded edits to a copy of FOLDER: pieces are deleted, doubled, moved, replaced
and typed, also so that a file does not parse. The findings are compared with those of `check` after every
`--compare` edits and at the end. Progress is written to `--state`, so that an interrupted run goes on
where it was. The second form sends the edits to the language server, which checks when it has time for
it. The third form times checks after an edit of each of the largest files; with `--server`, from the sent
edit to the answer with which the file's diagnostics are there, and until those of all files are.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
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
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from xlamig import engine
from xlamig.engine import Options
from xlamig.engine.workspace import Workspace
from xlamig.findings import Finding, Report

if TYPE_CHECKING:
    from pytest_lsp import LanguageClient

TYPED = (
    "import torch\n", "x = x.cuda()\n", "    loss.item()\n", "torch.cuda.synchronize()\n", ")", "(", '"""',
    "for step in range(10):\n", "    optimizer.step()\n", "def f(x):\n    return x.item()\n", "é", "\f",
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


def edits(files: Sequence[Path], count: int) -> Iterator[tuple[int, Path, str]]:
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
        yield number, path, now[path]


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


@dataclass
class Copies:
    """Two copies of a folder: one that is edited in buffers, and one where the edits are saved."""

    live: Path
    saved: Path
    texts: dict[Path, str]

    @staticmethod
    def of(folder: Path) -> Copies:
        scratch = Path(tempfile.mkdtemp()).resolve()
        shutil.copytree(folder, scratch / "live")
        shutil.copytree(folder, scratch / "saved")
        return Copies(scratch / "live", scratch / "saved", {})

    def expected(self) -> Report:
        """Return the report of a batch check with all edits saved."""
        for path, text in self.texts.items():
            (self.saved / path.relative_to(self.live)).write_bytes(text.encode("utf-8"))
        os.chdir(self.saved)
        report = engine.check([Path()], Options(cache=False))
        os.chdir(self.live)
        return report


def begun(state: Path | None) -> int:
    """How many edits an earlier run has made."""
    return json.loads(state.read_text())["done"] if state and state.exists() else 0


def tell(state: Path | None, done: int, same: bool, more: str) -> None:
    print(f"{done} edits: {'same' if same else 'DIFFERENT'}, {more}", flush=True)
    if state:
        state.write_text(json.dumps({"done": done}))


def run(folder: Path, count: int, compare: int, state: Path | None) -> int:
    """Make the edits; how many comparisons differed."""
    copies, start, different, times = Copies.of(folder), begun(state), 0, []
    os.chdir(copies.live)
    workspace = Workspace([Path()], Options(jobs=1, cache=False))
    workspace.check()
    for number, path, text in edits(python_files(copies.live), count):
        copies.texts[path] = text
        workspace.edit(path, text.encode("utf-8"))
        if number < start:
            continue
        began = time.perf_counter()
        report = workspace.check()
        times.append(time.perf_counter() - began)
        workspace.free()
        if (number + 1) % compare == 0 or number + 1 == count:
            same = report.findings == copies.expected().findings
            different += not same
            middle = statistics.median(times) * 1000
            more = f"{len(report.findings)} findings, median {middle:.0f} ms, {memory()} MiB at most"
            tell(state, number + 1, same, more)
    shutil.rmtree(copies.live.parent)
    return different


async def run_server(folder: Path, count: int, compare: int, state: Path | None) -> int:
    """Send the edits to a server; how many comparisons differed."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "lsp"))
    from editor import session

    copies, start, different = Copies.of(folder), begun(state), 0
    os.chdir(copies.live)
    files = python_files(copies.live)
    names = {path: path.relative_to(copies.live).as_posix() for path in files}
    async with session(copies.live, diagnosticScope="workspace") as editor:
        for path in files:
            await editor.open(names[path])
        for number, path, text in edits(files, count):
            copies.texts[path] = text
            await editor.change(names[path], text)
            if number < start:
                continue
            if number % 7 == 0:  # most edits come while a check runs
                await editor.hover(names[path], 0, 0)
            if (number + 1) % compare == 0 or number + 1 == count:
                await editor.settled()
                shown = Counter(
                    (uri, found.code, found.range.start.line, found.range.start.character)
                    for uri, diagnostics in editor.client.diagnostics.items()
                    for found in diagnostics
                )
                wanted = Counter(map(partial(seen_in, copies.live), copies.expected().findings))
                different += shown != wanted
                size = server_memory(editor.client)
                tell(state, number + 1, shown == wanted, f"{shown.total()} diagnostics, {size} MiB now")
    shutil.rmtree(copies.live.parent)
    return different


def seen_in(root: Path, finding: Finding) -> tuple[str, str, int, int]:
    """The document, code and place that a client is shown, in a program without astral characters."""
    place = finding.place.location
    return (root / finding.filename).as_uri(), finding.code, place.row - 1, place.column - 1


def server_memory(client: LanguageClient) -> int:
    """The resident size of the server in MiB, on Linux."""
    status = Path(f"/proc/{client._server.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


def largest_of(folder: Path, count: int) -> list[Path]:
    return sorted(python_files(folder), key=lambda path: -len(path.read_bytes()))[:count]


def typed_into(text: str, turn: int) -> str:
    """`text` with a statement more in its last function."""
    at = text.rfind("\n        return ") + 1
    return f"{text[:at]}        edited = {turn}\n{text[at:]}"


def latency(folder: Path, largest: int) -> None:
    """Time checks after edits in the last function of each of the largest files, warm."""
    os.chdir(folder)
    workspace = Workspace([Path()], Options())
    workspace.check()
    for path in largest_of(Path.cwd(), largest):
        text = path.read_bytes().decode("utf-8")
        wall, cpu = [], []
        for turn in range(6):
            workspace.edit(path, typed_into(text, turn).encode())
            began, busy = time.perf_counter(), time.process_time()
            workspace.check()
            wall.append((time.perf_counter() - began) * 1000)
            cpu.append((time.process_time() - busy) * 1000)
            workspace.free()
        workspace.close(path)
        lines = text.count("\n")
        print(f"{lines:6} lines  median {statistics.median(wall[1:]):5.0f} ms, best {min(wall[1:]):5.0f} ms, "
              f"CPU {statistics.median(cpu[1:]):5.0f} ms  {path.relative_to(Path.cwd())}")  # fmt: skip


async def latency_in_editor(folder: Path, largest: int) -> None:
    """Time edits of each of the largest files, from the change that a client sends to its diagnostics."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "lsp"))
    from editor import session

    async with session(folder) as editor:
        for path in largest_of(folder, largest):
            name, text = path.relative_to(folder).as_posix(), path.read_bytes().decode("utf-8")
            await editor.open(name, text)
            await editor.diagnostics(name)
            times, ends = [], []
            for turn in range(12):
                began = time.perf_counter()
                await editor.change(name, typed_into(text, turn))
                await editor.diagnostics(name)
                times.append((time.perf_counter() - began) * 1000)
                await editor.settled()
                ends.append((time.perf_counter() - began) * 1000)
            await editor.close(name)
            lines = text.count("\n")
            middle = statistics.median(times[2:])
            row = f"{lines:6} lines  median {middle:5.0f} ms, best {min(times[2:]):5.0f} ms"
            every = f"all files checked {statistics.median(ends[2:]):5.0f} ms"
            print(f"{row}, worst {max(times[2:]):5.0f} ms, {every}  {name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--compare", type=int, default=500, help="compare after so many edits")
    parser.add_argument("--state", type=Path, help="where progress is kept")
    parser.add_argument("--latency", action="store_true")
    parser.add_argument("--largest", type=int, default=5, help="how many files --latency edits")
    parser.add_argument("--server", action="store_true", help="send the edits to the language server")
    asked = parser.parse_args()
    if asked.latency and asked.server:
        asyncio.run(latency_in_editor(asked.folder.resolve(), asked.largest))
        return 0
    if asked.latency:
        latency(asked.folder, asked.largest)
        return 0
    state = asked.state and asked.state.resolve()
    given = asked.folder.resolve(), asked.edits, asked.compare, state
    different = asyncio.run(run_server(*given)) if asked.server else run(*given)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
