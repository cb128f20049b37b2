"""The tools of an agent: functions from plain values to a JSON object."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from xlamig import engine
from xlamig.effort.estimate import estimate
from xlamig.engine import Options
from xlamig.findings import SEVERITIES, Applicability, Finding, Report
from xlamig.mcp import answers, command
from xlamig.mcp.roots import Refused, Roots
from xlamig.report.plan_tasks import tasks
from xlamig.report.together import together
from xlamig.rulebook.load import load
from xlamig.rulebook.rule import Rule

_SECONDS = 600.0


class Tools:
    """Its public methods are the tools; their docstrings tell the agent what they are for."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots

    @property
    def all(self) -> Sequence[Callable[..., dict[str, Any]]]:
        return (self.check, self.explain, self.ops, self.plan, self.fix, self.trace, self.verify, self.fit)

    def check(
        self,
        path: str = ".",
        code: str = "",
        severity: Literal["error", "warning", "info"] = "info",
        offset: int = 0,
        limit: int = 20,
    ) -> dict[str, Any]:
        """Find what in PyTorch code is unfriendly to XLA and TPUs, below a file or folder. `code` keeps
        the findings of one rule, `severity` those at least that serious."""
        where = self._roots.path(path)
        shown = SEVERITIES[: SEVERITIES.index(severity) + 1]
        report = self._report(where, lambda found: found.severity in shown and code in ("", found.code))
        skipped = [f"{file.filename}: {file.reason}" for file in report.skipped][:20]
        given = [answers.finding(finding) for finding in report.findings]
        return answers.page("findings", given, offset, limit, target=report.target, files_skipped=skipped)

    def explain(self, rule: str) -> dict[str, Any]:
        """The page of a rule, by code (XLA101) or name: what it finds, why it matters on a TPU, what to
        write instead, and the measurements it rests on."""
        found = self._rule(rule)
        sections = {title: answers.cut(text) for title, text in found.sections.items()}
        grades = sorted({fix.applicability for fix in found.fixes})
        return {
            "code": found.code,
            "name": found.name,
            "url": found.url,
            "fixes": grades,
            "sections": sections,
        }

    def ops(self, names: list[str]) -> dict[str, Any]:
        """Look up PyTorch operators on torch_xla and torch_tpu, as measured: supported, run on the CPU,
        recompiled or failing, and what to write instead. A name is spelled as in code (torch.median, F.mish)
        or is a glob (torch.linalg.*)."""
        asked = command.words(names)
        if not asked:
            raise Refused("names is empty: give at least one operator")
        return command.run(["ops", "--output-format", "json", *asked], self._roots.folders[0], _SECONDS)

    def plan(self, path: str = ".", offset: int = 0, limit: int = 10) -> dict[str, Any]:
        """Estimate a migration, and list its tasks in order: what to do, where, why, what comes first and
        the command that proves it done."""
        where = self._roots.path(path)
        report = self._report(where)
        settings = engine.show_settings(where, Options()).effort
        made = estimate(report, settings)
        given = [asdict(task) for task in tasks(made, report)]
        for task in given:
            task["filenames"] = task["filenames"][:20]
        hours = {"low": made.hours.low, "likely": made.hours.likely, "high": made.hours.high}
        return answers.page(
            "tasks", given, offset, limit, verdict=made.verdict, hours=hours, uncalibrated=True
        )

    def fix(
        self,
        path: str,
        grade: Literal["safe", "unsafe"] = "safe",
        apply: bool = False,
    ) -> dict[str, Any]:
        """Show the fixes of a file or folder as a diff; with `apply`, write them. Unsafe fixes may change
        what the program means; `grade` "unsafe" does these and the safe ones."""
        where = self._roots.path(path)
        if apply:
            self._roots.require_writable("fix with apply")
        grades: frozenset[Applicability] = frozenset({"safe", "unsafe"} if grade == "unsafe" else {"safe"})
        outcome = engine.fix([where], Options(whole=False), grades, write=False)
        changed = [*outcome.files, *outcome.created]
        for file in changed:
            if not self._roots.holds(Path(file.filename)):
                raise Refused(f"{file.filename} is a link to a file outside the roots of this server")
        if apply and changed:
            outcome = engine.fix([where], Options(whole=False), grades, write=True)
            changed = [*outcome.files, *outcome.created]
        diffs = [_diff(file.filename, file.old, file.new) for file in changed]
        applied = {file.filename: dict(file.applied) for file in outcome.files}
        shown = answers.page("diffs", diffs, 0, 100, written=apply, applied=applied)
        return shown | {"problems": list(outcome.problems)}

    def trace(self, program: str, arguments: list[str] | None = None, steps: int = 12) -> dict[str, Any]:
        """Run a Python program on torch_xla and report by line what was read, compiled again or run on
        the CPU. It executes the program, so it needs a server with --allow-write."""
        options = ["--output-format", "json", "--steps", str(max(1, steps))]
        return self._execute("trace", options, program, arguments)

    def verify(self, program: str, arguments: list[str] | None = None, steps: int = 12) -> dict[str, Any]:
        """Run a ported training program on torch_xla and check that it uses XLA, trains and runs each
        step as one graph. It executes the program, so it needs a server with --allow-write."""
        return self._execute("verify", ["--steps", str(max(4, steps))], program, arguments)

    def fit(self, program: str, arguments: list[str] | None = None) -> dict[str, Any]:
        """Tell whether a training program fits into a TPU's memory. It executes the program, so it needs a
        server with --allow-write."""
        return self._execute("fit", [], program, arguments)

    def _execute(
        self, name: str, options: Sequence[str], program: str, arguments: Sequence[str] | None
    ) -> dict[str, Any]:
        self._roots.require_writable(name)
        path = self._roots.path(program)
        if not path.is_file():
            raise Refused(f"{program} is not a file")
        given = [name, *options, str(path), *(arguments or ())]
        return command.run(given, self._roots.folders[0], _SECONDS)

    def _rule(self, code_or_name: str) -> Rule:
        settings = engine.show_settings(self._roots.folders[0], Options())
        return load(settings).rule(code_or_name)

    def _report(self, where: Path, asked: Callable[[Finding], bool] = lambda found: True) -> Report:
        """Return the findings below a path that are asked for, one for each of their jobs."""
        report = self._roots.check(where)
        files = (file for file in report.files if self._is_inside(file.filename, where))
        kept = (replace(file, findings=tuple(filter(asked, file.findings))) for file in files)
        return together(replace(report, files=tuple(kept)))

    def _is_inside(self, filename: str, where: Path) -> bool:
        path = self._roots.folders[0] / filename
        return path.resolve().is_relative_to(where.resolve()) and self._roots.holds(path)


def _diff(name: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), f"a/{name}", f"b/{name}", lineterm="")
    return answers.cut("\n".join(lines), 8_000)
