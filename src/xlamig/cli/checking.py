"""Run `check`: call the engine, write the findings, summarise the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlamig.cli import exits
from xlamig.cli.output import Output, progress
from xlamig.findings import Applicability, Report
from xlamig.report import FOR_PEOPLE, blocks, jobs, render, statistics
from xlamig.report.changes import applied_fixes, diff, remaining_findings
from xlamig.report.numbers import number
from xlamig.report.order import Sort
from xlamig.report.screen import screenful
from xlamig.report.summary import effort_line, over_budget, summary, troubles
from xlamig.report.together import together

if TYPE_CHECKING:
    from xlamig.config.settings import Settings
    from xlamig.engine import Options
    from xlamig.engine.fixing import FixOutcome

TextOf = Callable[[str], str | None]
NOTHING = "Warning: no file to check under the given paths"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The flags of `check` that are not settings."""

    fix: bool
    unsafe_fixes: bool
    diff: bool
    fix_only: bool
    show_fixes: bool
    exit_zero: bool
    exit_non_zero_on_fix: bool
    max_effort: float | None
    no_effort: bool
    statistics: bool
    output_format: str
    hook: bool
    update_baseline: bool
    add_ignore: bool
    ignore_reason: str
    trace: Path | None
    sort: Sort
    every: bool

    @property
    def fixes(self) -> bool:
        return self.fix or self.fix_only or self.diff


