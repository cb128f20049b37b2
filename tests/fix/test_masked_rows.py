"""Rows that only sums use stay, with zeros outside of the mask."""

from __future__ import annotations

import textwrap

import pytest
from tests.fix.test_flow_fixes import fixed

CODE = """
import torch.nn.functional as F

def dice(x, y, weight):
    m = y != 255
{body}

for x, y in loader:
    loss = dice(model(x.to(device)), y.to(device), 2.0)
    loss.backward()
    optimizer.step()
"""
ZERO = "{0} = {0}.masked_fill(m.logical_not().reshape((-1,) + (1,) * ({0}.dim() - 1)), 0)"


def rewritten(body: str) -> list[str]:
    code = CODE.format(body=textwrap.indent(textwrap.dedent(body).strip(), "    "))
    return [line for line in fixed(code, "XLA202") if "m." in line]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            """
            p = x.softmax(1).permute(0, 2, 3, 1)[m]
            t = F.one_hot(y[m], 4).float()
            inter = (p * t).sum(0)
            return 1 - (2 * inter / (p.sum(dim=0) + torch.sum(t, 0))).mean()
            """,
            [
                "p = x.softmax(1).permute(0, 2, 3, 1).flatten(0, m.dim() - 1)",
                ZERO.format("p"),
                "t = F.one_hot(y.masked_fill(m.logical_not(), 0).flatten(0, m.dim() - 1), 4).float()",
                ZERO.format("t"),
            ],
        ),
        (
            """
            x = x[m]
            y = y[m].float()
            return 1 - (x * y * 2).sum() / (x.pow(2).sum() + (y ** 2).sum())
            """,
            [
                "x = x.flatten(0, m.dim() - 1)",
                ZERO.format("x"),
                "y = y.flatten(0, m.dim() - 1).float()",
                ZERO.format("y"),
            ],
        ),
    ],
)
def test_sums_get_all_rows(body: str, lines: list[str]) -> None:
    assert rewritten(body) == lines


@pytest.mark.parametrize(
    "body",
    [
        "p = x[m]\nreturn p.mean(0).sum()",  # divides by the number of rows
        "p = x[m]\nreturn p.sum() / p.shape[0]",
        "p = x[m]\nreturn (1 - p).sum()",
        "p = x[m]\nreturn (p * weight).sum()",  # may have other rows
        "p = x[m]\nreturn (p + p).sum()",
        "p = x[m]\nreturn p.sum(1).max()",
        "p = x[m].exp()\nreturn p.sum()",
        "p = x[m]\np = p + 1\nreturn p.sum()",
        "for _ in range(2):\n    p = x[m]\n    q = p.sum()\nreturn q",
        "p = x[m]\nt = y[m].sqrt()\nreturn p.sum() + t.sum()",
        "t = F.one_hot(y[m]).float()\np = x[m]\nreturn (p * t).sum()",  # as many classes as there are
        "t = F.one_hot(weight[m], 4).float()\np = x[m]\nreturn (p * t).sum()",
        "p, q = x[m], x\nreturn p.sum()",
    ],
)
def test_other_uses_keep_the_selection(body: str) -> None:
    assert rewritten(body) == []
