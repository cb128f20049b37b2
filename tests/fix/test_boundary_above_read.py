"""A function that updates the parameters and then reads a value ends the step in between."""

from __future__ import annotations

import textwrap

import pytest
from tests.fix.test_flow_fixes import fixed

CODE = """
def step(x, sched=None):
    optimizer.zero_grad()
    loss = model(x.to(device)).mean()
    loss.backward()
{body}

for x in loader:
    print(step(x))
"""


def written(body: str, *rules: str) -> list[str]:
    code = CODE.format(body=textwrap.indent(textwrap.dedent(body).strip(), "    "))
    lines = fixed(code, *rules or ("XLA101",))
    return [line for line in lines if "loss" in line or line.endswith("step_boundary()")]


@pytest.mark.parametrize(
    "body",
    [
        "optimizer.step()\nreturn loss.item()",
        "optimizer.step()\nlog = {'loss': loss.item()}\nreturn log",
        "optimizer.step()\nif sched is not None:\n    sched.step()\nreturn float(loss)",
        "optimizer.step()\nif sched:\n    return loss.item()\nreturn None",
    ],
)
def test_a_boundary_stands_below_the_update(body: str) -> None:
    assert written(body) == ["step_boundary()"]


@pytest.mark.parametrize(
    "body",
    [
        "value = loss.item()\noptimizer.step()\nreturn value",
        "import torch_xla\noptimizer.step()\ntorch_xla.sync()\nreturn loss.item()",
        "optimizer.step()\nreturn loss",
        "for _ in range(2):\n    optimizer.step()\n    print(loss.item())",  # another rule ends these steps
    ],
)
def test_none_is_written(body: str) -> None:
    assert written(body) == []
