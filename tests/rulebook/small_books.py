"""Rule books of a page or two, and facts to try them on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from xlamig.config.settings import Settings
from xlamig.facts import ApiUse, Argument, Guard, Value
from xlamig.rulebook import Judgement, Rulebook
from xlamig.rulebook.load import load_folders
from xlamig.rulebook.page import SECTIONS
from xlamig.source.text import SourceText

MATCH = '[[match]]\nfact = "api-use"\nname = "torch.f"\n'
VERDICT = '[[verdict]]\ntarget = "torch_xla"\nseverity = "error"\nmechanism = "error"\n'
BODY = "".join(f"\n## {section}\n\nText.\n" for section in SECTIONS)


def page(rest: str = MATCH + VERDICT, *, body: str | None = None, **keys: Any) -> str:
    """A page that loads. `keys` replace keys of the head, None takes one out."""
    head = {
        "code": "XLA001",
        "name": "a-rule",
        "status": "stable",
        "message": "found it",
        "effort": {"level": "simple"},
        "phase": "run",
    } | keys
    lines = [f"{key} = {_toml(value)}" for key, value in head.items() if value is not None]
    text = f"# {head['name']}\n{BODY}" if body is None else body
    return "\n".join(["+++", *lines, rest, "+++", text])


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value)


def write(folder: Path, *pages: str, tables: dict[str, str] | None = None) -> Path:
    """Pages get the file name that their head asks for."""
    folder.mkdir(exist_ok=True)
    for text in pages:
        code, name = (line.split('"')[1] for line in text.splitlines()[1:3])
        (folder / f"{code}-{name}.md").write_text(text, "utf-8")
    for path, text in (tables or {}).items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


def book(folder: Path, *pages: str, tables: dict[str, str] | None = None, **settings: Any) -> Rulebook:
    return load_folders([write(folder / "rules", *pages, tables=tables)], Settings(**settings))


def api(name: str = "torch.f", start: int = 0, end: int = 4, **values: Any) -> ApiUse:
    values = {"statement": (start, end), "spelled": name, "via": "call"} | values
    return ApiUse(name=name, span=(start, end), **values)


def arg(name: str, value: Any, kind: Any = "constant") -> Argument:
    return Argument(name, Value(kind, value), (0, 1), (0, 1), (0, 1), True)


def guard(kind: Any, text: str = "torch.cuda.is_available()", start: int = 0) -> Guard:
    return Guard(kind, text, (start, start + 1))


TEXT = "f(x)  # first\ng(x)\nh(x)\nmore text to point at\n"


def judge(rules: Rulebook, *facts: Any, text: str = TEXT, **values: Any) -> tuple[Judgement, ...]:
    return rules.judge(facts, SourceText("train.py", text), **values)


def reported(rules: Rulebook, *facts: Any, **values: Any) -> list[str]:
    return [judgement.finding.code for judgement in judge(rules, *facts, **values)]
