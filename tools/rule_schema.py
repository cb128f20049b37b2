"""Write the JSON schemas of rule heads and tables, which editors complete and check by.

python tools/rule_schema.py            writes docs/schemas/rule-head.schema.json and rule-table.schema.json
python tools/rule_schema.py --check    exits with 1 if they are not up to date

Keys, values and fields come from the code that reads them, descriptions from docs/rule-pages.md.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, get_args

from xlamig.config.settings import STYLES, TARGETS
from xlamig.facts import FACTS
from xlamig.findings import CONFIDENCES, SEVERITIES, Phase, Unit
from xlamig.rulebook.program import PROGRAM_KEYS
from xlamig.rulebook.rule import Extent, Guarded, Once, Status
from xlamig.rulebook.rulings import LEVELS, MECHANISMS
from xlamig.rulebook.shapes import shapes
from xlamig.rulebook.strategies import STRATEGIES
from xlamig.rulebook.verdict import APPLICABILITIES

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs/schemas"
_ROW = re.compile(r"^\| (?P<keys>`.*?) \| (?P<meaning>.+?) \|$", re.MULTILINE)
_KEY = re.compile(r"`([\w-]+)(?: = \w+| = \"\w+\")?`")

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
TEXTS: Schema = {"type": "array", "items": TEXT}
PATTERNS: Schema = {"type": "object"}
_KINDS: dict[str, Schema] = {
    "text": TEXT,
    "true or false": FLAG,
    "a list": {"type": "array"},
    "a table": {"type": "object"},
    "text or a list": {"anyOf": [TEXT, TEXTS]},
    "text or a table": {"type": ["string", "object"]},
    "text, a number or a truth value": {"type": ["string", "number", "boolean"]},
}


def main() -> int:
    stale = 0
    for name, schema in {"rule-head": head_schema(), "rule-table": table_schema()}.items():
        path = FOLDER / f"{name}.schema.json"
        text = json.dumps(schema, indent=2) + "\n"
        if "--check" not in sys.argv[1:]:
            path.write_text(text, "utf-8")
        elif not path.is_file() or path.read_text("utf-8") != text:
            print(f"{path.relative_to(ROOT)} is out of date: run python tools/rule_schema.py")
            stale = 1
    return stale


def head_schema() -> Schema:
    """Return the schema of the TOML between the `+++` lines of a page."""
    keys: Schema = {
        "code": {"type": "string", "pattern": r"^[A-Z]{2,}\d{3}$"},
        "name": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"},
        "status": _one_of(get_args(Status)),
        "successor": TEXT,
        "message": TEXT,
        "help": TEXT,
        "reason": TEXT,
        "effort": _table(
            {"level": _one_of(LEVELS), "unit": _one_of(get_args(Unit)), "group": TEXT}, required=["level"]
        ),
        "phase": _one_of(get_args(Phase)),
        "mechanism": _one_of(MECHANISMS),
        "supersedes": TEXTS,
        "guarded": _one_of(get_args(Guarded)),
        "once": _one_of(get_args(Once)),
        "together": _one_of(get_args(Extent)),
        "unless": {"anyOf": [PATTERNS, {"type": "array", "items": PATTERNS}]},
        "texts": {"type": "object", "additionalProperties": TEXT},
        "match": {"type": "array", "items": _match()},
        "verdict": {"type": "array", "items": _table(_verdict(), required=["target"])},
        "fix": {"type": "array", "items": _fix()},
        "relate": {
            "type": "array",
            "items": _table({"row": TEXT, "codes": TEXTS, "unless_help": TEXT}, required=["row", "codes"]),
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The head of a rule page of xlamig",
        **_table(keys, required=["code", "name", "status"]),
    }


def table_schema() -> Schema:
    """Return the schema of `rules/{api,packages,environment,kernels}/*.toml`."""
    about = _table({"versions": TEXT, **_ruling()}, strict=False)
    row = _table(
        {
            "signature": TEXTS,
            "alias": TEXTS,
            **{target: {"anyOf": [about, {"type": "array", "items": about}]} for target in TARGETS},
        },
        strict=False,
    )
    keys = {"row": {"type": "object", "additionalProperties": row}, "foreign-methods": TEXTS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A table of xlamig's rule book",
        **_table(keys),
    }


def _match() -> Schema:
    known = ["fact", "table", "keyword", "unless", "row", *PROGRAM_KEYS]
    by_kind = [
        {
            "if": {"properties": {"fact": {"const": kind}}},
            "then": {"propertyNames": {"enum": [*known, *shapes(kind)]}},
        }
        for kind in FACTS
    ]
    return {"type": "object", "required": ["fact"], "properties": {"fact": _one_of(FACTS)}, "allOf": by_kind}


def _ruling() -> Schema:
    return {
        "severity": _one_of(SEVERITIES),
        "mechanism": _one_of(MECHANISMS),
        "message": TEXT,
        "help": TEXT,
        "reason": TEXT,
        "effort": _one_of(LEVELS),
        "confidence": _one_of(CONFIDENCES),
        "measured": FLAG,
        "status": _one_of(("stable", "preview")),
        "no-action": FLAG,
        "supersedes": TEXTS,
        "ignore-guards": FLAG,
    }


def _verdict() -> Schema:
    one = _one_of(TARGETS)
    several = {"type": "array", "items": one, "minItems": 1, "uniqueItems": True}
    return {
        "target": {"anyOf": [one, several]},
        "versions": TEXT,
        "when": PATTERNS,
        "from-row": FLAG,
        **_ruling(),
    }


def _fix() -> Schema:
    keys = {
        "strategy": _one_of(STRATEGIES),
        "applicability": _one_of(APPLICABILITIES),
        "target": _one_of(TARGETS),
        "style": _one_of(STYLES),
        "requires": TEXTS,
        "title": TEXT,
        "when": PATTERNS,
    }
    by_strategy = [
        {
            "if": {"properties": {"strategy": {"const": name}}},
            "then": {
                "propertyNames": {"enum": [*keys, *info.options]},
                "properties": {option: _KINDS[kind] for option, kind in info.options.items()},
                "anyOf": [{"required": list(group)} for group in info.needs],
            },
        }
        for name, info in STRATEGIES.items()
    ]
    return {
        "type": "object",
        "required": ["strategy", "applicability"],
        "properties": {key: _described(key, schema) for key, schema in keys.items()},
        "allOf": by_strategy,
    }


def _table(keys: Schema, required: list[str] | None = None, *, strict: bool = True) -> Schema:
    properties = {key: _described(key, schema) for key, schema in keys.items()}
    schema: Schema = {"type": "object", "properties": properties}
    return (
        schema
        | ({"required": required} if required else {})
        | ({"additionalProperties": False} if strict else {})
    )


def _one_of(choices: Any) -> Schema:
    return {"enum": list(choices)}


def _described(key: str, schema: Schema) -> Schema:
    meaning = _MEANINGS.get(key)
    return {"description": meaning, **schema} if meaning else schema


def _meanings() -> dict[str, str]:
    """Return what docs/rule-pages.md says of each key, the first mention."""
    found: dict[str, str] = {}
    for row in _ROW.finditer((ROOT / "docs/rule-pages.md").read_text("utf-8")):
        for key in _KEY.findall(row["keys"]):
            found.setdefault(key, row["meaning"])
    return found


_MEANINGS = _meanings()


if __name__ == "__main__":
    sys.exit(main())
