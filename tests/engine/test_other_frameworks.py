"""Tensors of another framework are none of torch."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

LOSS = """IMPORTS

class Loss(nn.Layer):
    def forward(self, scores, mask: "Tensor"):
        picked = scores.masked_select(mask)
        if picked.sum().item() > 0:
            return picked.mean()
        return scores.mean()
"""
TOOLS = "import torch\n\ndef ready():\n    return torch.cuda.is_available()\n"


@pytest.mark.parametrize(
    ("imports", "told"),
    [
        ("import paddle\nfrom paddle import nn", False),
        ("from tools import ready\nimport paddle.nn as nn  # ported from torch", False),
        ("def load():\n    import jax\n    return jax\nfrom flax import linen as nn", False),
        ("import torch\nfrom torch import nn", True),
        ("import paddle\nimport torch\nfrom torch import nn", True),
        ("import paddle\nimport torch_xla\nfrom layers import nn", True),
        ("from tools import ready\nimport paddles.nn as nn", True),
    ],
)
def test_reports_nothing_of_their_tensors(tmp_path: Path, imports: str, told: bool) -> None:
    write({"loss.py": LOSS.replace("IMPORTS", imports), "tools.py": TOOLS}, tmp_path)
    options = engine.Options({"select": ["XLA1", "XLA2"]}, jobs=1, cache=False, isolated=True)
    assert bool(engine.check([tmp_path], options).findings) == told
