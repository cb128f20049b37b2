"""Indices that the host finds by values: their number changes every step where the values do."""

from __future__ import annotations

import pytest

from .said import facts

STEP = """
import numpy as np
net = nn.Linear(4, 8).to("xla")
opt = torch.optim.SGD(net.parameters(), lr=0.1)
FIXED = np.array([1, 0, 1])

def loss_of(labels, out):
    {body}

for labels, x in loader:
    loss = loss_of(labels.numpy(), net(x.to("xla")))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def found(body: str) -> int:
    told = facts(STEP.format(body=body.replace("\n", "\n    ")))
    return sum(fact.kind == "dynamic-shape" and fact.via == "host-indices" for fact in told)


@pytest.mark.parametrize(
    "body",
    [
        "return out[np.where(labels != 0)].sum()",
        "chosen = np.nonzero(labels)[0]\nreturn out[chosen].sum()",
        "chosen = np.flatnonzero(labels == 1)\nreturn out[chosen].sum()",
        "kept = labels > 0\nchosen = np.where(kept)\nreturn out[chosen].sum()",
    ],
)
def test_reports_indices_of_what_a_step_gives(body: str) -> None:
    assert found(body) == 1


@pytest.mark.parametrize(
    "body",
    [
        "return out[np.where(FIXED != 0)[0]].sum()",
        "return out[np.where(np.eye(len(labels)))].sum()",
        "apart = 1 - np.eye(labels.shape[0])\nreturn sum(out[np.where(apart[i])[0]].sum() for i in range(3))",
        "return out[np.argsort(labels)].sum()",
        "return out[np.where(labels > 0, labels, 0)].sum()",
        "rows = labels[np.where(labels != 0)]\nreturn out.sum() * len(rows)",
        "chosen = np.where(labels != 0)\nchosen = [0, 1]\nreturn out[chosen].sum()",
    ],
)
def test_is_silent_about_other_indices(body: str) -> None:
    assert found(body) == 0
