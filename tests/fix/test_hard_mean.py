"""The mean over hard examples becomes a choice between two means."""

from __future__ import annotations

import textwrap

import pytest
from tests.fix.test_flow_fixes import fixed

CODE = """
class Hard(nn.Module):
    def __init__(self, t, k):
        super().__init__()
        self.t, self.k = t, k

    def forward(self, x):
{body}

hard = Hard(0.7, 16)
for x in loader:
    loss = hard((model(x.to(device)) - 1).square().mean(1))
    loss.backward()
    optimizer.step()
"""
MEAN = "torch.where(x > self.t, x, 0).sum() / (x > self.t).sum().clamp(min=1)"


def rewritten(body: str) -> list[str]:
    code = CODE.format(body=textwrap.indent(textwrap.dedent(body).strip(), " " * 8))
    return [line for line in fixed(code, "XLA202") if "x" in line and "run_on" not in line]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (
            """
            h = x[x > self.t]
            if h.numel() < self.k:
                h, _ = x.topk(self.k)
            return torch.mean(h)
            """,
            f"h = torch.where((x > self.t).sum() < self.k, x.topk(self.k)[0].mean(), {MEAN})",
        ),
        (
            """
            h = x[x > self.t]
            if len(h) <= 4:
                h = torch.topk(x, 4)[0]
            return h.mean()
            """,
            f"h = torch.where((x > self.t).sum() <= 4, torch.topk(x, 4)[0].mean(), {MEAN})",
        ),
        (
            """
            x, _ = torch.sort(x, descending=True)
            if x[self.k] > self.t:
                x = x[x > self.t]
            else:
                x = x[:self.k]
            return torch.mean(x)
            """,
            f"x = torch.where((x[self.k] > self.t).logical_not(), x[:self.k].mean(), {MEAN})",
        ),
    ],
)
def test_the_device_chooses(body: str, line: str) -> None:
    assert rewritten(body) == [line]


@pytest.mark.parametrize(
    "body",
    [
        "h = x[x > self.t]\nif h.numel() < self.k:\n    h, _ = x.topk(self.k)\nreturn h.sum()",
        "h = x[x > self.t]\nif h.numel() < self.k:\n    h, _ = x.topk(self.k)\nreturn h.mean() + h.max()",
        "h = x[x > self.t]\nif h.numel() < self.k:\n    h, _ = x.topk(self.k)\n    print(h)\nreturn h.mean()",
        "h = x[x > self.t]\nif h.numel() < self.k:\n    h, _ = h.topk(self.k)\nreturn h.mean()",
        "x = x[x > self.t]\nif x.numel() < self.k:\n    x = x.topk(1)[0]\nreturn x.mean()",
        "h = x[x > self.t]\nif h.numel() < self.k:\n    h, i = x.topk(self.k)\nreturn h.mean()",
        "if self.k > 3:\n    h = x[x > self.t]\nelse:\n    h = x[:self.k]\nreturn h.mean()",
    ],
)
def test_other_choices_stay(body: str) -> None:
    assert rewritten(body) == []
