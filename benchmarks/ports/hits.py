"""Which labels of a port the findings of `check` report."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.ports.labels import Label, Port

NEAR, NEAR_INSERTION = 1, 3  # lines between a finding and a label that it reports
LONGEST = 12  # lines that a finding speaks of, at most
INSERTED = "XLA4"  # rules about the step boundary: anywhere in the function of an insertion

SEVERITIES = ("error", "warning", "info")

Scope = tuple[int, int]


def reported(port: Port, folder: Path, findings: list[dict[str, Any]]) -> list[str]:
    """Return for each label of a port the severity that reports it, "" where no finding does."""
    found = {severity: _hits(port, folder, findings, severity) for severity in SEVERITIES}
    strongest = zip(*found.values(), strict=True)
    return [next((name for name, hit in zip(found, hits, strict=True) if hit), "") for hits in strongest]


def _hits(port: Port, folder: Path, findings: list[dict[str, Any]], severity: str) -> list[bool]:
    by_file: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for finding in (one for one in findings if one["severity"] == severity):
        row, end = finding["location"]["row"], finding["end_location"]["row"]
        by_file[finding["filename"]].append((finding["code"], row, min(end, row + LONGEST - 1)))
    return [_is_hit(label, by_file[label.file], folder) for label in port.labels]


def _is_hit(label: Label, findings: list[tuple[str, int, int]], folder: Path) -> bool:
    inserted = label.kind == "insertion"
    near = NEAR_INSERTION if inserted else NEAR
    first, last = label.line - near, label.end_line + near
    if any(row <= last and end >= first for _, row, end in findings):
        return True
    if not inserted:
        return False
    scopes = _scopes((folder / label.file).read_text(errors="replace"))
    scope = _scope(scopes, label.line)
    rows = [row for code, row, _ in findings if code.startswith(INSERTED)]
    return scope is not None and any(_scope(scopes, row) == scope for row in rows)


def _scopes(text: str) -> list[Scope]:
    """Return the spans of functions, and of the compound statements of the module."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    compound = [
        node for node in tree.body if isinstance(node, ast.For | ast.While | ast.If | ast.With | ast.Try)
    ]
    return [(node.lineno, node.end_lineno or node.lineno) for node in (*functions, *compound)]


def _scope(scopes: list[Scope], line: int) -> Scope | None:
    around = [scope for scope in scopes if scope[0] <= line <= scope[1]]
    return min(around, key=lambda scope: scope[1] - scope[0], default=None)
