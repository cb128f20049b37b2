"""Expand what a page's head states once for several of its rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from xlamig.config.errors import did_you_mean
from xlamig.rulebook.errors import Where
from xlamig.rulebook.keys import Keys

_SHARED = ("texts", "unless", "mechanism")
_SENTENCES = frozenset({"message", "help", "reason", "title"})
_REFERENCE = re.compile(r"\{texts\.([\w-]+)\}")


def expand(head: Mapping[str, Any], where: Where) -> dict[str, Any]:
    """Return `head` in its long form.

    `[texts]` replace their references in every sentence, the page's `unless` joins that of each match,
    and the page's `mechanism` goes to the verdicts that state none. Targets stay as written.

    Raises RulebookError for a reference to no text, and for a text or mechanism that no row uses.
    """
    keys = Keys(dict(head), where)
    own = {key: value for key, value in head.items() if key not in _SHARED}
    if (texts := keys.table("texts")) is not None:
        own = _fill(own, Keys(texts, where.at("texts")))
    if "unless" in head:
        own["match"] = [_except(row, head["unless"]) for row in keys.list("match")]
    if mechanism := keys.text("mechanism"):
        verdicts = own.get("verdict", [])
        own["verdict"] = [_complete(row, mechanism) for row in verdicts]
        if own["verdict"] == verdicts:
            raise where.at("mechanism").error("every verdict has its own")
    return own


def _fill(head: dict[str, Any], texts: Keys) -> dict[str, Any]:
    known = {name: texts.text(name, required=True) for name in texts.values}
    used: set[str] = set()

    def replace(reference: re.Match[str]) -> str:
        name = reference[1]
        if name not in known:
            raise texts.where.error(f'there is no text "{name}"{did_you_mean(name, known)}')
        used.add(name)
        return known[name]

    def fill(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: fill(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [fill(inner, key) for inner in value]
        return _REFERENCE.sub(replace, value) if key in _SENTENCES and isinstance(value, str) else value

    filled: dict[str, Any] = fill(head)
    for name in known.keys() - used:
        raise texts.where.at(name).error("no sentence uses this text")
    return filled


def _except(row: Any, shared: Any) -> Any:
    if not isinstance(row, dict):
        return row
    return {**row, "unless": [*_as_list(shared), *_as_list(row.get("unless", []))]}


def _complete(row: Any, mechanism: str) -> Any:
    return {"mechanism": mechanism, **row} if isinstance(row, dict) else row


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
