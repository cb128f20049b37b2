"""Code actions: one per fix, one per suppression, and all safe fixes of a document at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types

from xlamig.findings import ABOUT_THE_RUN, Finding
from xlamig.lsp.diagnostics import View, diagnostic
from xlamig.lsp.edits import fix_edits, ignore_edits, workspace_edit
from xlamig.lsp.settings import ServerSettings
from xlamig.source.text import SourceText

FIX_ALL = "source.fixAll.xlamig"


def quick_fixes(
    findings: Sequence[Finding], text: SourceText, view: View, settings: ServerSettings, can_create: bool
) -> Iterator[types.CodeAction]:
    """The fixes of these findings, then comments that suppress them."""
    for finding in findings:
        fix = finding.fix
        if fix is None or not fix.edits or fix.applicability == "display":
            continue
        unsafe = fix.applicability == "unsafe"
        edits = fix_edits(fix, view)
        if edits is None or (unsafe and not settings.unsafe_fixes):
            continue
        title = f"{finding.code}: {fix.message}" + (" (unsafe: the meaning may change)" if unsafe else "")
        yield types.CodeAction(
            title,
            types.CodeActionKind.QuickFix,
            [diagnostic(finding, view)],
            is_preferred=not unsafe,
            edit=workspace_edit(edits, fix.creates, view, can_create),
        )
    for finding in findings:
        if finding.code.startswith(ABOUT_THE_RUN):
            continue
        row = text.locate(min(finding.place.start, len(text.text))).row
        edits = ignore_edits(text, {row: [finding.code]}, settings.ignore_reason, view)
        if edits:
            yield types.CodeAction(
                f"Ignore {finding.code} on this line",
                types.CodeActionKind.QuickFix,
                [diagnostic(finding, view)],
                edit=workspace_edit(edits, (), view, can_create),
            )


def fix_all(uri: str, edit: types.WorkspaceEdit | None = None) -> types.CodeAction:
    """All safe fixes of a document. Without an edit, the client asks for it once the user chose this."""
    return types.CodeAction(
        "Apply all safe fixes of xlamig",
        FIX_ALL,
        edit=edit,
        data={"uri": uri},
    )


def wants(kind: str, only: Sequence[str] | None) -> bool:
    """Return whether a client that asks for these kinds wants one; a kind includes those below it."""
    return not only or any(kind == asked or kind.startswith(f"{asked}.") for asked in only)
