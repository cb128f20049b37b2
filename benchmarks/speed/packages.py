"""Measure a check against parsing alone and against TorchFix, on published packages.

All contenders run in turn, round after round, so that a busy machine disturbs them alike.
The figures to compare are CPU seconds (user + system) of whole processes and their ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median

PACKAGES = (
    "timm==1.0.20",
    "accelerate==1.10.1",
    "ultralytics==8.3.200",
    "transformers==4.56.2:transformers/models",
)
TORCHFIX = "torchfix==0.7.0"
RULES = Path(__file__).parents[2] / "rules"
NAME_FACTS = {"api-use", "package", "environment", "tool"}

CHECK = ("check", "--isolated", "-j1", "--output-format", "json")
RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from xlamig.cli import main; main()"

PARSE = """
import pathlib, sys, libcst
for path in pathlib.Path(sys.argv[1]).rglob("*.py"):
    try:
        libcst.parse_module(path.read_bytes())
    except libcst.ParserSyntaxError:
        pass
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one process and the children it waited for. `peak` is the largest resident set, in MB."""

    cpu: float
    wall: float
    peak: float


def measure(command: Sequence[str | Path], cwd: Path, accept: Sequence[int] = (0,)) -> Cost:
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in accept:
            errors.seek(0)
            tail = errors.read()[-2000:].decode(errors="replace")
            sys.exit(f"{' '.join(map(str, command))}\nexit code {process.returncode}\n{tail}")
    kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return Cost(usage.ru_utime + usage.ru_stime, wall, kilobytes / 1024)


def unpack(spec: str, cache: Path) -> Path:
    """The folder with the Python files of `name==version[:folder]`, fetched from PyPI once."""
    requirement, _, folder = spec.partition(":")
    target = cache / "source" / requirement
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=cache) as temporary:
            download = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
            subprocess.run([*download, "-d", temporary, requirement], check=True)
            (wheel,) = Path(temporary).glob("*.whl")
            unpacked = Path(temporary) / "unpacked"
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(unpacked, [n for n in archive.namelist() if n.endswith(".py")])
            target.parent.mkdir(exist_ok=True)
            unpacked.rename(target)
    return target / folder


def torchfix(cache: Path) -> Path:
    """The program, in an environment of its own: it pins an older LibCST."""
    environment = cache / TORCHFIX
    program = environment / "bin" / "torchfix"
    if not program.exists():
        venv.create(environment, with_pip=True, clear=True)
        subprocess.run([environment / "bin" / "pip", "install", "-q", TORCHFIX], check=True)
    return program


def smaller_book(folder: Path, count: int) -> Path:
    """A copy of xlamig with `count` rules, evenly drawn, and the tables that they name."""
    shutil.copytree(RULES.parent / "src", folder / "src")
    pages = sorted(RULES.rglob("XLA*.md"), key=lambda page: page.name)
    kept = [pages[i * len(pages) // count] for i in range(count)]
    named = set(re.findall(r'"([\w-]+)"', "\n".join(page.read_text().split("+++")[1] for page in kept)))
    codes = {page.name.split("-")[0] for page in kept}
    for path in (*kept, *(path for path in RULES.rglob("*.toml") if path.stem in named)):
        copy = folder / path.relative_to(RULES.parent)
        copy.parent.mkdir(parents=True, exist_ok=True)
        lines = _GATHER.sub("", path.read_text()).splitlines(keepends=True)
        copy.write_text("".join(line for line in lines if not _of_others(line, codes)))
    return folder / "src"


_GATHER = re.compile(r"\[\[(?:gather|relate)\]\]\n(?:\w[^\n]*\n)+")  # what a rule says of others


def _of_others(line: str, codes: set[str]) -> bool:
    """Return whether this says that the rule comes before one that is not in the book."""
    return line.startswith("supersedes") and not set(re.findall(r"XLA\d+", line)) <= codes


def contenders(
    source: Path, warm_cache: Path, torchfix_program: Path | None, select: str
) -> dict[str, list[str | Path]]:
    xlamig = shutil.which("xlamig", path=Path(sys.executable).parent) or sys.exit("xlamig is not installed")
    check: list[str | Path] = [xlamig, *CHECK, "--select", select]
    rows: dict[str, list[str | Path]] = {
        "libcst parse": [sys.executable, "-c", PARSE, source],
        "xlamig, cold": [*check, "--no-cache", source],
        "xlamig, unchanged": [*check, "--cache-dir", warm_cache, source],
    }
    if torchfix_program:
        rows["TorchFix"] = [torchfix_program, "--select=ALL", "-j1", source]
    return rows


def rounds(commands: Mapping[str, Sequence[str | Path]], count: int, cwd: Path) -> dict[str, list[Cost]]:
    """The costs of every command, each round running all of them once."""
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(count):
        for name, command in commands.items():
            costs[name].append(measure(command, cwd, accept=(0, 1)))
    return costs


def against(costs: Mapping[str, list[Cost]], name: str, other: str) -> float:
    """How many times the CPU of `other` `name` took, compared round by round."""
    return median(a.cpu / b.cpu for a, b in zip(costs[name], costs[other], strict=True))


def report(title: str, costs: Mapping[str, list[Cost]], baseline: str) -> dict[str, object]:
    print(f"\n{title}\n{'':<20}{'CPU s':>9}{'wall s':>9}{'peak MB':>9}{'x ' + baseline:>16}")
    rows: dict[str, object] = {}
    for name, runs in costs.items():
        cpu, wall, peak = (median(getattr(cost, field) for cost in runs) for field in ("cpu", "wall", "peak"))
        ratio = against(costs, name, baseline)
        print(f"{name:<20}{cpu:>9.2f}{wall:>9.2f}{peak:>9.0f}{ratio:>16.2f}", flush=True)
        rows[name] = {
            "cpu": round(cpu, 3),
            "wall": round(wall, 3),
            "peak_mb": round(peak),
            "ratio": round(ratio, 3),
        }
    return rows


def name_rules() -> Iterator[str]:
    """Codes of the rules for which it is enough to know what a name stands for."""
    for page in sorted(RULES.rglob("XLA*.md")):
        rule = tomllib.loads(page.read_text(encoding="utf-8").split("+++")[1])
        if {match["fact"] for match in rule.get("match", ())} <= NAME_FACTS:
            yield rule["code"]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    default_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xlamig-benchmarks"
    parser.add_argument("--packages", nargs="+", default=PACKAGES, metavar="NAME==VERSION[:FOLDER]")
    parser.add_argument("--source", type=Path, help="a folder to measure on instead of packages")
    parser.add_argument("--runs", type=int, default=5, help="rounds, of which the median counts (default 5)")
    parser.add_argument("--no-torchfix", action="store_true")
    parser.add_argument(
        "--only-names", action="store_true", help="only rules about names, packages and variables"
    )
    parser.add_argument(
        "--few", type=int, default=20, metavar="N", help="rules of a smaller book (default 20)"
    )
    parser.add_argument(
        "--cache", type=Path, default=default_cache, help=f"downloads (default {default_cache})"
    )
    return parser.parse_args()


def main() -> None:
    args = options()
    args.cache.mkdir(parents=True, exist_ok=True)
    program = None if args.no_torchfix else torchfix(args.cache)
    sources = (
        {str(args.source): args.source.resolve()}
        if args.source
        else {s: unpack(s, args.cache) for s in args.packages}
    )
    select = ",".join(name_rules()) if args.only_names else "ALL"

    result: dict[str, object] = {
        "versions": {name: version(name) for name in ("xlamig", "libcst")}
        | {"python": platform.python_version()},
        "torchfix": program and TORCHFIX,
        "select": select,
        "runs": args.runs,
    }
    with tempfile.TemporaryDirectory() as empty:
        start: dict[str, list[str | Path]] = {
            "python": [sys.executable, "-c", "pass"],
            "import xlamig.cli": [sys.executable, "-c", "import xlamig.cli"],
        }
        result["start"] = report("start", rounds(start, args.runs, Path(empty)), "python")
        for name, source in sources.items():
            files = list(source.rglob("*.py"))
            lines = sum(path.read_bytes().count(b"\n") for path in files)
            with tempfile.TemporaryDirectory() as warm_cache, tempfile.TemporaryDirectory() as few:
                commands = contenders(source, Path(warm_cache), program, select)
                books = {"few": smaller_book(Path(few), args.few), "all": RULES.parent / "src"}
                for title, book in books.items():
                    commands[f"cold, {title} rules"] = [sys.executable, "-c", RUN, book, *CHECK, "-n", source]
                measure(commands["xlamig, unchanged"], Path(empty), accept=(0, 1))
                costs = rounds(commands, args.runs, Path(empty))
            rows = report(f"{name}: {len(files)} files, {lines} lines", costs, "libcst parse")
            result[name] = {"files": len(files), "lines": lines} | rows
            times = against(costs, "cold, all rules", "cold, few rules")
            print(f"{f'all rules / {args.few} rules, cold':<47}{times:>16.2f}")
            if program:
                times = against(costs, "TorchFix", "xlamig, cold")
                print(f"{'TorchFix / xlamig, cold':<47}{times:>16.2f}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
