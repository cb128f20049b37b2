"""The server for agents, asked by the client of the official SDK."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the server for agents is an extra")

from mcp import Client, StdioServerParameters

TRAIN = """\
import torch


def train(model, loader, optimizer):
    for images, labels in loader:
        loss = model(images.cuda(), labels.cuda())
        loss.backward()
        optimizer.step()
        print(loss.item())
"""
SERVER = ["-c", "from xlamig.cli import script; script()", "mcp"]
pytestmark = pytest.mark.asyncio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "train.py").write_text(TRAIN)
    (root / "sync.py").write_text("import torch\n\ntorch.cuda.synchronize()\n" * 30)
    functions = (f"def f{i}(x{i}):\n    x{i}.data_ptr()\n" for i in range(30))
    (root / "pointers.py").write_text("import torch\n" + "".join(functions))
    (tmp_path / "outside.py").write_text("import torch\ntorch.cuda.synchronize()\n")
    return root


@asynccontextmanager
async def agent(root: Path, *flags: str) -> AsyncIterator[Client]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(root.parent / "user")}
    server = StdioServerParameters(command=sys.executable, args=[*SERVER, *flags, str(root)], env=environment)
    async with Client(server) as client:
        yield client


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert isinstance(answer.structured_content, dict)
    return answer.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return str(answer.content[0])


async def test_lists_what_it_can_do(root: Path) -> None:
    async with agent(root) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"check", "explain", "ops", "plan", "fix", "trace", "verify", "fit"}
        assert all(tool.description for tool in tools.values())


@pytest.mark.slow
async def test_pages_findings_to_the_end(root: Path) -> None:
    async with agent(root) as client:
        first = await ask(client, "check", path="pointers.py", limit=20)
        assert (len(first["findings"]), first["total"], first["next_offset"]) == (20, 30, 20)
        rest = await ask(client, "check", path="pointers.py", limit=20, offset=20)
        assert (len(rest["findings"]), rest["next_offset"]) == (10, None)
        assert (await ask(client, "check", path="pointers.py", offset=500))["findings"] == []
        (sync,) = (await ask(client, "check", path="sync.py"))["findings"]
        assert (sync["places"], len(sync["also"]), sync["also"][0]) == (30, 20, "sync.py:6 XLA005")
        one = await ask(client, "check", code="XLA101")
        assert [(f["filename"], f["row"]) for f in one["findings"]] == [("train.py", 9)]


@pytest.mark.slow
async def test_sees_a_file_that_changed_between_calls(root: Path) -> None:
    async with agent(root) as client:
        assert (await ask(client, "check", path="train.py", code="XLA005"))["total"] == 0
        (root / "train.py").write_text("import torch\ntorch.cuda.synchronize()\n")
        assert (await ask(client, "check", path="train.py", code="XLA005"))["total"] == 1


@pytest.mark.slow
async def test_explains_a_rule_and_suggests_the_nearest(root: Path) -> None:
    async with agent(root) as client:
        page = await ask(client, "explain", rule="XLA101")
        assert page["sections"]["Why it matters on a TPU"]
        assert "XLA101" in await refusal(client, "explain", rule="XLA1O1")


@pytest.mark.slow
async def test_answers_about_operators_and_takes_no_options(root: Path) -> None:
    async with agent(root) as client:
        assert "torch.median" in (await ask(client, "ops", names=["torch.median"]))["output"]
        assert "dash" in await refusal(client, "ops", names=["--help"])
        assert "empty" in await refusal(client, "ops", names=[])


@pytest.mark.slow
async def test_plans_tasks_that_stand_alone(root: Path) -> None:
    async with agent(root) as client:
        plan = await ask(client, "plan", limit=2)
        assert plan["next_offset"] == 2
        assert plan["uncalibrated"]
        for task in plan["tasks"]:
            assert task["why"] and task["where"] and task["check"]
            assert task["proof"] == f"xlamig check --select {task['code']} ."


@pytest.mark.slow
async def test_shows_a_diff_and_writes_nothing_without_leave(root: Path) -> None:
    async with agent(root) as client:
        shown = await ask(client, "fix", path="sync.py")
        assert "-torch.cuda.synchronize()" in shown["diffs"][0]
        assert not shown["written"]
        assert "--allow-write" in await refusal(client, "fix", path="sync.py", apply=True)
        for tool in ("trace", "verify", "fit"):
            assert "--allow-write" in await refusal(client, tool, program="train.py")
    assert "torch.cuda.synchronize()" in (root / "sync.py").read_text()


@pytest.mark.slow
async def test_writes_fixes_with_leave(root: Path) -> None:
    async with agent(root, "--allow-write") as client:
        assert (await ask(client, "fix", path="sync.py", apply=True))["written"]
        assert "\ntorch.cuda.synchronize()" not in (root / "sync.py").read_text()
        assert (await ask(client, "fix", path="sync.py"))["diffs"] == []


async def test_stays_inside_its_roots(root: Path) -> None:
    (root / "link.py").symlink_to(root.parent / "outside.py")
    (root / "folder").symlink_to(root.parent)
    async with agent(root, "--allow-write") as client:
        for path in (
            "../outside.py",
            str(root.parent),
            "/etc/passwd",
            "link.py",
            "folder",
            "a/../../outside.py",
        ):
            for tool in ("check", "fix", "plan"):
                assert "outside the roots" in await refusal(client, tool, path=path)
        assert "outside the roots" in await refusal(client, "trace", program="../outside.py")
        assert "does not exist" in await refusal(client, "check", path="missing.py")
        found = await ask(client, "check", limit=100)
        assert "link.py" not in {finding["filename"] for finding in found["findings"]}
        await ask(client, "fix", path="train.py", apply=True)
    assert (root.parent / "outside.py").read_text() == "import torch\ntorch.cuda.synchronize()\n"


@pytest.mark.slow
async def test_a_wrong_argument_is_an_answer(root: Path) -> None:
    async with agent(root) as client:
        assert await refusal(client, "check", severity="fatal")
        assert await refusal(client, "check", offset="many")
        assert (await ask(client, "check", limit=-5))["findings"]
