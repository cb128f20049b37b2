"""Run a script as it is, fix a copy and run that: on the CPU, and on torch_xla's CPU client."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.mirror import MissingMirror
from benchmarks.scripts.cases import CannotPrepare, Script
from benchmarks.scripts.servers import Server
from benchmarks.scripts.verdict import (
    FIRST,
    GOOD,
    Ran,
    are_close,
    cause,
    differences,
    last_line,
    steady,
    verdict_of,
)

XLAMIG = [sys.executable, "-c", "from xlamig.cli import main; main()"]
CHECK = ("check", "--isolated", "--no-cache", "--exit-zero", "--no-effort")
INSTALLED = """
import importlib.metadata as m, sys
for word in sys.argv[1:]:
    name, _, version = word.partition("==")
    try:
        if version and m.version(name) != version: print(word)
    except m.PackageNotFoundError: print(word)
"""


@dataclass(frozen=True, slots=True)
class Bench:
    """How scripts run: in which Python, how many steps, how many seconds at most, and in which folder.

    `quick` leaves out the runs on the CPU of what is fixed.
    """

    python: str
    cpu: Server
    xla: Server
    steps: int
    limit: int
    work: Path
    strategy: str
    mirror: Path | None = None
    quick: bool = False

    def migrate(self, script: Script) -> dict[str, Any]:
        """Return the verdict on one script and what it rests on."""
        result: dict[str, Any] = {"id": script.id, "repo": script.repo, "half": script.half}
        if missing := self._missing(script):
            return {**result, "verdict": "requirement missing", "why": " ".join(missing)}
        shutil.rmtree(self.work / script.id, ignore_errors=True)
        plain_folder = self.work / script.id / "plain"
        try:
            script.lay_out(plain_folder, self.mirror, self.python)
        except (MissingMirror, CannotPrepare) as why:
            return {**result, "verdict": "not set up", "why": str(why)}
        safe_folder, fixed_folder = (self._copy(script, name) for name in ("safe", "fixed"))
        plain = self.run(script, plain_folder, xla=False)
        result["losses"] = len(plain.losses)
        if plain.code != 0:
            return {**result, "verdict": "original fails", "why": last_line(plain)}
        try:
            return {**result, **self._compare(script, plain, plain_folder, safe_folder, fixed_folder)}
        except subprocess.CalledProcessError as failed:
            message = failed.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            why = f"xlamig: exit code {failed.returncode}: {message}"
            return {**result, "verdict": "error", "why": why[:200]}

    def _compare(
        self, script: Script, plain: Ran, plain_folder: Path, safe_folder: Path, fixed_folder: Path
    ) -> dict[str, Any]:
        self.fix(fixed_folder, "--unsafe-fixes")
        ported = self.run(script, fixed_folder, xla=True)
        pair = plain, ported
        if controlled := ported.drawn and ported.code == 0 and not are_close(differences(*pair)):
            pair = (
                self.run(script, plain_folder, xla=False, controlled=True),
                self.run(script, fixed_folder, xla=True, controlled=True),
            )
        difference = differences(*pair)
        verdict = verdict_of(ported, difference, bool(plain.losses))
        result = {
            "verdict": verdict,
            "why": "",
            "difference": difference,
            "controlled": controlled,
            "per step": steady(ported),
        }
        if verdict not in GOOD:
            result["why"] = cause(
                verdict, ported, self.check(fixed_folder), fixed_folder, fixed_folder / script.cwd
            )
        if self.quick or self.strategy == "native":  # native code runs on XLA alone
            return result
        self.fix(safe_folder)
        safe = self.run(script, safe_folder, xla=False)
        portable = self.run(script, fixed_folder, xla=False)
        return result | {
            "safe on the CPU": safe.code == 0 and safe.losses == plain.losses,
            "fixed on the CPU": portable.code == 0 and (differences(plain, portable) or [0.0])[0] <= FIRST,
        }

    def run(self, script: Script, folder: Path, xla: bool, controlled: bool = False) -> Ran:
        """Run the script of a folder and return what the observer wrote down.

        The folder is afterwards what it was before: checkpoints or logs that are there already make some
        scripts resume, others stop.
        """
        out = self.work / "run.json"
        out.unlink(missing_ok=True)
        kept = folder.with_name(f"{folder.name}-kept")
        shutil.copytree(folder, kept, symlinks=True)
        code = (self.xla if xla else self.cpu).run(
            [*shlex.split(script.entry), *script.args, *(script.xla if xla else script.cpu)],
            folder / script.cwd,
            self._environment(script, folder, out, controlled),
            script.limit or self.limit,
        )
        shutil.rmtree(folder, ignore_errors=True)
        kept.replace(folder)
        text = out.read_text() if out.exists() else ""
        return Ran(code, **json.loads(text)) if text else Ran(code)

    def fix(self, folder: Path, *options: str) -> None:
        """Fix what lies in a folder."""
        command = [*XLAMIG, *CHECK, "--strategy", self.strategy, "--fix", *options, "."]
        subprocess.run(command, cwd=folder, capture_output=True, check=True)

    def check(self, folder: Path) -> list[dict[str, Any]]:
        """Return what `check` reports in a folder."""
        command = [*XLAMIG, *CHECK, "--strategy", self.strategy, "--output-format", "json", "."]
        ran = subprocess.run(command, cwd=folder, capture_output=True, check=True)
        found: list[dict[str, Any]] = json.loads(ran.stdout)["findings"]
        return found

    def _copy(self, script: Script, name: str) -> Path:
        to = self.work / script.id / name
        shutil.copytree(self.work / script.id / "plain", to, symlinks=True)
        return to

    def _missing(self, script: Script) -> Sequence[str]:
        if not script.requires:
            return ()
        command = [self.python, "-c", INSTALLED, *script.requires]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    def _environment(self, script: Script, folder: Path, out: Path, controlled: bool) -> dict[str, str]:
        switches = {
            "MIGRATE_CONTROLLED": controlled,
            "MIGRATE_CUDA_AS_CPU": bool(script.cuda) and folder.name != "fixed",
            "MIGRATE_TRUST_DATA": any(kind.startswith("cifar") for kind, _ in script.data),
        }
        return {
            "PYTHONPATH": str(folder), "HOME": str(folder),
            "MPLCONFIGDIR": str(self.work / "matplotlib"), "MPLBACKEND": "Agg", "WANDB_MODE": "disabled",
            "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1",  # scripts older than torch 2.6 load their own data
            "MIGRATE_OUT": str(out), "MIGRATE_STEPS": str(script.steps or self.steps),
            **{name: "1" for name, on in switches.items() if on},
        }  # fmt: skip
