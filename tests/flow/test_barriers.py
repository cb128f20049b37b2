"""A barrier right before a collective needs no replacement."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine


@pytest.mark.parametrize(
    ("after", "needed"),
    [
        ("dist.all_reduce(t)", False),
        ("work = dist.all_gather(parts, t, async_op=True)", False),
        ("t = t + 1\n    dist.all_reduce(t)", True),
        ("if t.sum() > 0:\n        dist.all_reduce(t)", True),
        ("return t", True),
        ("self.all_reduce(t)", True),
    ],
)
def test_a_barrier_before_a_collective_asks_for_no_change(after: str, needed: bool) -> None:
    head = "import torch\nimport torch.distributed as dist\n\ntorch.cuda.init()\n\ndef f(self, t, parts):\n"
    text = f"{head}    dist.barrier()\n    {after}\n"
    options = engine.Options({"select": ["XLA711"]}, isolated=True, stdin=("train.py", text.encode()))
    (finding,) = engine.check([Path("train.py")], options).findings
    assert finding.no_action is not needed
