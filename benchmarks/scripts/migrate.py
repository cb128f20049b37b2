"""Real GPU training scripts, migrated by `xlamig check --fix --unsafe-fixes` and run untouched by hand.

Each script runs seeded for a few steps: as it is on the CPU; after `--fix` alone on the CPU; after
`--fix --unsafe-fixes` on torch_xla's CPU client and, unless the strategy is native, on the CPU. Compared are
the losses handed to `backward()`, and what XLA did per step. Where random numbers were drawn on the device or
autocast computed in bfloat16 there, losses are compared between two more runs with dropout and autocast off
and noise from the CPU's generator on both sides.

Scripts are files, or entries of a manifest, a JSON list of objects: `id`, `folder` (relative to the manifest;
copied as a whole), `entry`, and optionally `cwd` (in the folder), `args`, `cpu_args` (of the original),
`gpu_args` (of the migrated), `steps`. Nothing is fetched, and nothing outside a temporary folder is written.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.programs.accuracy import programs_of

HERE = Path(__file__).parent
XLAMIG = [sys.executable, "-c", "from xlamig.cli import main; main()"]
COMPARED = 3  # losses; later ones drift apart by rounding alone
FIRST, EARLY = 1e-4, 2e-2  # relative difference allowed of the first loss, and of the others compared
OK = "migrated"


@dataclass(frozen=True)
class Script:
    id: str
    folder: Path
    entry: str
    single: bool = False  # the entry alone is copied
    cwd: str = "."
    args: tuple[str, ...] = ()
    cpu_args: tuple[str, ...] = ()
    gpu_args: tuple[str, ...] = ()
    steps: int | None = None

    def copy(self, to: Path) -> Path:
        if self.single:
            to.mkdir(parents=True)
            shutil.copy(self.folder / self.entry, to)
        else:
            shutil.copytree(self.folder, to, symlinks=True)
        return to


@dataclass
class Ran:
    """`code` is None for a run that took too long."""

    code: int | None
    losses: list[float] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    steps: list[dict[str, float]] = field(default_factory=list)
    totals: dict[str, float] = field(default_factory=dict)
    drawn: bool = False
    error: dict[str, Any] | None = None


class Bench:
    def __init__(self, python: str, steps: int, limit: float, work: Path, strategy: str) -> None:
        self.python, self.steps, self.limit, self.work, self.strategy = python, steps, limit, work, strategy

    def run(
        self, script: Script, folder: Path, args: Sequence[str], xla: bool, controlled: bool = False
    ) -> Ran:
        out = self.work / "run.json"
        out.unlink(missing_ok=True)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("XLA_", "PJRT_", "XLAMIG_"))}
        environment = {
            **kept,
            "PYTHONPATH": os.pathsep.join((str(HERE / "site"), str(folder))),
            "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg", "WANDB_MODE": "disabled",
            "MIGRATE_OUT": str(out), "MIGRATE_STEPS": str(script.steps or self.steps),
            **({"PJRT_DEVICE": "CPU"} if xla else {}),
            **({"MIGRATE_CONTROLLED": "1"} if controlled else {}),
        }  # fmt: skip
        cwd = folder / script.cwd
        command = [self.python, script.entry, *script.args, *args]
        try:
            done = subprocess.run(
                command,
                cwd=cwd,
                env=environment,
                capture_output=True,
                timeout=self.limit,
                stdin=subprocess.DEVNULL,
            )
            code: int | None = done.returncode
        except subprocess.TimeoutExpired:
            code = None
        text = out.read_text() if out.exists() else ""
        return Ran(code, **json.loads(text)) if text else Ran(code)

    def fix(self, folder: Path, *options: str) -> dict[str, Any]:
        """Fixes what lies in the folder; what `check` still says of it."""
        check = [*XLAMIG, "check", "--isolated", "--no-cache", "--exit-zero", "--strategy", self.strategy]
        subprocess.run([*check, "--fix", *options, "."], cwd=folder, capture_output=True, check=True)
        left = subprocess.run(
            [*check, "--output-format", "json", "."], cwd=folder, capture_output=True, check=True
        )
        found: dict[str, Any] = json.loads(left.stdout)
        return found

    def migrate(self, script: Script) -> dict[str, Any]:
        base = self.work / script.id
        plain = self.run(script, script.copy(base / "plain"), script.cpu_args, xla=False)
        result: dict[str, Any] = {"id": script.id, "losses": len(plain.losses)}
        if plain.code != 0:
            return {**result, "verdict": "original fails", "why": _last(plain)}
        native = self.strategy == "native"  # such code runs on XLA alone
        safe, portable = None, None
        if not native:
            self.fix(script.copy(base / "safe"))
            safe = self.run(script, base / "safe", script.cpu_args, xla=False)
        folder = script.copy(base / "fixed")
        left = self.fix(folder, "--unsafe-fixes")["findings"]
        ported = self.run(script, folder, script.gpu_args, xla=True)
        if not native:
            portable = self.run(script, folder, script.cpu_args, xla=False)
        pair = plain, ported
        if ported.drawn and ported.code == 0:
            pair = (
                self.run(script, base / "plain", script.cpu_args, xla=False, controlled=True),
                self.run(script, folder, script.gpu_args, xla=True, controlled=True),
            )
        difference = _difference(*pair)
        verdict = _verdict(ported, difference, bool(plain.losses))
        return {
            **result,
            "verdict": verdict,
            "why": ""
            if verdict in (OK, "runs")
            else _why(verdict, ported, left, folder, folder / script.cwd),
            "difference": difference,
            "controlled": ported.drawn,
            "per step": _steady(ported),
            "safe on the CPU": safe and safe.code == 0 and safe.losses == plain.losses,
            "fixed on the CPU": portable
            and portable.code == 0
            and (_difference(plain, portable) or [0.0])[0] <= FIRST,
            "left": dict(Counter(f["code"] for f in left if f["severity"] != "info")),
        }


def _difference(one: Ran, other: Ran) -> list[float] | None:
    """Relative differences of the first losses; None if there is nothing to compare."""
    pairs = list(zip(one.losses, other.losses, strict=False))[:COMPARED]
    return [
        abs(a - b) / max(abs(a), abs(b), 1e-3) if math.isfinite(a) and math.isfinite(b) else math.inf
        for a, b in pairs
    ] or None


def _steady(ran: Ran) -> dict[str, float] | None:
    """Medians over the last third of the steps: an epoch's end compiles something of its own, once."""
    steps = [s for s in ran.steps if s]
    late = steps[-max(4, len(steps) // 3) :]
    if len(late) < 3:
        return None
    return {k: median(b[k] - a[k] for a, b in pairwise(late)) for k in late[0]}


def _verdict(ran: Ran, difference: list[float] | None, trains: bool) -> str:
    """A program that does not train has no losses to compare: what it computes is not looked at."""
    if ran.code is None:
        return "timeout"
    if ran.code != 0:
        return "error"
    if not ran.totals.get("executions"):
        return "never runs" if "xla" in ran.devices else "not on XLA"
    if not trains:
        return "runs"
    if difference is None or difference[0] > FIRST or max(difference) > EARLY:
        return "other losses"
    steady = _steady(ran)
    return "recompiles" if steady and steady["compiles"] > 0 else OK


def _why(verdict: str, ran: Ran, left: list[dict[str, Any]], folder: Path, cwd: Path) -> str:
    """The error, and the rules that speak of its line, else of errors; or those whose mechanism it is."""
    if verdict == "error":
        frames = {((cwd / name).resolve(), row) for name, row in (ran.error or {}).get("frames", ())}
        codes = [
            f["code"] for f in left if ((folder / f["filename"]).resolve(), f["location"]["row"]) in frames
        ]
        codes = codes or [f["code"] for f in left if f["mechanism"] == "error" and f["severity"] == "error"]
    else:
        mechanisms = {"recompiles": ("recompile",), "timeout": ("recompile", "slow", "cpu-fallback")}
        wanted = mechanisms.get(verdict, ("wrong-result", "slow", "error"))
        codes = [f["code"] for f in left if f["mechanism"] in wanted and f["severity"] != "info"]
    rules = ", ".join(dict.fromkeys(codes)) or "no rule"
    return f"{rules}: {_last(ran)}" if verdict == "error" else rules


def _last(ran: Ran) -> str:
    if ran.error:
        return f"{ran.error['type']}: {ran.error['message'].splitlines()[0] if ran.error['message'] else ''}"[
            :120
        ]
    return "too slow" if ran.code is None else f"exit code {ran.code}, {len(ran.losses)} losses"


def scripts(paths: Sequence[Path], manifest: Path | None) -> Iterator[Script]:
    for path in paths:
        yield Script(path.stem, path.parent, path.name, single=True)
    for entry in json.loads(manifest.read_text()) if manifest else ():
        texts = {k: tuple(entry[k]) for k in ("args", "cpu_args", "gpu_args") if k in entry}
        rest = {k: entry[k] for k in ("cwd", "steps") if k in entry}
        assert manifest is not None
        yield Script(entry["id"], manifest.parent / entry["folder"], entry["entry"], **texts, **rest)


def _line(result: dict[str, Any]) -> str:
    steady = result.get("per step")
    costs = "/".join(f"{steady[k]:g}" for k in ("compiles", "executions", "reads")) if steady else "-"
    worst = f"{max(result['difference']):.1e}" if result.get("difference") else "-"
    asked = (result.get(k) for k in ("safe on the CPU", "fixed on the CPU"))
    cpu = "".join("-" if said is None else "y" if said else "n" for said in asked)
    worst += "*" if result.get("controlled") else ""
    told = f"{result['id']:28} {result['verdict']:14} {costs:>9} {worst:>9}  {cpu:4}"
    return f"{told} {result.get('why', '')}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scripts", nargs="*", type=Path)
    parser.add_argument("--manifest", type=Path)
    parser.add_argument("--python", default=sys.executable, help="one with torch and torch_xla")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--strategy", choices=("portable", "native"), default="portable")
    parser.add_argument("--limit", type=float, default=150, help="seconds per run")
    parser.add_argument("--keep", type=Path, help="a folder for the copies, to look at them")
    args = parser.parse_args()
    chosen = args.scripts
    if not chosen and not args.manifest:
        chosen = programs_of("developed-on")
    print(
        "compilations/executions/reads per step; worst of the first losses (*: without chance and autocast);"
    )
    print("CPU: losses unchanged by --fix, by --fix --unsafe-fixes")
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        work = args.keep or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        python = shutil.which(args.python) or args.python
        bench = Bench(str(Path(python).absolute()), args.steps, args.limit, work.resolve(), args.strategy)
        for script in scripts([p.resolve() for p in chosen], args.manifest and args.manifest.resolve()):
            results.append(bench.migrate(script))
            print(_line(results[-1]), flush=True)
    verdicts = Counter(r["verdict"] for r in results)
    ran = [r for r in results if r["verdict"] != "original fails"]
    print(json.dumps({
        "scripts": len(results), "verdicts": verdicts,
        "unchanged by safe fixes": sum(bool(r["safe on the CPU"]) for r in ran),
        "portable": sum(bool(r["fixed on the CPU"]) for r in ran), "results": results,
    }))  # fmt: skip


if __name__ == "__main__":
    main()
