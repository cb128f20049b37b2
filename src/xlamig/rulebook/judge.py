"""Facts to findings: match, verdict, guards, confidence, words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from xlamig.config.settings import Settings
from xlamig.facts import ApiUse, Fact, ToolEvent, Why
from xlamig.findings import CONFIDENCES, Confidence, Finding, Reason, RuleError
from xlamig.rulebook.filter import is_shown
from xlamig.rulebook.guards import advice, closed_guards, condition, explain, needs_nothing, policy
from xlamig.rulebook.judgement import Judgement, SourceView, Views
from xlamig.rulebook.match import Match
from xlamig.rulebook.patterns import MAYBE, NO, YES, Fit
from xlamig.rulebook.places import identify, once_per_place, supersede
from xlamig.rulebook.program import Program
from xlamig.rulebook.rule import Rule
from xlamig.rulebook.rulings import Ruling
from xlamig.rulebook.tables import Row
from xlamig.rulebook.templates import Template
from xlamig.rulebook.verdict import FixRow, Verdict

NOT_MEASURED = "not measured: this follows from documentation and source code, not from a run"


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of a rule about a fact. `lowered`: the place is under a guard the target does not
    enter."""

    rule: Rule
    fact: Fact
    row: Row | None
    ruling: Ruling
    lowered: bool


Matches = tuple[Match, ...]
Candidates = tuple[tuple[str, Matches], ...]


