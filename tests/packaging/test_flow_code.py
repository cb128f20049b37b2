"""The code of the analysis: documented, typed, one table of devices."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import xlamig

FLOW = Path(xlamig.__file__).parent / "flow"
TEXTS = {path.relative_to(FLOW).as_posix(): path.read_text("utf-8") for path in FLOW.rglob("*.py")}


def public_functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body)
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node


def test_public_functions_are_documented() -> None:
    found = [
        f"{name}: {function.name}"
        for name, text in TEXTS.items()
        for function in public_functions(ast.parse(text).body)
        if not ast.get_docstring(function)
    ]
    assert found == []


def test_any_has_a_reason() -> None:
    """`# Any: why` stands on the line or on the one above."""
    found = []
    for name, text in TEXTS.items():
        lines = [line for line in text.split("\n") if not line.startswith("from typing")]
        for above, line in zip(["", *lines], lines, strict=False):
            if re.search(r"\bAny\b", line.split("#")[0]) and "# Any: " not in f"{above}{line}":
                found.append(f"{name}: {line.strip()}")
    assert found == []


def test_no_code_lists_device_types() -> None:
    """`knowledge/data/devices.toml` alone says which names are devices."""
    named = re.compile(r"\b(?:xpu|npu|hpu|musa|mlu)\b")
    codes = {name: re.sub(r"#.*", "", text) for name, text in TEXTS.items()}
    assert [name for name, text in codes.items() if named.search(text)] == []
