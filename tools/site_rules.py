"""Puts every page of rules/ into the site, with what the fixtures prove of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from xlamig.config.settings import TARGETS, Settings
from xlamig.effort.model import FAMILIES
from xlamig.findings import SEVERITIES
from xlamig.rulebook import load
from xlamig.rulebook.rule import Rule

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures"
_HEAD = re.compile(r"#\s*(?P<key>run|raises|steady|why)\s*=\s*(?P<value>.*)")
_SHOWN = {"error": "raises", "no-op": "has no effect", "wrong-result": "goes wrong without a message",
          "trace": "costs, per step", "clean": "runs", "static-only": "was not run"}  # fmt: skip


def on_files(files: Files, config: MkDocsConfig) -> Files:
    rules = sorted(load(Settings()).rules, key=lambda rule: rule.code)
    files.append(File.generated(config, "rules/index.md", content=_index(rules)))
    for rule in rules:
        files.append(File.generated(config, f"rules/{rule.code}.md", content=_page(rule)))
    return files


def _index(rules: list[Rule]) -> str:
    lines = [
        "# Rules",
        "",
        f"{len(rules)} rules. The hundred of a code is its family. *Fix* is the best that `--fix` (safe) or",
        "`--fix --unsafe-fixes` (unsafe) can do; *display* is only shown.",
    ]
    family = ""
    for rule in rules:
        if rule.code[:4] != family:
            family = rule.code[:4]
            lines += ["", f"## {family}: {FAMILIES.get(family, family)}", ""]
            lines += ["| rule | name | torch_xla | torch_tpu | fix |", "|---|---|---|---|---|"]
        cells = [f"[{rule.code}]({rule.code}.md)", rule.name, *(_severities(rule, t) for t in TARGETS)]
        lines.append(f"| {' | '.join(cells)} | {_best_fix(rule)} |")
    return "\n".join([*lines, ""])


def _severities(rule: Rule, target: str) -> str:
    """Every severity the rule can have on a target, the worst first."""
    rows = [row for match in rule.matches for table in match.tables for row in table.rows.values()]
    found: set[str | None] = set()
    for verdict in rule.verdicts:
        if verdict.target == target:
            rulings = [verdict.rule(row) for row in rows] if verdict.from_row else [verdict.ruling]
            found.update(ruling.severity for ruling in rulings if ruling)
    return ", ".join(severity for severity in SEVERITIES if severity in found) or "-"


def _best_fix(rule: Rule) -> str:
    grades = {fix.applicability for fix in rule.fixes}
    return next((grade for grade in ("safe", "unsafe", "display") if grade in grades), "-")


def _page(rule: Rule) -> str:
    title, _, rest = rule.page.body.strip().partition("\n")
    where = " · ".join(f"{target}: {_severities(rule, target)}" for target in TARGETS)
    facts = f"`{rule.code}` · {rule.status} · {where} · fix: {_best_fix(rule)} · effort: {rule.effort.level}"
    return "\n".join([title, "", facts, "", rest, "", *_evidence(rule.code), ""])


def _evidence(code: str) -> Iterator[str]:
    """What the programs of a rule show when they run on torch_xla."""
    yield "## Evidence"
    yield ""
    programs = sorted((FIXTURES / code).glob("*/bad.py"))
    if not programs:
        yield "No program shows this rule: it is about the run itself, or nothing of it can be run."
        return
    yield "Programs of the test-suite; those that can are run on torch_xla 2.9, CPU client, in every build."
    yield ""
    for program in programs:
        text = program.read_text(encoding="utf-8")
        head = [(match["key"], match["value"]) for line in text.splitlines() if (match := _HEAD.match(line))]
        claims = "; ".join(_claim(key, value) for key, value in head)
        yield f'??? example "{program.parent.name}: {claims}"'
        yield ""
        yield f'    ```python title="fixtures/{code}/{program.parent.name}/bad.py"'
        yield from (f"    {line}".rstrip() for line in text.splitlines())
        yield "    ```"
        yield ""


def _claim(key: str, value: str) -> str:
    words = {"run": _SHOWN.get(value, value), "raises": f"`{value}`", "steady": value}
    return words.get(key, value).replace('"', "'")
