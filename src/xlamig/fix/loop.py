"""Applies fixes to one file, analyses it again, and goes on until nothing changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from xlamig.findings import Applicability, Create, Edit, Finding, Fix
from xlamig.fix.edits import apply_edits, choose
from xlamig.fix.soundness import parse
from xlamig.fix.tidy import tidy
from xlamig.source.kinds import Kind
from xlamig.source.text import SourceText

RESTLESS = "fixes undo each other"
ROUNDS = 50
Holds = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class FixedText:
    """`applied` counts fixes by rule code; `problem` is one line about what was held back."""

    text: str
    applied: Counter[str] = field(default_factory=Counter)
    creates: tuple[Create, ...] = ()
    rounds: int = 0
    problem: str | None = None

    def then(self, later: FixedText) -> FixedText:
        """This result, and what was fixed after it."""
        creates = {create.filename: create for create in (*self.creates, *later.creates)}
        problems = dict.fromkeys(p for p in (self.problem, later.problem) if p)
        return FixedText(
            later.text,
            self.applied + later.applied,
            tuple(creates.values()),
            self.rounds + later.rounds,
            "; ".join(problems) or None,
        )


def fix_text(
    source: SourceText,
    analyse: Callable[[SourceText], Sequence[Finding]],
    applicabilities: Collection[Applicability],
    holds: Holds | None = None,
    keeps: Callable[[str], bool] = lambda _: False,
) -> FixedText:
    """Fix what `analyse` finds, with fixes of these grades only. A text for which `holds` says no, as
    one that does not parse, is not kept. Imports that become unused go, but for names that `keeps`."""
    holds = holds or _parses
    before = parse(source.text, source.kind)
    if before is None or not source.exact:
        return FixedText(source.text)
    broken: set[str] = set()
    restless: set[str] = set()

    def fixable(now: SourceText) -> list[Finding]:
        allowed = (f for f in analyse(now) if f.code not in broken | restless)
        return [f for f in allowed if _is_wanted(f, now, applicabilities)]

    while True:
        result, unsettled = _until_nothing_changes(source, fixable, broken, holds)
        if not unsettled:
            break
        restless |= unsettled  # start again without them, so that a second run has nothing to do
    text = result.text
    if result.applied and source.kind is None:
        text = tidy(before, replace(source, text=text), holds, keeps)
    return replace(result, text=text, problem=_problem(broken, restless))


def _until_nothing_changes(
    source: SourceText, fixable: Callable[[SourceText], list[Finding]], broken: set[str], holds: Holds
) -> tuple[FixedText, set[str]]:
    """The fixed text, or the codes whose fixes come back for ever; codes are added to `broken`."""
    applied: Counter[str] = Counter()
    creates: dict[str, Create] = {}
    history: list[tuple[str, set[str]]] = []  # a text, and the codes of the fixes it then got
    current = source
    for rounds in range(ROUNDS):
        text, done, failed = _apply(current.text, fixable(current), current.kind, holds)
        broken.update(f.code for f in failed)
        if not done and not failed:
            return FixedText(text, applied, tuple(creates.values()), rounds), set()
        if done:
            history.append((current.text, {f.code for f in done}))
        past = [before for before, _ in history]
        if done and text in past:
            return FixedText(source.text), _union(history[past.index(text) :])
        current = replace(current, text=text)
        applied.update(f.code for f in done)
        creates.update((c.filename, c) for f in done if f.fix for c in f.fix.creates)
    rest = _union(history[ROUNDS // 2 :]) if fixable(current) else set()
    return FixedText(current.text, applied, tuple(creates.values()), ROUNDS), rest


def _union(history: Sequence[tuple[str, set[str]]]) -> set[str]:
    return {code for _, codes in history for code in codes}


def restless_problem(codes: Collection[str]) -> str:
    """Return one line about rules whose fixes come back for ever."""
    return f"{RESTLESS} and were left out: {', '.join(sorted(codes))}"


def _problem(broken: set[str], restless: set[str]) -> str | None:
    parts = []
    if broken:
        parts.append(f"a fix would break the file and was left out: {', '.join(sorted(broken))}")
    if restless:
        parts.append(restless_problem(restless))
    return "; ".join(parts) or None


def _is_wanted(finding: Finding, source: SourceText, applicabilities: Collection[Applicability]) -> bool:
    fix = finding.fix
    return (
        fix is not None
        and bool(fix.edits)
        and fix.applicability in applicabilities
        and all(edit.filename == source.filename for edit in fix.edits)
    )


def _apply(
    text: str, findings: Sequence[Finding], kind: Kind | None, holds: Holds
) -> tuple[str, list[Finding], list[Finding]]:
    """The new text, the findings fixed in it, and those whose fix does not parse by itself."""
    by_fix: dict[Fix, list[Finding]] = {}
    for finding in findings:
        if finding.fix is not None:
            by_fix.setdefault(finding.fix, []).append(finding)
    chosen, _ = choose(list(by_fix))
    good, bad = (chosen, []) if kind is not None else _sound(text, [], chosen, holds)
    done = [finding for fix in good for finding in by_fix[fix]]
    return _with(text, good), done, [finding for fix in bad for finding in by_fix[fix]]


def _sound(text: str, good: list[Fix], new: list[Fix], holds: Holds) -> tuple[list[Fix], list[Fix]]:
    """As many of `new` beside `good` as leave a program together, and those that break the text alone."""
    if not new or holds(_with(text, good + new)):
        return good + new, []
    if len(new) == 1:
        return good, new if not good or not holds(_with(text, new)) else []
    half = len(new) // 2
    good, bad_first = _sound(text, good, new[:half], holds)
    good, bad_second = _sound(text, good, new[half:], holds)
    return good, bad_first + bad_second


def _parses(text: str) -> bool:
    return parse(text) is not None


def _with(text: str, fixes: Sequence[Fix]) -> str:
    edits: list[Edit] = [edit for fix in fixes for edit in fix.edits]
    return apply_edits(text, edits)
