"""Facts of one file, judged, with suppressions and fixes: its report."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from xlamig import artifacts, ir
from xlamig.engine.beside import split
from xlamig.engine.clues import LOADS, has_habit
from xlamig.engine.cuda_kernels import cuda_kernels
from xlamig.engine.device_settings import device_setting_facts
from xlamig.engine.gpu_classes import gpu_classes
from xlamig.engine.gpu_only import as_infos
from xlamig.engine.host_scripts import as_no_action
from xlamig.engine.host_texts import is_host_text
from xlamig.engine.jobs import Analysed, AnalyseJob
from xlamig.engine.kernel_files import kernel_files
from xlamig.engine.load import Failure
from xlamig.engine.lowered import Limit, for_cuda, kept_off, lower_inside, lower_loads, needs_gpu
from xlamig.engine.session import Session, session_for
from xlamig.engine.units import ATTENTION, with_units
from xlamig.facts import ApiUse, ContextTag, ContextTags, Fact, Package, ToolEvent
from xlamig.findings import FileReport, Finding, Part, RuleError, Size, SkippedFile
from xlamig.fix.context import FixContext
from xlamig.fix.draft import draft
from xlamig.fix.helper_text import is_helper
from xlamig.fix.inline import is_inline
from xlamig.flow import Facts, facts_of
from xlamig.rulebook import Judgement, Program
from xlamig.rulebook.filter import codes_for, is_shown, is_unsure, keep
from xlamig.rulebook.places import count_statements_once
from xlamig.rulebook.suppressed import Outcome, apply, silence
from xlamig.source.files import module_name
from xlamig.source.suppress import suppressions
from xlamig.source.text import SourceText


def report_on(job: AnalyseJob, module: ir.Module | None) -> Analysed:
    session = session_for(job.settings)
    facts: list[Fact] = []
    found = Facts([], 0)
    skipped: SkippedFile | None = None
    context = _context(job)
    if job.source.kind is not None and job.failure is None:
        interest, filename = session.rulebook.interest, job.source.filename
        facts = artifacts.facts_of(job.source.text, job.source.kind, interest, context, filename, job.native)
    elif module is not None:
        try:
            found = facts_of(
                module,
                job.source.text,
                job.module,
                job.is_package,
                session.rulebook.interest,
                job.interfaces,
                context,
                job.callers,
                job.texts,
                job.visit,
                job.source.filename,
                job.switches,
                job.kernels,
                job.elsewhere,
            )
            facts = found.facts
            facts = [*facts, *device_setting_facts(module, job.source.text, dict(job.devices))]
            if job.path.name == "setup.py":
                facts = [*facts, *artifacts.setup_py_facts(job.source.text, context)]
        except RecursionError:
            skipped = SkippedFile(job.source.filename, "nested too deeply to be analysed")
    if job.failure is not None:
        facts = [*facts, failure_fact(job.source, job.failure, in_cell=module is not None)]
    ours = is_helper(job.source.text)
    facts = [] if ours else [fact for fact in facts if not _is_own(fact, job.own)]
    facts = _outside(facts, [node for node in module.body if is_inline(node)] if module else [])
    judged, outcome, errors, unsure = _judge(facts, job.source, session, job.program)
    findings: Iterable[Finding] = with_units(
        _with_fixes(judged, job, module, session), kernel_files(job, facts)
    )
    if job.gpu_only:
        findings = as_infos(findings, job.source.filename, job.gpu_only)
    if job.on_host:
        findings = as_no_action(findings, job.source.filename)
    if job.beside == "converters":
        findings = lower_loads(findings, job.source.filename)
    limits = dict(_limits(job, module, judged))
    if limits:
        findings = lower_inside(findings, job.source.filename, limits)
    shown, aside = split(findings, job.beside, job.settings, job.unmentioned)
    report = FileReport(
        job.source.filename,
        shown,
        skipped,
        errors,
        outcome.suppressed,
        job.source.rows,
        found.sites,
        outcome.codes,
        tuple(_parts(found, job.source)),
        tuple(_sizes(found, job.source)),
        found.unfollowed,
        session.rulebook.on_xla(facts),
        unsure,
        aside,
    )
    return Analysed(report, dict(found.visits), tuple(found.visits))


def _limits(
    job: AnalyseJob, module: ir.Module | None, judged: Iterable[Judgement]
) -> Iterator[tuple[str, Limit]]:
    """Yield the scopes of a file that the program does not run as it is, with the reason."""
    yield from ((scope, kept_off(scope, test)) for scope, test in job.off)
    attention = [one.fact for one in judged if one.finding.code == ATTENTION]
    packages = {fact.package for fact in attention if isinstance(fact, Package)}
    for scope, package in gpu_classes(module, packages).items() if module and packages else ():
        yield scope, needs_gpu(scope, package)
    for scope in cuda_kernels(module, job.source.text) if module else ():
        yield scope, for_cuda(scope)


def _outside(facts: list[Fact], functions: Sequence[ir.Node]) -> list[Fact]:
    """The facts about other places than these functions, which xlamig wrote."""
    return [
        fact
        for fact in facts
        if not any(node.start <= fact.span[0] and fact.span[1] <= node.end for node in functions)
    ]


def _is_own(fact: Fact, own: Collection[str]) -> bool:
    """About a package that the program is itself: what it is made of counts, not that it uses it."""
    if isinstance(fact, Package):
        return fact.package.partition(".")[0] in own
    return isinstance(fact, ApiUse) and fact.name.partition(".")[0] in own


def _parts(found: Facts, source: SourceText) -> Iterator[Part]:
    for part in found.parts:
        start, end = (source.locate(offset).row for offset in part.span)
        words = (part.name, part.kind, part.bases, part.members, part.decorators, part.calls)
        yield Part(*words, start, end)


def _sizes(found: Facts, source: SourceText) -> Iterator[Size]:
    for size in found.sizes:
        row = source.locate(size.span[0]).row
        yield Size(size.kind, size.name, size.value, size.owner, row, size.given, size.callee)


def _judge(
    facts: Sequence[Fact], source: SourceText, session: Session, program: Program
) -> tuple[Sequence[Judgement], Outcome, tuple[RuleError, ...], int]:
    """The judgements to report, what comments did to them, the rules that raised, and how many are left
    out because they are not sure enough."""
    book, selection, settings = session.rulebook, session.selection, session.settings
    comments = suppressions(source)
    if not facts and not comments.entries:
        return (), Outcome((), 0, (), ()), (), 0
    codes = codes_for(source.filename, book.active, selection.enabled, selection.ignored_for)
    errors: list[RuleError] = []
    judged = book.judge(facts, source, codes, program=program, on_error=errors.append)
    rules = {rule.code: rule for rule in book.rules}
    outcome = apply(judged, comments, rules, codes, partial(is_shown, settings=settings))
    about_comments = book.judge(outcome.events, source, codes, on_error=errors.append)
    kept = (*outcome.kept, *silence(about_comments, comments).kept)
    shown = keep(kept, settings, codes, selection.ignored_for)
    unsure = sum(is_unsure(judgement.finding, settings) for judgement in kept)
    return count_statements_once(shown), outcome, tuple(errors), unsure


def failure_fact(source: SourceText, failure: Failure, in_cell: bool = False) -> ToolEvent:
    """The fact that a file, or one cell of a notebook, cannot be read, at the place where reading failed."""
    row = max(1, min(failure.row, max(1, source.rows)))
    start, end = source.line_span(row)
    at = min(max(start, start + failure.column - 1), max(start, end - 1))
    span = (at, min(at + 1, end))
    detail = "host" if is_host_text(source.text) else ""
    if "{{" in source.filename or _TEMPLATE_LINE.search(source.text):
        detail = "template"
    elif in_cell:
        detail = "cell"
    return ToolEvent(
        span=span, statement=span, event="unparsable-file", subject=failure.message, detail=detail
    )


_TEMPLATE_LINE = re.compile(r"^[ \t]*\{%", re.MULTILINE)  # Jinja, cookiecutter
_CI = frozenset(
    {".github", ".circleci", ".gitlab-ci.yml", ".buildkite", ".travis.yml", "azure-pipelines.yml"}
)


def _context(job: AnalyseJob) -> ContextTags:
    path = PurePosixPath(job.source.filename)
    tests = {"test", "tests", "testing"}.intersection(path.parts[:-1])
    named = path.name.startswith("test_") or path.stem.endswith("_test") or path.name == "conftest.py"
    tags: set[ContextTag] = {"test-code"} if tests or named else set()
    if path.name == "setup.py":
        tags.add("build")
    if _CI.intersection(path.parts):
        tags.add("ci")
    if "saves" in job.elsewhere or has_habit("saves", job.source.text):
        tags.add("saving-program")
    if {h for h in LOADS if h in job.elsewhere or has_habit(h, job.source.text)} == {"loads-on-cpu"}:
        tags.add("loads-on-cpu")
    return frozenset(tags)


def _with_fixes(
    judgements: Sequence[Judgement], job: AnalyseJob, module: ir.Module | None, session: Session
) -> list[Finding]:
    context: FixContext | None = None
    findings = []
    for judgement in judgements:
        finding = judgement.finding
        if judgement.fixes and finding.code in session.selection.fixable and _is_readable(job):
            context = context or _fix_context(job, module)
            finding = replace(finding, fix=draft(judgement, context))
        findings.append(finding)
    return sorted(findings, key=lambda f: (f.place.start, f.code, f.place.end))


def _is_readable(job: AnalyseJob) -> bool:
    """Return whether all of a file is known; what a fix changes may be used in the rest."""
    return job.source.exact and job.failure is None


def _fix_context(job: AnalyseJob, module: ir.Module | None) -> FixContext:
    return FixContext(
        job.source,
        module or ir.Module(0, len(job.source.text), (), 0, "\n", "    "),
        job.settings,
        module_name(job.path),
        job.package,
        job.home,
        job.exposes,
        job.unread,
        job.elsewhere,
        job.starts_early,
    )