@dataclass(frozen=True, slots=True)
class Checking:
    """One run of `check`."""

    paths: Sequence[Path]
    options: Options
    wanted: Wanted
    out: Output

    def run(self) -> int:
        """The exit code; everything else has been written."""
        wanted = self.wanted
        if wanted.update_baseline or wanted.add_ignore:
            return self._put_aside()
        code = self._fix() if wanted.fixes else self._check()
        return exits.CLEAN if wanted.exit_zero and code == exits.FOUND else code

    def _check(self) -> int:
        from xlamig import engine

        with progress(self.out.flags) as tick:
            report = engine.check(self.paths, replace(self.options, progress=tick))
        return self._tell(report, engine.text_of(self.options))

    def _compare_with_trace(self, report: Report) -> tuple[Report, list[str]]:
        """With what a run showed of each finding, and what it showed besides."""
        if self.wanted.trace is None:
            return report, []
        from xlamig.observe import merge

        return merge.merge(report, merge.read(self.wanted.trace))

    def _put_aside(self) -> int:
        """Write down what is found as known, in a baseline or in comments."""
        from xlamig import engine

        wanted = self.wanted
        if wanted.fixes or (wanted.update_baseline and wanted.add_ignore) or self.options.stdin is not None:
            raise click.UsageError("--update-baseline and --add-ignore need files, and no other task.")
        with progress(self.out.flags) as tick:
            options = replace(self.options, progress=tick)
            if wanted.update_baseline:
                entries, new, gone = engine.update_baseline(self.paths, options)
                known = number(entries, "known problem")
                self.out.note(f"Wrote {options.baseline} with {known} ({new} new, {gone} gone).")
                return exits.CLEAN
            ignored = engine.add_ignores(self.paths, options, wanted.ignore_reason)
        files = number(ignored.files, "file")
        self.out.note(f"Wrote comments for {number(ignored.findings, 'problem')} in {files}.")
        if ignored.left:
            self.out.complain(f"{number(ignored.left, 'problem')} could not get a comment.")
        return exits.FOUND if ignored.left else exits.CLEAN

    def _fix(self) -> int:
        from xlamig import engine

        wanted = self.wanted
        grades: tuple[Applicability, ...] = ("safe", "unsafe") if wanted.unsafe_fixes else ("safe",)
        with progress(self.out.flags) as tick:
            options = replace(self.options, progress=tick)
            outcome = engine.fix(self.paths, options, frozenset(grades), write=not wanted.diff)
        code = self._changes(outcome)
        if wanted.diff or wanted.fix_only:
            self.out.complain(*troubles(outcome.after))
            return max(code, exits.FAILED if outcome.after.rule_errors else exits.CLEAN)
        fixed = sum(sum(file.applied.values()) for file in outcome.files)
        stdin = outcome.stdin
        text_of = (lambda name: stdin.text) if stdin is not None else engine.text_of(options)
        return max(code, self._tell(outcome.after, text_of, fixed))

    def _changes(self, outcome: FixOutcome) -> int:
        """Write or show what fixes did."""
        wanted, out = self.wanted, self.out
        changed = [file for file in outcome.files if file.old != file.new]
        created = [file.filename for file in outcome.created]
        if wanted.diff:
            out.write(
                (diff(file.filename, file.old, file.new) for file in (*changed, *outcome.created)), end=""
            )
            out.note(*(f"Would create {name}" for name in created))
            out.note(f"Would change {number(len(changed), 'file')}.")
        elif outcome.stdin is not None:
            click.echo(outcome.stdin.content, nl=False)  # stays on stdout with --output-file
            out.note(*(f"The fixed code needs {name}, which fixing the file writes" for name in created))
        else:
            out.note(*(f"Created {name}: add it to the commit" for name in created))
        if wanted.show_fixes:
            by_file = {file.filename: file.applied for file in outcome.files}
            out.note(*applied_fixes(by_file))
            by_rule = sum((Counter(codes) for codes in by_file.values()), Counter[str]())
            out.note(*remaining_findings(outcome.after, by_rule, wanted.unsafe_fixes))
        out.complain(*outcome.problems)
        if outcome.problems:
            return exits.FAILED
        asked = wanted.diff or wanted.exit_non_zero_on_fix
        return exits.FOUND if asked and (changed or created) else exits.CLEAN

    def _tell(self, report: Report, text_of: TextOf, fixed: int = 0) -> int:
        """Findings, then the summary."""
        from xlamig import engine
        from xlamig.config.versions import unmeasured

        report, unpredicted = self._compare_with_trace(report)
        report = together(report)
        settings = engine.show_settings(self.paths[0], self.options)
        if self.wanted.hook:
            report = exits.failing(report, settings.fail_on)
        if warning := unmeasured(settings):
            self.out.note(warning)
        for selector in engine.previews(self.paths[0], self.options):
            self.out.note(f'Warning: "{selector}" selects preview rules only, and these run with --preview')
        self.out.detail(f"Configuration: {settings.source or 'none, all defaults'}")
        self._findings(report, text_of)
        if unpredicted:
            self.out.note("Observed, and not predicted:", *(f"  {line}" for line in unpredicted), "")
        if report.files:
            for_people = not self.wanted.hook and self.wanted.output_format in FOR_PEOPLE
            self.out.note(*summary(report, self.wanted.unsafe_fixes, fixed, for_people))
            if for_people:
                self.out.note(*jobs.lines(report, self._command))
        elif not self.wanted.hook:
            self.out.note(NOTHING)
        return max(exits.of_report(report, settings.fail_on), self._effort(report, settings))

    @property
    def _command(self) -> str:
        return f"xlamig check {' '.join(map(str, self.paths))}"

    def _findings(self, report: Report, text_of: TextOf) -> None:
        wanted = self.wanted
        context = replace(
            self.out.context(text_of, wanted.unsafe_fixes), sort=wanted.sort, every=wanted.every
        )
        name, rows = wanted.output_format, None if wanted.every else self.out.rows
        if wanted.statistics:
            lines = statistics.render(name, report, context)
        elif rows is not None and name in FOR_PEOPLE:
            lines = screenful(blocks(name, report, context), rows, self._command)
        else:
            lines = render(name, report, context)
        if wanted.fix and self.options.stdin is not None and self.out.flags.output_file is None:
            self.out.complain(*lines)  # stdout holds the fixed code
        else:
            self.out.write(lines)

    def _effort(self, report: Report, settings: Settings) -> int:
        wanted = self.wanted
        shown = not (wanted.no_effort or wanted.hook) and bool(report.findings)
        if not shown and wanted.max_effort is None:
            return exits.CLEAN
        from xlamig.effort.hours import hours_of

        hours = hours_of(report, settings.effort)
        if shown:
            self.out.note(effort_line(hours, settings.effort.hours_per_day, len(report.unread)))
        if wanted.max_effort is None or hours.likely <= wanted.max_effort:
            return exits.CLEAN
        self.out.complain(over_budget(hours, wanted.max_effort))
        return exits.FOUND
