"""Suppression comments against the findings of their file."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from xlamig.config.errors import did_you_mean
from xlamig.facts import ToolEvent
from xlamig.findings import Finding
from xlamig.rulebook.judgement import Judgement
from xlamig.rulebook.rule import Rule
from xlamig.source.suppress import Code, Suppression, Suppressions, Use, removal

TOOL = "XLA09"  # rules about the run: what they find depends on the suppressions themselves


class Outcome(NamedTuple):
    """`suppressed` counts findings that would have been shown, `codes` are those of all that were
    suppressed; `events` go back to the judge."""

    kept: tuple[Judgement, ...]
    suppressed: int
    codes: tuple[str, ...]
    events: tuple[ToolEvent, ...]


def apply(
    judgements: Iterable[Judgement],
    suppressions: Suppressions,
    rules: Mapping[str, Rule],
    evaluated: Container[str],
    is_shown: Callable[[Finding], bool] = lambda finding: True,
) -> Outcome:
    """Takes out what comments suppress. `judgements` are all of the file, also those a report
    would hide; `evaluated` are the codes of the rules that judged it."""
    kept, hidden, used = silence(judgements, suppressions)
    events = (*_unknown(suppressions, rules), *_unused_codes(suppressions, used, rules, evaluated))
    codes = tuple(sorted({judgement.finding.code for judgement in hidden}))
    return Outcome(kept, sum(is_shown(j.finding) for j in hidden), codes, events)


class Silenced(NamedTuple):
    kept: tuple[Judgement, ...]
    hidden: tuple[Judgement, ...]
    used: frozenset[Use]


def silence(judgements: Iterable[Judgement], suppressions: Suppressions) -> Silenced:
    """The findings without and with a suppression; for those of tool events this is all."""
    kept: list[Judgement] = []
    hidden: list[Judgement] = []
    used: set[Use] = set()
    for judgement in judgements:
        found = judgement.finding
        use = _use(found, suppressions)
        if use is None:
            kept.append(judgement)
        else:
            hidden.append(judgement)
            used.add(use)
    return Silenced(tuple(kept), tuple(hidden), frozenset(used))


def _use(finding: Finding, suppressions: Suppressions) -> Use | None:
    if suppressions.source is None:
        return None
    # The rows of a finding in a notebook are those of its cell.
    first, last = (suppressions.source.locate(at).row for at in (finding.place.start, finding.place.end))
    return suppressions.covers(finding.code, finding.name, first, last)


def _matching_rules(code: Code, rules: Mapping[str, Rule]) -> list[Rule]:
    return [rule for rule in rules.values() if code.means(rule.code, rule.name)]


def _unused_codes(
    suppressions: Suppressions, used: frozenset[Use], rules: Mapping[str, Rule], evaluated: Container[str]
) -> Iterator[ToolEvent]:
    for use in suppressions.unused(used):
        live = [rule for rule in _matching_rules(use.code, rules) if rule.status != "withdrawn"]
        live = [rule for rule in live if not rule.code.startswith(TOOL)]
        # A rule that did not run here may be what the comment is for.
        if live and all(rule.code in evaluated for rule in live):
            place = "in this file" if use.suppression.kind == "ignore-file" else "here"
            yield _event(
                "unused-suppression", use.suppression, use.code, f"nothing of it is reported {place}"
            )


def _unknown(suppressions: Suppressions, rules: Mapping[str, Rule]) -> Iterator[ToolEvent]:
    for suppression in suppressions.blanket:
        yield _event("unknown-code", suppression, None, "a suppression has to name a code")
    for suppression, code in suppressions.uses:
        meant = _matching_rules(code, rules)
        withdrawn = [rule for rule in meant if rule.status == "withdrawn"]
        if not meant:
            known = (*rules, *(rule.name for rule in rules.values()))
            detail = f"no rule has this code or name{did_you_mean(code.text, known)}"
        elif len(withdrawn) == len(meant):
            detail = "; ".join(
                f"{rule.code} was withdrawn in favour of {rule.successor}" for rule in withdrawn
            )
        else:
            continue
        yield _event("unknown-code", suppression, code, detail)


def _event(
    event: Literal["unused-suppression", "unknown-code"],
    suppression: Suppression,
    code: Code | None,
    detail: str,
) -> ToolEvent:
    span = (code.start, code.end) if code else suppression.span
    parts = {"comment": suppression.span}
    proofs: dict[str, str] = {}
    if code:
        start, end, replacement = removal(suppression, code)
        parts["removal"] = (start, end)
        proofs["removal"] = replacement
    return ToolEvent(
        span=span,
        statement=suppression.span,
        frequency="once",
        parts=parts,
        proofs=proofs,
        event=event,
        subject=code.text if code else f"# xlamig: {suppression.kind}",
        detail=detail,
    )
