"""The server as an editor uses it, through a real client."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from editor import SYNCHRONIZE, TRAIN, Editor, a_range, applied, session
from lsprotocol import types

pytestmark = pytest.mark.asyncio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "train.py").write_text(TRAIN)
    (root / "sync.py").write_text(SYNCHRONIZE)
    (root / "clean.py").write_text("print('no torch here')\n")
    return root


def edits_of(action: types.CodeAction, editor: Editor, name: str) -> list[types.TextEdit]:
    assert action.edit is not None
    if action.edit.changes:
        return list(action.edit.changes[editor.uri(name)])
    changes = action.edit.document_changes or []
    found = [c for c in changes if isinstance(c, types.TextDocumentEdit)]
    (own,) = [c for c in found if c.text_document.uri == editor.uri(name)]
    return [edit for edit in own.edits if isinstance(edit, types.TextEdit)]


async def test_publishes_diagnostics_when_a_file_is_opened(root: Path) -> None:
    async with session(root) as editor:
        await editor.open("sync.py")
        await editor.open("clean.py")
        (found,) = await editor.diagnostics("sync.py")
        assert found.code == "XLA005"
        assert found.range == a_range(2, 0, 2, 24)
        assert found.severity == types.DiagnosticSeverity.Error
        assert found.code_description is not None
        assert found.related_information
        assert await editor.codes("clean.py") == []
        assert editor.uri("train.py") not in editor.client.diagnostics


async def test_follows_edits_of_the_whole_text_and_of_ranges(root: Path) -> None:
    async with session(root) as editor:
        await editor.open("clean.py")
        await editor.change("clean.py", SYNCHRONIZE)
        assert await editor.codes("clean.py") == ["XLA005"]
        await editor.change("clean.py", "# ", a_range(2))
        assert await editor.codes("clean.py") == []
        await editor.change("clean.py", "", a_range(2, 0, 2, 2))
        assert await editor.codes("clean.py") == ["XLA005"]
        await editor.change("clean.py", "x = (\n")
        assert await editor.codes("clean.py") == ["XLA000"]
        await editor.close("clean.py")
        await editor.open("sync.py")
        assert await editor.codes("clean.py") == []


@pytest.mark.slow
async def test_counts_columns_as_the_client_does(root: Path) -> None:
    text = "import torch\nx = '𝔘é'; torch.cuda.synchronize()\n"
    for client, start in (("visual_studio_code", 11), ("neovim", 14)):  # UTF-16 and UTF-8
        async with session(root, client) as editor:
            await editor.open("sync.py", text)
            (found,) = await editor.diagnostics("sync.py")
            assert found.range == a_range(1, start, 1, start + 24)
            await editor.change("sync.py", "#", a_range(1, start))
            assert await editor.codes("sync.py") == []


@pytest.mark.slow
async def test_a_form_feed_is_part_of_its_line(root: Path) -> None:
    async with session(root) as editor:
        await editor.open("sync.py", "import torch\n\f\nx = '\u2028'\ntorch.cuda.synchronize()\n")
        assert [found.range.start.line for found in await editor.diagnostics("sync.py")] == [3]
        await editor.change("sync.py", "# ", a_range(3))
        assert await editor.codes("sync.py") == []


@pytest.mark.slow
async def test_publishes_every_file_of_the_workspace_when_asked_to(root: Path) -> None:
    async with session(root, diagnosticScope="workspace") as editor:
        await editor.open("clean.py")
        await editor.diagnostics("clean.py")
        assert editor.client.diagnostics[editor.uri("sync.py")]
        assert editor.client.diagnostics[editor.uri("train.py")]


@pytest.mark.slow
async def test_a_long_check_shows_its_progress(root: Path) -> None:
    for number in range(20):
        (root / f"module{number}.py").write_text(SYNCHRONIZE)
    async with session(root, diagnosticScope="workspace") as editor:
        await editor.open("sync.py")
        assert len(await editor.diagnostics("module7.py")) == 1
        (reports,) = editor.client.progress_reports.values()
        kinds = [report.kind for report in reports]
        assert (kinds[0], kinds[-1]) == ("begin", "end")
        assert "report" in kinds


@pytest.mark.slow
async def test_an_edit_changes_what_is_known_of_files_that_import_it(root: Path) -> None:
    (root / "compat.py").write_text("from torch.cuda import synchronize as wait\n")
    (root / "user.py").write_text("from compat import wait\n\nwait()\n")
    async with session(root) as editor:
        await editor.open("user.py")
        assert "XLA005" in await editor.codes("user.py")
        await editor.open("compat.py")
        await editor.change("compat.py", "def wait(): ...\n")
        assert await editor.codes("user.py") == []


@pytest.mark.slow
async def test_what_an_edit_changes_in_other_files_follows_it(root: Path) -> None:
    (root / "compat.py").write_text("import torch\n\ndef wait():\n    torch.cuda.synchronize()\n")
    text = "import torch\nfrom compat import wait\n\nif __name__ == '__main__':\n    torch.ones(wait())\n"
    (root / "user.py").write_text(text)
    async with session(root, diagnosticScope="workspace") as editor:
        await editor.open("user.py")
        await editor.settled()
        assert editor.shown("compat.py") == ["XLA005"]
        await editor.change("user.py", text.replace("wait())", "2)"))
        await editor.settled()
        assert editor.shown("compat.py") == []


@pytest.mark.slow
async def test_hover_shows_the_reasons_and_the_page_of_the_rule(root: Path) -> None:
    async with session(root) as editor:
        await editor.open("sync.py")
        text = await editor.hover("sync.py", 2, 5)
        assert "XLA005" in text
        assert "**What it does**" in text
        assert "**How to see it yourself**" in text
        assert await editor.hover("sync.py", 0, 0) == ""


@pytest.mark.slow
async def test_offers_a_fix_and_a_comment_for_a_finding(root: Path) -> None:
    async with session(root, ignoreReason="CUDA only") as editor:
        await editor.open("sync.py")
        fix, ignore = await editor.actions("sync.py", 2, ["quickfix"])
        assert fix.is_preferred
        assert "torch.cuda.synchronize()\n" not in applied(SYNCHRONIZE, edits_of(fix, editor, "sync.py"))
        assert ignore.title == "Ignore XLA005 on this line"
        ignored = applied(SYNCHRONIZE, edits_of(ignore, editor, "sync.py"))
        assert ignored.splitlines()[2] == "torch.cuda.synchronize()  # xlamig: ignore[XLA005] CUDA only"
        assert await editor.actions("sync.py", 0, ["quickfix"]) == []


@pytest.mark.slow
async def test_fixes_all_that_is_safe_when_the_action_is_resolved(root: Path) -> None:
    async with session(root) as editor:
        await editor.open("train.py")
        (action,) = await editor.actions("train.py", 0, ["source.fixAll"])
        assert action.edit is None
        resolved = await editor.client.code_action_resolve_async(action)
        fixed = applied(TRAIN, edits_of(resolved, editor, "train.py"))
        assert fixed != TRAIN
        await editor.change("train.py", fixed)
        (again,) = await editor.actions("train.py", 0, ["source.fixAll"])
        assert edits_or_nothing(await editor.client.code_action_resolve_async(again)) == []


def edits_or_nothing(action: types.CodeAction) -> list[object]:
    assert action.edit is not None
    return [*(action.edit.changes or ()), *(action.edit.document_changes or ())]


@pytest.mark.slow
async def test_gives_the_edit_at_once_to_a_client_that_cannot_resolve(root: Path) -> None:
    async with session(root, "emacs") as editor:
        await editor.open("sync.py")
        (action,) = await editor.actions("sync.py", 0, ["source.fixAll.xlamig"])
        assert action.edit is not None


@pytest.mark.slow
async def test_shows_what_a_step_costs_above_its_loop_when_asked_to(root: Path) -> None:
    document = types.CodeLensParams(types.TextDocumentIdentifier((root / "train.py").as_uri()))
    async with session(root, codeLens=True) as editor:
        await editor.open("train.py")
        (lens,) = await editor.client.text_document_code_lens_async(document) or ()
        assert lens.range.start.line == 4
        assert lens.command is not None
        assert "1 host read" in lens.command.title
    async with session(root) as editor:
        await editor.open("train.py")
        assert not await editor.client.text_document_code_lens_async(document)


@pytest.mark.slow
async def test_a_saved_configuration_holds_at_once(root: Path) -> None:
    async with session(root) as editor:
        await editor.open("sync.py")
        assert await editor.codes("sync.py") == ["XLA005"]
        (root / "xlamig.toml").write_text('ignore = ["XLA005"]\n')
        change = types.FileEvent(editor.uri("xlamig.toml"), types.FileChangeType.Created)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
        assert await editor.codes("sync.py") == []


@pytest.mark.slow
async def test_settings_of_the_editor_hold_when_they_change(root: Path) -> None:
    async with session(root, settings={"ignore": ["XLA005"]}) as editor:
        await editor.open("sync.py")
        assert await editor.codes("sync.py") == []
        settings = {"xlamig": {"debounce": 0, "settings": {}}}
        params = types.DidChangeConfigurationParams(settings)
        editor.client.workspace_did_change_configuration(params)
        assert await editor.codes("sync.py") == ["XLA005"]


@pytest.mark.slow
async def test_a_broken_configuration_is_reported_and_survived(root: Path) -> None:
    async with session(root) as editor:
        await editor.open("sync.py")
        assert await editor.codes("sync.py") == ["XLA005"]
        (root / "xlamig.toml").write_text("ignore = 1\n")
        change = types.FileEvent(editor.uri("xlamig.toml"), types.FileChangeType.Created)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
        await editor.hover("sync.py", 0, 0)
        assert any("xlamig.toml" in message.message for message in editor.client.messages)
        (root / "xlamig.toml").unlink()
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
        assert await editor.codes("sync.py") == ["XLA005"]


@pytest.mark.slow
async def test_checks_an_open_notebook_cell_by_cell(root: Path) -> None:
    cells = ["import torch\n", "# text", "torch.cuda.synchronize()\n"]
    saved = [{"cell_type": "code", "source": cell} for cell in cells]
    (root / "note.ipynb").write_text(json.dumps({"cells": saved, "metadata": {}, "nbformat": 4}))
    async with session(root) as editor:
        uris = [f"{editor.uri('note.ipynb').replace('file:', 'vscode-notebook-cell:')}#{i}" for i in range(3)]
        kinds = [types.NotebookCellKind.Code, types.NotebookCellKind.Markup, types.NotebookCellKind.Code]
        notebook = types.NotebookDocument(
            editor.uri("note.ipynb"), "jupyter-notebook", 1,
            [types.NotebookCell(kind, uri) for kind, uri in zip(kinds, uris, strict=True)],
        )  # fmt: skip
        opened = [
            types.TextDocumentItem(uri, types.LanguageKind.Python, 1, text)
            for uri, text in zip(uris, cells, strict=True)
        ]
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, opened))
        await editor.open("clean.py")
        await editor.diagnostics("clean.py")
        assert [d.code for d in editor.client.diagnostics[uris[2]]] == ["XLA005"]
        assert editor.client.diagnostics[uris[0]] == ()
        change = types.NotebookDocumentCellContentChanges(
            types.VersionedTextDocumentIdentifier(2, uris[2]),
            [types.TextDocumentContentChangePartial(a_range(0), "# ")],
        )
        editor.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(2, editor.uri("note.ipynb")),
                types.NotebookDocumentChangeEvent(
                    cells=types.NotebookDocumentCellChanges(text_content=[change])
                ),
            )
        )
        await editor.diagnostics("clean.py")
        assert editor.client.diagnostics[uris[2]] == ()
