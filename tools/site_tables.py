"""The tables of the site: all rules, and what becomes of every operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlamig.cli.ops_answer import Answer, alternatives, answer, tables
from xlamig.config.settings import TARGETS
from xlamig.effort.model import FAMILIES
from xlamig.findings import SEVERITIES
from xlamig.rulebook.rule import Rule


def rule_index(rules: Sequence[Rule]) -> str:
    rows = (
        [f"[{rule.code}]({rule.code}.md)", rule.name, _family(rule), *(severities(rule, t) for t in TARGETS),
         best_fix(rule)]
        for rule in rules
    )  # fmt: skip
    head = ["rule", "name", "family", *TARGETS, "fix"]
    return "\n".join(
        [
            "# Rules",
            "",
            f"{len(rules)} rules. *fix* is the best that `--fix` (safe) or `--fix --unsafe-fixes` (unsafe)",
            "can do; *display* is only shown. A target's column has every severity of the rule there.",
            "",
            *_filtered(head, rows, ("family", *TARGETS, "fix")),
        ]
    )


def operator_index() -> str:
    """Names that are known under another one are left out: the search finds that one."""
    known, rows = tables(TARGETS), alternatives()
    names = sorted({name for table in known for name in table.names})
    answers = (answer(name, known, rows) for name in names)
    own = [found for found in answers if not any(o and o.same_as for o in found.found.values())]
    head = ["operator", *TARGETS, "instead"]
    about = "; ".join(
        f"{table.target} {table.provenance.versions.get(table.target, '')}, {table.provenance.date}"
        for table in known
    )
    return "\n".join(
        [
            "# Operator table",
            "",
            f"What becomes of {len(own)} operators ({about}). *conditional* is native except for some",
            "arguments; `xlamig ops NAME` tells which, with errors and gradients. [Operators](operators.md)",
            "says how this was measured: on CPU clients, not on a TPU.",
            "",
            *_filtered(head, (_operator(found) for found in own), TARGETS),
        ]
    )


def _operator(found: Answer) -> list[str]:
    statuses = [operator.status if operator else "-" for operator in (found.found.get(t) for t in TARGETS)]
    return [f"`{found.name}`", *statuses, _cell(next(iter(found.instead.values()), ""))]


def _filtered(head: Sequence[str], rows: Iterator[list[str]], filters: Sequence[str]) -> Iterator[str]:
    yield f'<div class="filtered" data-filters="{",".join(filters)}" markdown="1">'
    yield ""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield from ("", "</div>", "")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _family(rule: Rule) -> str:
    """Without commas, which separate the values of a filter."""
    return FAMILIES.get(rule.code[:4], rule.code[:4]).replace(", ", " · ")


def severities(rule: Rule, target: str) -> str:
    """Every severity the rule can have on a target, the worst first."""
    rows = [row for match in rule.matches for table in match.tables for row in table.rows.values()]
    found: set[str | None] = set()
    for verdict in rule.verdicts:
        if verdict.target == target:
            rulings = [verdict.rule(row) for row in rows] if verdict.from_row else [verdict.ruling]
            found.update(ruling.severity for ruling in rulings if ruling)
    return ", ".join(severity for severity in SEVERITIES if severity in found) or "-"


def best_fix(rule: Rule) -> str:
    grades = {fix.applicability for fix in rule.fixes}
    return next((grade for grade in ("safe", "unsafe", "display") if grade in grades), "-")
