"""The five tables of a scan: their columns with type and meaning. docs/fleet.md is held to it.

A new column at the end of a table raises the minor version, any other change the major one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

SCHEMA_VERSION = "1.0"

Type = Literal["text", "integer", "number", "truth"]
Cell = str | int | float | bool | None
Row = Mapping[str, Cell]
Rows = Mapping[str, "list[Row]"]
"""Rows by table."""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: Type
    meaning: str


def _columns(kind: Type, /, **meanings: str) -> tuple[Column, ...]:
    return tuple(Column(name, kind, meaning) for name, meaning in meanings.items())


REPOSITORY = Column("repository", "text", "`name` in `repositories`")

TABLES: Mapping[str, tuple[Column, ...]] = {
    "repositories": (
        *_columns(
            "text",
            name="the repository's name, unique in a scan",
            location="where it was read: a folder, a mirror or a URL",
            folder='the folder of it that was scanned, "" for all',
            wanted='the branch, tag or commit asked for; "" for the mirror\'s default branch',
            revision='the commit, or "files:" and a digest of the files outside git or changed since',
            status="`ok`, or why there is nothing but this row: `error`, `timeout`, `memory` or `killed`",
            error="that reason in a sentence",
            target="the XLA backend",
            verdict="of the plan: `nothing`, `ready`, `easy`, `moderate`, `hard`, `blocked`",
            verdict_reason="why",
            gpu="the GPU its jobs run on, as given",
        ),
        Column("gpu_hours", "number", "the hours of such GPUs they take, as given; null where not given"),
        *_columns(
            "integer",
            files="files that were checked",
            files_skipped="files that could not be, or that the mirror does not hold",
            lines="their lines",
            findings="how many findings there are",
            errors="of severity `error`",
            warnings="of severity `warning`",
            lines_to_change="lines to delete and add, the likely value",
        ),
        *_columns(
            "number",
            low_hours="the plan's hours in all, environment and first run included: the low end",
            likely_hours="the likely value",
            high_hours="the high end",
            after_fix_hours="the likely value once `xlamig check --fix` has run",
        ),
        *_columns(
            "text",
            settings="a digest of the settings and rules of the scan",
            tool_version="the version of xlamig",
            model_version="the version of the effort model",
            schema_version="the version of these tables",
        ),
    ),
    "findings": (
        REPOSITORY,
        *_columns(
            "text",
            code="the rule",
            name="its name",
            severity="`error`, `warning` or `info`",
            mechanism="`error`, `wrong-result`, `recompile`, `host-sync` ...",
            frequency="`once`, `epoch`, `interval`, `step` or `unknown`",
            confidence="`certain`, `likely` or `possible`",
            level="effort: `trivial`, `simple`, `complex`, `redesign`, `rearchitect`, `unknown`, `info`",
            unit="what that is for: `site`, `function`, `file`, `repo`, `dependency`",
            phase="`run`, `correct`, `scale` or `fast`",
            subject="the operator, API or package that the message names first",
            message="the message",
            filename="relative to the repository's top",
        ),
        *_columns(
            "integer", cell="of a notebook, else null", row="1 for the first", column="1 for the first"
        ),
        *_columns(
            "text",
            scope='the enclosing function or class, "" at module level',
            fix='`safe`, `unsafe`, `display`, or "" where there is none',
            fingerprint="stays the same when lines move",
        ),
    ),
    "packages": (
        REPOSITORY,
        *_columns(
            "text",
            package="its name in the normal form of PEP 503",
            via="`requirement`, `import`, `own` (the repository is this distribution), `module` (it is one "
            "of its modules), or `rule`: it does not run on a TPU as it is",
            version="the specifier of a requirement",
            filename="the first file that says so",
        ),
        *_columns("integer", files="how many files do"),
        *_columns("truth", optional="an extra, or a group for development"),
        *_columns("text", code="with `rule`: which rules, with commas"),
        *_columns("number", hours_saved="with `rule`: likely hours less if the package ran on a TPU"),
        *_columns("text", verdict_without="with `rule`: the plan's verdict if the package ran on a TPU"),
    ),
    "kernels": (
        REPOSITORY,
        *_columns(
            "text",
            kernel="its name",
            kind="`cuda` or `triton`",
            filename="relative to the repository's top",
        ),
        *_columns("integer", row="1 for the first", lines="lines of device code, 0 where not counted"),
        *_columns(
            "text",
            operators="by which Python calls it, with commas",
            features="what it uses, with commas: `shared-memory`, `atomics` ...",
        ),
    ),
    "plans": (
        REPOSITORY,
        *_columns(
            "text",
            phase="`run`, `correct`, `scale`, `fast`, or `fixed`: environment, first run, loss parity",
            code='the rule whose work this is, "" with `fixed`',
            name="its name",
        ),
        *_columns("integer", findings="how many", sites="places to change", lines="lines to delete and add"),
        *_columns(
            "number",
            low_hours="the low end; the rows of a repository add up to its likely hours only",
            likely_hours="the likely value",
            high_hours="the high end",
            after_fix_hours="the likely value once `xlamig check --fix` has run",
        ),
        *_columns("text", verify="how to see that it is done"),
    ),
}
