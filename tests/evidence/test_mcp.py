"""The tools of `xlamig mcp` that run a program, asked by the client of the official SDK."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the server for agents is an extra")

from mcp import Client, StdioServerParameters

pytestmark = [pytest.mark.evidence, pytest.mark.asyncio]

PYTHON = os.environ.get("XLAMIG_XLA_PYTHON", sys.executable)
SERVER = ["-c", "from xlamig.cli import script; script()", "mcp", "--allow-write"]
TRAIN = """\
import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(8):
    inputs = torch.randn(8, 4).to(device)
    loss = model(inputs).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    print(loss.item())
"""


async def test_traces_verifies_and_fits_a_program(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    environment = {**os.environ, "XLAMIG_PYTHON": PYTHON, "XDG_CACHE_HOME": str(tmp_path / "user")}
    server = StdioServerParameters(command=sys.executable, args=[*SERVER, str(tmp_path)], env=environment)
    async with Client(server) as client:

        async def ask(tool: str) -> dict[str, Any]:
            answer = await client.call_tool(tool, {"program": "train.py"})
            assert not answer.is_error, answer.content
            assert isinstance(answer.structured_content, dict)
            return answer.structured_content

        traced = await ask("trace")
        assert traced["exit_code"] == 0, traced["messages"]
        events = json.loads(traced["output"])["events"]
        assert [event["via"] for event in events if event["location"]["row"] == 14] == ["item"]
        verified = await ask("verify")
        assert verified["exit_code"] == 1, verified
        assert "at train.py:14:11  print(loss.item())" in verified["output"]
        fitted = await ask("fit")
        assert "train.py" in fitted["output"] or "libtpu" in fitted["messages"], fitted
