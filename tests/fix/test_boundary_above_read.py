"""A function that updates the parameters and then reads a value ends the step in between."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from tests.fix.test_flow_fixes import HEAD, fixed

from xlamig import engine

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


CALLED = """
class Meter:
    def update(self, value):
        self.value = value

    def step(self):
        optimizer.step()

class Agent:
    def __init__(self, meter):
        self.meter, self.own, self.given = Meter(), Meter(), meter
        self.other = Meter()
        self.other = Agent(meter)

    def update(self, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def logged(self, loss):
        self.update(loss)
        print(loss.item())

    def learn(self, x):
        loss = model(x.to(device)).mean()
{body}

def update(loss):
    loss.backward()
    optimizer.step()
    return loss

agent = Agent(Meter())
for x in loader:
    agent.learn(x)
"""


@pytest.mark.parametrize(
    "body",
    [
        "self.update(loss)\nreturn loss.item()",
        "loss = update(loss)\nreturn loss.item()",
        "agent.update(loss)\nreturn loss.item()",
        "self.update(loss)\nfor _ in range(3):\n    self.x = x\nreturn loss.item()",
    ],
)
def test_a_function_that_updates_counts_as_the_update(body: str) -> None:
    code = CALLED.format(body=textwrap.indent(body, "        "))
    lines = fixed(code, "XLA101")
    assert lines == ["step_boundary()"]


@pytest.mark.parametrize(
    "body",
    [
        "loss.backward()\nself.meter.update(loss)\nreturn loss.item()",  # another class's
        "loss.backward()\nself.own.update(loss)\nreturn loss.item()",
        "loss.backward()\nself.other.update(loss)\nreturn loss.item()",  # of one of two classes
        "loss.backward()\nself.given.update(loss)\nreturn loss.item()",
        "value = loss.item()\nself.update(loss)\nreturn value",
    ],
)
def test_a_call_that_may_run_another_function_does_not(body: str) -> None:
    code = CALLED.format(body=textwrap.indent(body, "        "))
    assert fixed(code, "XLA101") == []


def test_a_function_that_reads_below_its_update_gets_the_boundary() -> None:
    code = CALLED.format(body="        self.logged(loss)\n        return loss.item()")
    code = code.replace("        print(loss.item())", "        print('loss', loss.item())")
    source = HEAD + textwrap.dedent(code)
    overrides = {"select": ["XLA101"]}
    options = engine.Options(overrides, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode()))
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe"}), write=False)
    assert outcome.stdin is not None
    lines = [line.strip() for line in outcome.stdin.text.splitlines()]
    at = [i for i, line in enumerate(lines) if line == "step_boundary()"]
    assert [lines[i + 1] for i in at] == ["print('loss', loss.item())"]
