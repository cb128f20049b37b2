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

SOMETIMES = """
def act(x):
    return model(x.to(device)).argmax(1).cpu()

def learn(x, done=False):
    optimizer.zero_grad()
    loss = model(x.to(device)).mean()
    loss.backward()
{body}

for i in range(100):
    x = environment.step(act(x))
    if i % 4 == 0:
        learn(x)
"""


def written(body: str, *rules: str, code: str = CODE) -> list[str]:
    code = code.format(body=textwrap.indent(textwrap.dedent(body).strip(), "    "))
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


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("optimizer.step()\nreturn loss.item()", ["step_boundary()"]),
        ("optimizer.step()\nbuffer.update(loss.detach().cpu().numpy())", ["step_boundary()"]),
        ("optimizer.step()\nif done:\n    print(loss.item())", []),
        ("buffer.update(loss.detach().cpu().numpy())\noptimizer.step()", []),
    ],
)
def test_a_function_that_runs_in_some_steps_ends_them(body: str, lines: list[str]) -> None:
    assert written(body, "XLA101", "XLA102", code=SOMETIMES) == lines
