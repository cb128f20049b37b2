"""`--fix`: every file to its fixed point, and all of them again until none changes; then they are written."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from xlamig.config.paths import absolute
from xlamig.engine.analyse import analyse
from xlamig.engine.big_stack import on_deep_stack
from xlamig.engine.found import files_of
from xlamig.engine.load import Loaded
from xlamig.engine.loader import entries_of, load_text
from xlamig.engine.memory import Memory
from xlamig.engine.new_only import narrow
from xlamig.engine.options import Options
from xlamig.engine.program import once_in_program
from xlamig.engine.run import Run
from xlamig.engine.source import Source
from xlamig.engine.step_ends import ends_step, is_of_loop
from xlamig.findings import Applicability, Create, FileReport, Finding, Report
from xlamig.fix.loop import FixedText, fix_text, restless_problem
from xlamig.fix.soundness import Soundness, parse
from xlamig.fix.write import WriteError, write_files
from xlamig.source.files import Discovery, SourceFile
from xlamig.source.text import SourceText

_RUNS = 8


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
    """Fixes the files of one run, each alone: what a fix changes for the files before it, the next run sees.
    Only findings in `chosen` (file and fingerprint), and not of the codes `left_out`, are fixed."""

    run: Run
    applicabilities: Collection[Applicability]
    reports: dict[str, FileReport]
    chosen: frozenset[tuple[str, str]] | None = None
    left_out: frozenset[str] = frozenset()
    ending: frozenset[str] = frozenset()  # files whose functions are to end the step themselves
    loaded: dict[str, tuple[str, Loaded]] = field(default_factory=dict)  # by file: its last text, by its key
    _last: dict[tuple[str, str], FileReport] = field(default_factory=dict)  # by file and text: the last noted

    def fix_all(self, holds: bool) -> dict[str, FixedText]:
        """Return what has become of the files that change, or are kept from it by a problem. `holds`: loops
        do not end their steps while a fix of another file does so in a function that they may call."""
        self.ending = frozenset(
            name
            for name in (self.run.asked if holds else ())
            for finding in self.run.reports[name].findings
            if not is_of_loop(finding) and self._is_wanted(finding) and ends_step(finding)
        )
        fixed: dict[str, FixedText] = {}
        for name in sorted(self.run.asked):
            source = self.run.sources[name]
            self.reports[name] = self._report(source, source.source)
            if any(map(self._is_wanted, self.reports[name].findings)):
                result = on_deep_stack(self.fix_one, source)
                if result.problem or result.text != source.source.text:
                    fixed[name] = result
        return fixed

    def _is_wanted(self, finding: Finding) -> bool:
        fix = finding.fix
        return fix is not None and fix.applicability in self.applicabilities and self._is_chosen(finding)

    def fix_one(self, source: Source) -> FixedText:
        now = source.source
        module = parse(now.text) if now.kind is None else None
        holds = Soundness.of(now.text, module).holds if module else None
        index = self.run.program.index
        fixed = fix_text(
            now,
            lambda text: self._findings(source, text),
            self.applicabilities,
            holds,
            lambda name: index.is_taken(source.module, name),
        )
        self.reports[source.file.name] = self._report(source, replace(now, text=fixed.text))
        return fixed

    def undo(self, source: Source) -> None:
        """Leave the run as it was before the file was fixed."""
        self._note(source, source.source.text, source.loaded or Loaded())

    def _findings(self, source: Source, text: SourceText) -> Sequence[Finding]:
        report = self._report(source, text)
        survey = self.run.program.survey
        if any(finding.code in survey.once and _is_shared(finding) for finding in report.findings):
            reports = {**self.reports, report.filename: report}
            reported = once_in_program(reports, survey.once, survey.scripts)
            report = next(r for r in reported if r.filename == report.filename)
        return [finding for finding in report.findings if self._is_chosen(finding)]

    def _is_chosen(self, finding: Finding) -> bool:
        if finding.code in self.left_out or (is_of_loop(finding) and self.ending - {finding.filename}):
            return False
        return self.chosen is None or (finding.filename, finding.fingerprint) in self.chosen

    def _report(self, source: Source, text: SourceText) -> FileReport:
        if text.text == source.source.text:
            self._last = {}
            self._note(source, text.text, source.loaded or Loaded())
            if not self._program_changed(source):
                return self.run.reports[source.file.name]
        key = source.file.name, text.text
        if key not in self._last:
            self.loaded[source.file.name] = (_, loaded) = load_text(source, text)
            self._note(source, text.text, loaded)
            self._last = {key: analyse(self.run.program.job(source, text, loaded)).report}
        return self._last[key]

    def _note(self, source: Source, text: str, loaded: Loaded) -> None:
        self.run.program.survey.note(source.file.name, source.module, text, loaded)
        self.run.program.note_sinks(source, loaded)

    def _program_changed(self, source: Source) -> bool:
        """Return whether fixes have changed what rules ask of the program, or what choosing XLA would
        expose."""
        name = source.file.name
        asked = self.run.program.survey.program(source.session.key, name) != self.run.programs[name]
        return asked or self.run.program.exposes(source) != self.run.exposed[name]


@dataclass(slots=True)
class _Project:
    """The files as fixes leave them: their new texts, and the helpers they need, hide what is on disk."""

    paths: Sequence[Path]
    options: Options
    found: Discovery
    memory: Memory = field(default_factory=Memory)
    fixed: dict[str, FixedText] = field(default_factory=dict)
    texts: dict[str, SourceText] = field(default_factory=dict)  # of the files in `fixed` that differ
    creates: dict[str, Create] = field(default_factory=dict)

    def run(self) -> tuple[Run, Report]:
        """Return a run over the files as they are now, and its report; helpers are not reported."""
        known = {file.name: file for file in self.found.files}
        buffers = {known[name].path: text.encode() for name, text in self.texts.items()}
        if self.options.stdin is not None:
            buffers = {file.path: self.options.stdin[1] for file in self.found.files} | buffers
        new = [] if self.options.stdin is not None else [*self._helpers()]
        buffers |= {file.path: content for file, content in new}
        self.memory.writes = not self.texts
        files = sorted((*self.found.files, *(file for file, _ in new)), key=lambda file: file.name)
        found = replace(self.found, files=tuple(files))
        run = Run(self.paths, replace(self.options, buffers=buffers), self.memory, found, around=True)
        report = run.report()
        self.memory.forget_unused()
        ours = {file.name for file, _ in new}
        run.asked -= ours
        return run, replace(report, files=tuple(f for f in report.files if f.filename not in ours))

    def _helpers(self) -> Iterator[tuple[SourceFile, bytes]]:
        """Yield the helpers that the texts need, named as a walk through the folders names them."""
        known = {file.path for file in self.found.files}
        for name, create in self.creates.items():
            path, content = absolute(name), create.content.encode()
            if path not in known:
                first = self.found.files[0]
                shown = path.as_posix() if Path(first.name).is_absolute() else os.path.relpath(path)
                yield SourceFile(path, Path(shown).as_posix(), first.settings, len(content)), content

    def take(self, fixer: _Fixer, fixed: Mapping[str, FixedText]) -> None:
        """Let files be as fixes have left them."""
        self.memory.hold(entries_of(dict(fixer.loaded.values())))
        for name, result in fixed.items():
            before = self.fixed.get(name)
            self.fixed[name] = before.then(result) if before else result
            self.texts[name] = replace(fixer.run.sources[name].source, text=result.text)
            self.creates.update((create.filename, create) for create in result.creates)

    def without(self, names: Collection[str]) -> None:
        """Let files be as they are on disk."""
        self.texts = {name: text for name, text in self.texts.items() if name not in names}


def fix(
    paths: Sequence[Path], options: Options, applicabilities: Collection[Applicability], write: bool
) -> FixOutcome:
    """Fix what can be fixed with these grades. Nothing is written without `write`.

    Raises:
        UsageError: as for `check`.
    """
    found = files_of(paths, options)
    left_out: frozenset[str] = frozenset()
    while True:
        project = _Project(paths, options, found)
        first, before = project.run()
        shown = narrow(before, paths, options)
        last, after, restless = _until_nothing_changes(
            project, first, before, shown, applicabilities, left_out
        )
        if not restless:
            break
        left_out |= restless  # start again without them, so that a second `--fix` has nothing to do
    problems = [restless_problem(left_out)] if left_out else []
    problems += [f"{name}: {f.problem}" for name, f in sorted(project.fixed.items()) if f.problem]
    if write and options.stdin is None:
        failures = _write(project, first)
        problems += failures.values()
        if failures:
            project.without(failures)
            last, after = project.run()
    files: list[FixedFile] = []
    created: dict[str, str] = {}
    for name, text in sorted(project.texts.items()):
        fixed, old = project.fixed[name], first.sources[name].source.content
        if text.content != old:
            files.append(FixedFile(name, old, text.content, Counter(fixed.applied), fixed.problem))
            created.update(
                (c.filename, c.content) for c in fixed.creates if write or not Path(c.filename).exists()
            )
    made = tuple(FixedFile(name, "", content, {}) for name, content in sorted(created.items()))
    stdin = next((source.source for source in last.sources.values() if options.stdin), None)
    return FixOutcome(shown, narrow(after, paths, options), tuple(files), made, tuple(problems), stdin)


def _until_nothing_changes(
    project: _Project,
    run: Run,
    report: Report,
    shown: Report,
    applicabilities: Collection[Applicability],
    left_out: frozenset[str],
) -> tuple[Run, Report, frozenset[str]]:
    """Return the last run with its report, and the codes whose fixes come back for ever."""
    some = project.options.baseline is not None or project.options.diff_base is not None
    chosen = frozenset((f.filename, f.fingerprint) for f in shown.findings) if some else None
    holds = True
    for _ in range(_RUNS):
        fixer = _Fixer(run, applicabilities, dict(run.reports), chosen, left_out)
        fixed = fixer.fix_all(holds)
        changed = {name for name, result in fixed.items() if result.text != run.sources[name].source.text}
        project.take(fixer, fixed)
        if not changed and not fixer.ending:
            return run, report, frozenset()
        holds = bool(changed)
        run, report = project.run()
    return run, report, frozenset(code for name in changed for code in fixed[name].applied)


def fix_source(run: Run, filename: str, applicabilities: Collection[Applicability]) -> FixedText:
    """A file of a finished run with all fixes of these grades. The run stays as it is."""
    source = run.sources[filename]
    fixer = _Fixer(run, applicabilities, dict(run.reports))
    fixed = on_deep_stack(fixer.fix_one, source)
    fixer.undo(source)
    return fixed


def _is_shared(finding: Finding) -> bool:
    """Return whether other places decide if the finding is fixed here: not for a call, nor without a fix."""
    alone = finding.effort.unit == "dependency" and not finding.dependency
    return finding.fix is not None and bool(finding.fix.edits) and not alone


def _write(project: _Project, run: Run) -> dict[str, str]:
    """Write each file and what it needs, all or nothing; return a line about each that failed, by name."""
    failures: dict[str, str] = {}
    for name, text in sorted(project.texts.items()):
        source = run.sources[name]
        if text.text == source.source.text:
            continue
        try:
            write_files(
                {source.file.path: text.encode()},
                {Path(c.filename): c.content.encode() for c in project.fixed[name].creates},
            )
        except WriteError as error:
            failures[name] = str(error)
    return failures
