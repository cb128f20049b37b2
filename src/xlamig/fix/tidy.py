"""Deletes the imports that fixes left unused."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from xlamig import ir
from xlamig.config.settings import Settings
from xlamig.findings import Edit
from xlamig.fix.context import FixContext
from xlamig.fix.edits import apply_edits
from xlamig.fix.imports import bound_by, imports_of, remove_import
from xlamig.fix.scopes import reads
from xlamig.fix.soundness import parse
from xlamig.source.text import SourceText


def tidy(
    before: ir.Module, source: SourceText, holds: Callable[[str], bool], keeps: Callable[[str], bool]
) -> str:
    """Return the text without the imports that are used in `before` and not named now.

    A name in a string or a comment counts as named. A name that `keeps` holds back stays, and a
    text for which `holds` says no is not kept.
    """
    module = parse(source.text)
    while module is not None:
        edits = _delete_unused(before, FixContext(source, module, Settings()), keeps)
        text = apply_edits(source.text, edits)
        if not edits or not holds(text):
            break
        source = replace(source, text=text)
        module = parse(text)
    return source.text


def _delete_unused(before: ir.Module, context: FixContext, keeps: Callable[[str], bool]) -> list[Edit]:
    """Return edits that delete at most one name of each statement."""
    if context.source.filename.endswith("__init__.py"):
        return []
    edits = []
    for statement in imports_of(context.module):
        names = (name for name in map(bound_by, statement.names) if reads(before, name) and not keeps(name))
        unused = next((name for name in names if _named_only_in(context, name, statement)), None)
        edit = remove_import(context, statement, unused) if unused else None
        edits += [edit] if edit else []
    return edits


def _named_only_in(context: FixContext, name: str, statement: ir.Stmt) -> bool:
    word = re.compile(rf"\b{re.escape(name)}\b")
    inside = word.findall(context.source.text, statement.start, statement.end)
    return len(word.findall(context.source.text)) == len(inside)