class Judge:
    def __init__(self, rules: Iterable[Rule], precedence: Mapping[str, int], settings: Settings) -> None:
        self.rules = {rule.code: rule for rule in rules}
        self.precedence = precedence
        self.settings = settings
        self._verdicts: dict[str, list[Verdict]] = {}
        self._candidates: dict[tuple[str, str], Candidates] = {}

    def __call__(
        self,
        facts: Iterable[Fact],
        source: SourceView,
        codes: Container[str] | None,
        program: Program,
        views: Views,
        on_error: Callable[[RuleError], None],
    ) -> tuple[Judgement, ...]:
        crashes: list[RuleError] = []
        found = list(self._evaluate(facts, source, codes, program, views, crashes))
        # A rule that raises on the news of a crash is only reported as an error.
        events = [_crash(error) for error in crashes]
        found += self._evaluate(events, source, codes, program, views, crashes)
        for error in crashes:
            on_error(error)
        shown = partial(is_shown, settings=self.settings)
        return identify(supersede(once_per_place(found), self.precedence, shown))

    def _evaluate(
        self,
        facts: Iterable[Fact],
        source: SourceView,
        codes: Container[str] | None,
        program: Program,
        views: Views,
        crashes: list[RuleError],
    ) -> Iterator[Judgement]:
        work: dict[str, list[tuple[Fact, Matches]]] = defaultdict(list)
        for fact in facts:
            for code, matches in self._candidates_for(fact):
                if codes is None or code in codes:
                    work[code].append((fact, matches))
        for code in sorted(work):
            try:
                rule = self.rules[code]
                judged = (self._judge(rule, *each, source, program, views) for each in work[code])
                found = [judgement for judgement in judged if judgement]
            except Exception as error:
                crashes.append(RuleError(code, source.filename, f"{type(error).__name__}: {error}"))
            else:
                yield from found

    def _candidates_for(self, fact: Fact) -> Candidates:
        """The rules that a fact of this kind and name may fit, each with the matches that it may."""
        key = (fact.kind, getattr(fact, "name", ""))
        if key not in self._candidates:
            about = (rule for rule in self.rules.values() if fact.kind in rule.kinds)
            matches = {rule.code: _matches_for(rule, *key) for rule in about}
            self._candidates[key] = tuple((code, found) for code, found in matches.items() if found)
        return self._candidates[key]

    def _judge(
        self, rule: Rule, fact: Fact, matches: Matches, source: SourceView, program: Program, views: Views
    ) -> Judgement | None:
        decision = self._decide(rule, fact, matches, program)
        if decision is None:
            return None
        finding = self._finding(decision, source, views)
        fixes = self._fixes(decision, finding.confidence, program)
        return Judgement(finding, fact, fixes, rule.supersedes.union(decision.ruling.supersedes))

    def _decide(self, rule: Rule, fact: Fact, matches: Matches, program: Program) -> Decision | None:
        fit, row = _match(matches, fact, program)
        if fit == NO:
            return None
        ruling = self._ruling(rule, fact, fit, row, program)
        if ruling is None:
            return None
        guarded = policy(fact, "ignore" if ruling.ignores_guards else rule.guarded, self.settings.target)
        if guarded == "silent":
            return None
        return Decision(rule, fact, row, ruling, guarded == "lower")

    def _ruling(self, rule: Rule, fact: Fact, fit: Fit, row: Row | None, program: Program) -> Ruling | None:
        for verdict in self._verdicts_of(rule):
            sure = min(fit, verdict.when.fit(fact, row, program))
            if sure == NO:
                continue
            ruling = verdict.rule(row)
            if ruling is None or (ruling.preview and not self.settings.preview):
                return None
            if sure == YES or ruling.confidence == "possible":
                return ruling
        return None

    def _verdicts_of(self, rule: Rule) -> list[Verdict]:
        if rule.code not in self._verdicts:
            self._verdicts[rule.code] = [one for one in rule.verdicts if one.is_for(self.settings)]
        return self._verdicts[rule.code]

    def _finding(self, decision: Decision, source: SourceView, views: Views) -> Finding:
        rule, fact, ruling = decision.rule, decision.fact, decision.ruling
        severity = "info" if decision.lowered else ruling.severity
        assert severity is not None and ruling.mechanism is not None  # checked when the page was read
        plain = _words(ruling.message or rule.message, decision)
        target = self.settings.target
        guards = closed_guards(fact, target) if decision.lowered else ()
        message = condition(plain, guards[0]) if guards else plain
        words = _words(ruling.help or rule.help, decision)
        sides = target, rule.phase, ruling.mechanism
        # A call is a place of its own, with an edit of its own.
        together = rule.once == "dependency" and not isinstance(fact, ApiUse)
        title = decision.row.values.get("title", plain) if decision.row else plain
        return Finding(
            code=rule.code,
            name=rule.name,
            severity=severity,
            mechanism=ruling.mechanism,
            frequency=fact.frequency,
            confidence=_weakest(
                fact.confidence,
                ruling.confidence,
                decision.row.confidence if decision.row else None,
                None if ruling.measured else "likely",
                None if getattr(fact, "complete", True) else "likely",  # `**kwargs` may hold anything
            ),
            target=target,
            message=message,
            filename=source.filename,
            cell=source.cell_at(fact.span[0]),
            place=source.range(*fact.span),
            effort=replace(
                rule.effort,
                level=ruling.effort or rule.effort.level,
                optional=severity == "info",
            ),
            fingerprint="",
            url=rule.url,
            help=advice(words, guards[0], target, ruling.severity, ruling.mechanism) if guards else words,
            reasons=_distinct(self._reasons(decision, source, views)),
            scope=fact.scope,
            statement=" ".join(source.text[slice(*fact.statement)].split()),
            concerns=tuple(said for one in rule.relations if (said := one.concern(decision.row, words))),
            dependency=title if together else "",
            no_action=ruling.no_action or any(needs_nothing(words, guard, *sides) for guard in guards[:1]),
            job="" if together else _job(decision, source),
        )

    def _reasons(self, decision: Decision, source: SourceView, views: Views) -> Iterator[Reason]:
        rule, fact, ruling = decision.rule, decision.fact, decision.ruling
        args = fact.args if isinstance(fact, ApiUse) else ()
        known = (why for arg in args if arg.name in rule.arguments for why in arg.reasons)
        for why in (*fact.reasons, *known, *fact.related):
            yield _reason(why, source, views)
        place = source.range(*fact.span)
        if ruling.reason or rule.reason:
            yield Reason(_words(ruling.reason or rule.reason, decision), source.filename, place)
        for guard in closed_guards(fact, self.settings.target) if decision.lowered else ():
            test = source.range(*guard.span)
            yield Reason(explain(guard, test.location.row), source.filename, test)
        if not ruling.measured:
            yield Reason(NOT_MEASURED, source.filename, place)

    def _fixes(self, decision: Decision, confidence: Confidence, program: Program) -> tuple[FixRow, ...]:
        """Rows for this target, style and fact. Where the place may not run, or may not be what it
        looks like, a fix is only shown; an option that is off does not make it wrong."""
        fact, row = decision.fact, decision.row
        guards = closed_guards(fact, self.settings.target) if decision.lowered else ()
        display_only = any(guard.kind != "off" for guard in guards) or confidence == "possible"
        return tuple(
            _complete_fix(fix, decision)
            for fix in decision.rule.fixes
            if fix.target in (None, self.settings.target)
            and fix.style in (None, self.settings.style)
            and (fix.applicability == "display" or not display_only)
            and all(proof in fact.proofs for proof in fix.requires)
            and fix.when.fit(fact, row, program) == YES
        )


