"""A table of a model that is resized only for inputs of another size than its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.findings import Finding

HEAD = """import torch
from torch import nn
import torch.nn.functional as F
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.pos_embed = nn.Parameter(torch.zeros(1, n, 8))
    def forward(self, x, w, h):
"""
RESIZED = "F.interpolate(self.pos_embed.reshape(1, 4, 4, 8).permute(0, 3, 1, 2), (w, h), mode='bicubic')"


def found(body: str, head: str = HEAD) -> list[Finding]:
    text = head + "".join(f"        {line}\n" for line in body.split("; "))
    options = engine.Options({"select": ["XLA502"]}, isolated=True, stdin=("train.py", text.encode()))
    return list(engine.check([Path("train.py")], options).findings)


@pytest.mark.parametrize(
    "body",
    [
        f"return x + {RESIZED}",
        f"if self.training: return x; return x + {RESIZED}",
        f"if x.shape[1] > self.pos_embed.shape[1]: return x; return x + {RESIZED}",
        f"if self.training and w == h: return x; return x + {RESIZED}",
        f"if w == 14: return x; return x + {RESIZED}",
        f"if x.shape[1] != self.pos_embed.shape[1]: return x; return x + {RESIZED}",
        f"if x.shape[1] == self.pos_embed.shape[1]: x = {RESIZED}; return x",
        # What is resized is the input, which may always have another size.
        "if x.shape[-1] != self.size: x = F.interpolate(x, self.size, mode='bicubic'); return x",
        "if x.shape == y.shape: return x; return F.interpolate(x, y.shape[2:], mode='bicubic')",
        "z = self.net(x); if z.shape != x.shape: z = F.interpolate(z, w, mode='bicubic'); return z",
    ],
)
def test_what_may_run_every_step_is_a_warning(body: str) -> None:
    (finding,) = found(body)
    assert finding.severity == "warning"


@pytest.mark.parametrize(
    "body",
    [
        "n = self.pos_embed.shape[1]; if x.shape[1] == n and w == h: return self.pos_embed; "
        f"return {RESIZED}",
        "n = self.pos_embed.shape[1]; if not torch.jit.is_tracing() and n == x.shape[1] and w == h: "
        f"return self.pos_embed; return {RESIZED}",
        f"if (w, h) != self.grid_size: return x + {RESIZED}; return x + self.pos_embed",
        f"if w * h == self.patch_embed.num_patches: return x; else: return x + {RESIZED}",
        f"pos = self.pos_embed if x.size(1) == self.pos_embed.size(1) else {RESIZED}; return x + pos",
        f"if not (x.shape[1] == self.pos_embed.shape[1]): x = {RESIZED}; return x",
        "pos = self.pos_embed[:, 1:]; if pos.shape[1] != x.shape[1]: "
        "pos = F.interpolate(pos.reshape(1, 4, 4, 8), w, mode='bicubic'); return x + pos",
    ],
)
def test_what_only_another_size_runs_is_information(body: str) -> None:
    (finding,) = found(body)
    assert finding.severity == "info"
    assert (finding.help or "").startswith("Leave it if every input has the size")


def test_positions_that_are_passed_in_are_a_table() -> None:
    head = "import torch.nn.functional as F\ndef get(%s, n):\n    for _ in n:\n"
    body = "if %s.shape[0] != n: %s = F.interpolate(%s.reshape(1, n, -1), n, mode='linear'); return %s"
    for name, severity in (("rel_pos", "info"), ("features", "warning")):
        (finding,) = found(body.replace("%s", name), head.replace("%s", name))
        # Nothing says that it runs every step, but the help does not send the reader away.
        assert ("Leave it if every input" in (finding.help or "")) is (severity == "info")
