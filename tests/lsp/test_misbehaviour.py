"""A client that says what makes no sense gets an answer, and the server goes on."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from editor import SERVER, SYNCHRONIZE, a_range, session
from lsprotocol import types

PIPE = asyncio.subprocess.PIPE
ROOT = Path(__file__).parents[2]


NONSENSE = (
    '"method": "xlamig/unknown", "params": {"a": 1}',
    '"method": "textDocument/didChange", "params": {"textDocument": 7}',
    '"method": "textDocument/didOpen"',
    '"id": "never", "result": 1',
    '"id": 77, "method": "textDocument/hover", "params": {"position": {"line": -1}}',
    '"id": 78, "method": "xlamig/unknown", "params": null',
)


def message(body: bytes, length: int | None = None) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body) if length is None else length, body)


def notification(content: str) -> bytes:
    return f'{{"jsonrpc": "2.0", {content}}}'.encode()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "sync.py").write_text(SYNCHRONIZE)
    return root


@pytest.mark.slow
@pytest.mark.asyncio
async def test_messages_that_make_no_sense_leave_the_server_working(root: Path) -> None:
    async with session(root) as editor:
        client = editor.client
        editor.versions["never.py"] = 0
        await editor.change("never.py", "x")
        await editor.close("never.py")
        await editor.open("sync.py")
        await editor.open("sync.py", SYNCHRONIZE + "# opened twice\n")
        await editor.change("sync.py", "", a_range(10_000, 5, 20_000, 0))
        await editor.change("sync.py", "# back to front\n", a_range(4, 0, 1, 0))
        await editor.change("sync.py", "", a_range(0, 10_000, 0, 10_000))
        await editor.open("../outside.py", SYNCHRONIZE)
        nowhere = types.TextDocumentItem("untitled:one", types.LanguageKind.Python, 1, SYNCHRONIZE)
        client.text_document_did_open(types.DidOpenTextDocumentParams(nowhere))
        configuration = types.DidChangeConfigurationParams({"xlamig": [1, 2]})
        client.workspace_did_change_configuration(configuration)
        writer = client.protocol.writer
        assert writer is not None
        for said in (b"{", b"[1]", b'{"jsonrpc": "2.0"}', b"\xff", *map(notification, NONSENSE)):
            writer.write(message(said))
        with pytest.raises(Exception, match=r".+"):
            command = types.ExecuteCommandParams("xlamig.ignore", [1])
            await client.workspace_execute_command_async(command)
        assert await editor.codes("../outside.py") == []
        await editor.change("sync.py", SYNCHRONIZE)
        assert await editor.codes("sync.py") == ["XLA005"]


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_huge_document_is_skipped_until_it_shrinks(root: Path) -> None:
    async with session(root) as editor:
        await editor.open("sync.py", SYNCHRONIZE + "x = [0]\n" * 300_000)
        assert await editor.codes("sync.py") == []
        await editor.change("sync.py", SYNCHRONIZE)
        assert await editor.codes("sync.py") == ["XLA005"]


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_document_may_be_closed_and_deleted_while_it_is_checked(root: Path) -> None:
    async with session(root) as editor:
        await editor.open("sync.py")
        await editor.change("sync.py", "torch.cuda.synchronize()\n" * 2_000)
        await editor.close("sync.py")
        assert await editor.codes("sync.py") == []
        await editor.open("sync.py", SYNCHRONIZE * 500)
        (root / "sync.py").unlink()
        await editor.close("sync.py")
        assert await editor.codes("sync.py") == []
        await editor.open("sync.py", SYNCHRONIZE)
        assert await editor.codes("sync.py") == ["XLA005"]


@pytest.mark.slow
@pytest.mark.asyncio
async def test_random_edits_end_with_the_diagnostics_of_a_batch_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`benchmarks/speed/edits.py --server` does the same with many more edits."""
    sys.path.insert(0, str(ROOT / "benchmarks" / "speed"))
    import edits

    monkeypatch.chdir(tmp_path)
    assert await edits.run_server(ROOT / "fixtures" / "repos", 120, 60, None) == 0
    assert capsys.readouterr().out.count("same") == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        message(b"{"),
        message(b"[1, 2]"),
        message(b'{"jsonrpc": "2.0", "id": 1, "method": "textDocument/hover", "params": {}}'),
        message(b"\xff\xfe"),
        message(b"{}", 1_000_000),
    ],
    ids=["nothing", "empty", "http", "half", "list", "early", "bytes", "cut"],
)
def test_ends_when_the_client_has_gone_whatever_it_said(said: bytes, tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(SERVER, input=said, capture_output=True, env=environment, timeout=60)
    assert done.returncode in (0, 1)
    assert b"Traceback" not in done.stdout


@pytest.mark.slow
@pytest.mark.asyncio
async def test_ends_when_the_client_dies_in_the_middle_of_a_check(root: Path) -> None:
    server = await asyncio.create_subprocess_exec(
        *SERVER,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert server.stdin is not None
    body = (
        '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": '
        f'{{"processId": null, "capabilities": {{}}, "rootUri": "{(ROOT / "fixtures").as_uri()}"}}}}'
    )
    server.stdin.write(message(body.encode()))
    server.stdin.write(message(b'{"jsonrpc": "2.0", "method": "initialized", "params": {}}'))
    await server.stdin.drain()
    assert server.stdout is not None
    await server.stdout.readline()
    server.stdin.close()
    await asyncio.wait_for(server.wait(), 60)