def _distinct(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """Return each sentence once per line: a reader sees no columns."""
    by_line: dict[tuple[object, ...], Reason] = {}
    for reason in reasons:
        row = reason.place and reason.place.location.row
        by_line.setdefault((reason.message, reason.filename, row), reason)
    return tuple(by_line.values())


def _job(decision: Decision, source: SourceView) -> str:
    """Return what is the same for all findings that one edit repairs, or one decision."""
    rule, fact = decision.rule, decision.fact
    if rule.together == "program":
        return _without_place(decision)
    if rule.together == "file":
        return f"{rule.code}|{source.filename}"
    if rule.together == "function":
        return f"{rule.effort.group}|{source.filename}|{fact.scope}"
    return f"{rule.effort.group}|{source.filename}|{fact.statement[0]}"


def _without_place(decision: Decision) -> str:
    """Return the help without the names of the place, and what the message takes from the row: rules that
    give the same advice ask for one job."""
    rule, ruling = decision.rule, decision.ruling
    message, help = ruling.message or rule.message, ruling.help or rule.help
    row = decision.row.values if decision.row else None
    return f"{help.of_row(row) if help else rule.code}|{message.words_of_row(row) if message else ''}"


def _complete_fix(fix: FixRow, decision: Decision) -> FixRow:
    """The fix with its title in words and with what the table says of the API."""
    title = fix.title if fix.words is None else _words(fix.words, decision)
    options = {**fix.options, "row": decision.row.values} if decision.row else fix.options
    return replace(fix, title=title, options=options)


def _matches_for(rule: Rule, kind: str, name: str) -> Matches:
    """The matches of a rule that a fact of this kind and name may fit."""
    return tuple(match for match in rule.matches if match.kind == kind and match.may_fit(name))


def _match(matches: Matches, fact: Fact, program: Program) -> tuple[Fit, Row | None]:
    """The first match that fits, else the first that may."""
    perhaps: tuple[Fit, Row | None] = (NO, None)
    for match in matches:
        fit, row = match.fit(fact, program)
        if fit == YES:
            return fit, row
        if fit == MAYBE and perhaps[0] == NO:
            perhaps = (fit, row)
    return perhaps


def _words(template: Template | None, decision: Decision) -> str:
    if template is None:
        return ""
    return template.render(decision.fact, decision.row.values if decision.row else None)


def _weakest(*confidences: Confidence | None) -> Confidence:
    return max((c for c in confidences if c is not None), key=CONFIDENCES.index)


def _reason(why: Why, source: SourceView, views: Views) -> Reason:
    view = views(why.filename) if why.filename else source
    place = view.range(*why.span) if view is not None and why.span is not None else None
    return Reason(why.message, why.filename or source.filename, place)


def _crash(error: RuleError) -> ToolEvent:
    return ToolEvent(
        span=(0, 0), statement=(0, 0), event="rule-crashed", subject=error.code, detail=error.message
    )
