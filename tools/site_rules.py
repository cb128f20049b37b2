"""Puts every page of rules/ into the site, with what the fixtures prove of it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from xlamig.config.settings import TARGETS, Settings
from xlamig.rulebook import load
from xlamig.rulebook.rule import Rule

sys.path.insert(0, str(Path(__file__).parent))

from site_tables import best_fix, operator_index, rule_index, severities

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures"
_HEAD = re.compile(r"#\s*(?P<key>run|raises|steady|why)\s*=\s*(?P<value>.*)")
_SHOWN = {"error": "raises", "no-op": "has no effect", "wrong-result": "goes wrong without a message",
          "trace": "costs, per step", "clean": "runs", "static-only": "was not run"}  # fmt: skip


def on_files(files: Files, config: MkDocsConfig) -> Files:
    rules = sorted(load(Settings()).rules, key=lambda rule: rule.code)
    files.append(File.generated(config, "rules/index.md", content=rule_index(rules)))
    files.append(File.generated(config, "operator-table.md", content=operator_index()))
    for rule in rules:
        files.append(File.generated(config, f"rules/{rule.code}.md", content=_page(rule)))
    return files


def _page(rule: Rule) -> str:
    title, _, rest = rule.text.strip().partition("\n")
    where = " · ".join(f"{target}: {severities(rule, target)}" for target in TARGETS)
    facts = f"`{rule.code}` · {rule.status} · {where} · fix: {best_fix(rule)} · effort: {rule.effort.level}"
    return "\n".join([title, "", facts, "", rest, "", *_evidence(rule.code), ""])


def _evidence(code: str) -> Iterator[str]:
    """Yield what the programs of a rule show when they run on torch_xla."""
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
