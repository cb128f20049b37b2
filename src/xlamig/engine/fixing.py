"""`--fix`: every file to its fixed point, then all of it written, or shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from xlamig.engine.analyse import analyse
from xlamig.engine.big_stack import on_deep_stack
from xlamig.engine.load import Loaded, LoadJob, load
from xlamig.engine.new_only import narrow
from xlamig.engine.options import Options
from xlamig.engine.program import once_in_program
from xlamig.engine.run import Run
from xlamig.engine.source import Source
from xlamig.findings import Applicability, Create, FileReport, Finding, Report
from xlamig.fix.loop import FixedText, fix_text
from xlamig.fix.soundness import Soundness, parse
from xlamig.fix.write import WriteError, write_files
from xlamig.source.text import SourceText

_PASSES = 4


@dataclass(frozen=True, slots=True)
class FixedFile:
    filename: str
    old: str
    new: str
    applied: Mapping[str, int]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class FixOutcome:
    """`files` are those that change. With `write` they are on disk, but for those in `problems`.
    `stdin` is the code that was given on standard input as it is now."""

    before: Report
    after: Report
    files: tuple[FixedFile, ...] = ()
    created: tuple[FixedFile, ...] = ()
    problems: tuple[str, ...] = ()
    stdin: SourceText | None = None


@dataclass(slots=True)
class _Fixer:
    run: Run
    applicabilities: Collection[Applicability]
    reports: dict[str, FileReport]
    chosen: frozenset[tuple[str, str]] | None  # file and fingerprint, where not all shall be fixed
    loaded: dict[str, Loaded] = field(default_factory=dict)  # of texts that differ

    def fix_all(self) -> dict[str, FixedText]:
        """Every file that has something to fix, again where a fix in another file changed what is safe."""
        fixed: dict[str, FixedText] = {}
        waiting = sorted(self.run.asked)
        for again in range(_PASSES):
            exposed = {name: self.run.program.exposes(self.run.sources[name]) for name in waiting}
            for name in waiting:
                source, known = self.run.sources[name], fixed.get(name)
                if again:
                    now = replace(source.source, text=known.text) if known else source.source
                    self.reports[name] = self._report(source, now)
                if self._has_work(name):
                    result = on_deep_stack(self.fix_one, source, known.text if known else source.source.text)
                    fixed[name] = known.then(result) if known else result
            waiting = [
                n for n, old in exposed.items() if self.run.program.exposes(self.run.sources[n]) != old
            ]
            if not waiting:
                break
        return fixed

    def _has_work(self, name: str) -> bool:
        findings = self.reports[name].findings
        return any(_fixable(f, self.applicabilities) and self.is_chosen(f) for f in findings)

    def fix_one(self, source: Source, text: str) -> FixedText:
        now = replace(source.source, text=text)
        module = parse(text) if now.kind is None else None
        holds = Soundness.of(text, module).holds if module else None
        fixed = fix_text(now, lambda text: self._findings(source, text), self.applicabilities, holds)
        self.reports[source.file.name] = self._report(source, replace(source.source, text=fixed.text))
        return fixed

    def undo(self, source: Source, report: FileReport) -> None:
        """The file stays as it was."""
        self._note(source, source.source.text, source.loaded or Loaded())
        self.reports[source.file.name] = report

    def _findings(self, source: Source, text: SourceText) -> Sequence[Finding]:
        report = self._report(source, text)
        survey = self.run.program.survey
        if any(finding.code in survey.once and _is_shared(finding) for finding in report.findings):
            reports = {**self.reports, report.filename: report}
            reported = once_in_program(reports, survey.once, survey.scripts)
            report = next(r for r in reported if r.filename == report.filename)
        return [finding for finding in report.findings if self.is_chosen(finding)]

    def is_chosen(self, finding: Finding) -> bool:
        return self.chosen is None or (finding.filename, finding.fingerprint) in self.chosen

    def _report(self, source: Source, text: SourceText) -> FileReport:
        if text.text == source.source.text:
            self._note(source, text.text, source.loaded or Loaded())
            if not self.program_changed(source):
                return self.run.reports[source.file.name]
        loaded = load(LoadJob(text.text, source.module, source.is_package, True, text.kind))
        self._note(source, text.text, loaded)
        return analyse(self.run.program.job(source, text, loaded)).report

    def _note(self, source: Source, text: str, loaded: Loaded) -> None:
        self.run.program.survey.note(source.file.name, source.module, text, loaded)
        self.run.program.note_sinks(source, loaded)
        self.loaded[source.file.name] = loaded

    def program_changed(self, source: Source) -> bool:
        """Return whether fixes have changed what rules ask of the program, or what choosing XLA would
        expose."""
        name = source.file.name
        asked = self.run.program.survey.program(source.session.key, name) != self.run.programs[name]
        return asked or self.run.program.exposes(source) != self.run.exposed[name]

    def settle(self, texts: Mapping[str, SourceText]) -> None:
        """Report again on the files whose findings may depend on a program that has changed."""
        changed = {name: source for name, source in self.run.sources.items() if self.program_changed(source)}
        if changed:
            self.reports |= self.run.again(
                {
                    name: (texts.get(name, source.source), self.loaded.get(name) or source.loaded or Loaded())
                    for name, source in changed.items()
                }
            )


def fix(
    paths: Sequence[Path], options: Options, applicabilities: Collection[Applicability], write: bool
) -> FixOutcome:
    """Fix what can be fixed with these grades. Nothing is written without `write`.

    Raises:
        UsageError: as for `check`.
    """
    run = Run(paths, options, around=True)
    before = run.report()
    reports = dict(run.reports)
    shown = narrow(before, paths, options)
    some = options.baseline is not None or options.diff_base is not None
    chosen = frozenset((f.filename, f.fingerprint) for f in shown.findings) if some else None
    fixer = _Fixer(run, applicabilities, dict(reports), chosen)
    problems: list[str] = []
    created: dict[str, str] = {}
    files: list[FixedFile] = []
    texts: dict[str, SourceText] = {}
    for name, fixed in sorted(fixer.fix_all().items()):
        source = run.sources[name]
        if fixed.problem:
            problems.append(f"{name}: {fixed.problem}")
        if fixed.text == source.source.text:
            continue
        new = replace(source.source, text=fixed.text)
        if write and options.stdin is None:
            failure = _write(source, new, fixed.creates)
            if failure is not None:
                problems.append(failure)
                fixer.undo(source, reports[name])
                continue
        texts[name] = new
        created.update(
            (c.filename, c.content) for c in fixed.creates if not Path(c.filename).exists() or write
        )
        files.append(
            FixedFile(name, source.source.content, new.content, Counter(fixed.applied), fixed.problem)
        )
    made = tuple(FixedFile(name, "", content, {}) for name, content in sorted(created.items()))
    fixer.settle(texts)
    survey = run.program.survey
    reported = once_in_program(fixer.reports, survey.once, survey.scripts)
    after = replace(before, files=run.asked_of(reported))
    stdin = next((texts.get(name, s.source) for name, s in run.sources.items() if options.stdin), None)
    return FixOutcome(shown, narrow(after, paths, options), tuple(files), made, tuple(problems), stdin)


def fix_source(run: Run, filename: str, applicabilities: Collection[Applicability]) -> FixedText:
    """A file of a finished run with all fixes of these grades. The run stays as it is."""
    source, report = run.sources[filename], run.reports[filename]
    fixer = _Fixer(run, applicabilities, dict(run.reports), None)
    fixed = on_deep_stack(fixer.fix_one, source, source.source.text)
    fixer.undo(source, report)
    return fixed


def _is_shared(finding: Finding) -> bool:
    """Return whether other places decide if the finding is fixed here: not for a call, nor without a fix."""
    alone = finding.effort.unit == "dependency" and not finding.dependency
    return finding.fix is not None and bool(finding.fix.edits) and not alone


def _fixable(finding: Finding, applicabilities: Collection[Applicability]) -> bool:
    return finding.fix is not None and finding.fix.applicability in applicabilities


def _write(source: Source, new: SourceText, creates: Sequence[Create]) -> str | None:
    """One file and what it needs, all or nothing; a line about it on failure."""
    try:
        write_files(
            {source.file.path: new.encode()},
            {Path(create.filename): create.content.encode() for create in creates},
        )
    except WriteError as error:
        return str(error)
    return None
