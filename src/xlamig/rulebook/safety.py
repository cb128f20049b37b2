"""The first lines of a page's "Fix safety" section, generated from its head."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from xlamig.rulebook.page import Page
from xlamig.rulebook.strategies import writes
from xlamig.rulebook.verdict import FixRow

SECTION = "Fix safety"
_HEADING = re.compile(rf"^## +{SECTION}[ \t]*$", re.MULTILINE)
_FIELDS: Mapping[tuple[str, str], str] = {
    ("frequency", "step"): "in code that runs every step",
    ("context", "no-grad"): "under `no_grad`",
}


def with_safety(page: Page, fixes: tuple[FixRow, ...]) -> str:
    """Return the text of a page with the grades of its fixes at the head of their section."""
    return _HEADING.sub(lambda heading: f"{heading[0]}\n\n{describe(page, fixes)}", page.body, count=1)


def describe(page: Page, fixes: tuple[FixRow, ...]) -> str:
    """Return what `--fix` writes for a rule, at which grade and where, as Markdown."""
    if not fixes:
        return "There is no automatic fix."
    rows = zip(fixes, page.head["fix"], strict=True)
    lines = [_line(fix, row) for fix, row in rows if fix.applicability != "display"]
    if not lines:
        return "The fix is shown, not written."
    shown = any(fix.applicability == "display" for fix in fixes)
    rest = "Elsewhere the fix is shown, not written." if shown else "Nothing else is written."
    return "\n".join(f"- {line}" for line in dict.fromkeys(lines)) + f"\n\n{rest}"


def _line(fix: FixRow, row: Mapping[str, Any]) -> str:
    line = f"**{fix.applicability.capitalize()}** (`{fix.strategy}`): {writes(fix.strategy, fix.options)}."
    phrases = [*_run(fix), *_conditions(row.get("when", {}))]
    tests = [*_tests(row.get("when", {})), *(f"xlamig proves `{proof}`" for proof in fix.requires)]
    if tests:
        phrases.append(f"where {' and '.join(tests)}")
    return f"{line} Only {', '.join(phrases)}." if phrases else line


def _run(fix: FixRow) -> Iterator[str]:
    if fix.target is not None:
        yield f"on {fix.target}"
    if fix.style is not None:
        yield f"with `--strategy {fix.style}`"


def _conditions(when: Mapping[str, Any]) -> Iterator[str]:
    """The parts of a condition that are no test of a value."""
    if "name" in when:
        yield f"for {_value(when['name'])}"
    for field, words in _FIELDS.items():
        if when.get(field[0]) == field[1]:
            yield words
    for name, pattern in when.get("args", {}).items():
        if pattern == {"absent": True}:
            yield f"without `{name}`"
        elif pattern == {"present": True}:
            yield f"with `{name}`"


def _tests(when: Mapping[str, Any]) -> Iterator[str]:
    for field, pattern in when.items():
        if field == "args":
            plain = ({"absent": True}, {"present": True})
            yield from (f"`{name}` {_is(value)}" for name, value in pattern.items() if value not in plain)
        elif field == "proofs":
            yield from (
                f"xlamig proves `{name}`" for name in ([pattern] if isinstance(pattern, str) else pattern)
            )
        elif field == "row":
            yield from (f"its row has `{key} = {_value(value)[1:]}" for key, value in pattern.items())
        elif (
            field not in ("name", "via")
            and (field, str(pattern)) not in _FIELDS
            and pattern != {"absent": True}
        ):
            yield f"`{field}` {_is(pattern)}"


def _is(pattern: Any) -> str:
    match pattern:
        case {"not": operand, **rest}:
            return f"is not {_value(operand)}" + (
                f" and {_is(rest)}" if rest and "present" not in rest else ""
            )
        case {"absent": True}:
            return "is not given"
        case {"present": True, **rest}:
            return _is(rest) if rest else "is given"
        case {"kind": "constant"}:
            return "is a constant"
        case {"kind": "expression"}:
            return "is an expression"
        case {"text": text}:
            return f"is {_value(text)}"
        case dict():
            return " and ".join(f"`{key}` {_is(value)}" for key, value in pattern.items())
        case _:
            return f"is {_value(pattern)}"


def _value(pattern: Any) -> str:
    if isinstance(pattern, list):
        *first, last = map(_value, pattern)
        return f"{', '.join(first)} or {last}" if first else last
    return _is(pattern).removeprefix("is ") if isinstance(pattern, Mapping) else f"`{pattern}`"
