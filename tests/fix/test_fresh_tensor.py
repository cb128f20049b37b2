"""A buffer that a step resizes and fills becomes a new tensor, where no other name holds the old one."""

from __future__ import annotations

import pytest
from tests.fix.test_flow_fixes import fixed

CODE = """
def train(loader):
    noise = torch.zeros(8, 4)
    noise = noise.to(device)
    {before}
    for x in loader:
        {line}
        loss = (model(noise) - model(x.to(device))).mean()
        loss.backward()
        optimizer.step()
    {after}
"""


def line_of(line: str, before: str = "pass", after: str = "pass", code: str = CODE) -> list[str]:
    return fixed(code.format(line=line, before=before, after=after), "XLA308")


@pytest.mark.parametrize(
    ("line", "before", "after"),
    [
        ("noise.resize_(8, 4).normal_()", "old = noise", "pass"),
        ("noise.resize_(8, 4).normal_()", "old = Variable(noise)", "pass"),
        ("noise.resize_(8, 4).normal_()", "pass", "return noise"),
        ("noise.resize_(8, 4)", "pass", "pass"),
        ("y = noise.resize_(8, 4).normal_()", "pass", "pass"),
        ("noise.resize_(8, 4).normal_().sum().backward()", "pass", "pass"),
        ("noise.data.resize_(8, 4).normal_()", "pass", "pass"),
        ("noise.resize_(8, 4, memory_format=torch.contiguous_format).normal_()", "pass", "pass"),
    ],
)
def test_leaves_what_others_may_hold(line: str, before: str, after: str) -> None:
    assert line_of(line, before, after) == []


def test_leaves_the_tensor_of_another_scope() -> None:
    code = "noise = torch.zeros(8, 4).to(device)\n" + CODE.replace(
        "    noise = noise.to(device)\n", ""
    ).replace("    noise = torch.zeros(8, 4)\n", "")
    assert line_of("noise.resize_(8, 4).normal_()", code=code) == []


@pytest.mark.parametrize("rest", ["(8, 4).normal_(0, 1)", "(x.size()).copy_(x)", "(8, 4).fill_(1).mul_(2)"])
def test_makes_a_new_tensor(rest: str) -> None:
    assert line_of(f"noise.resize_{rest}") == [f"noise = noise.new_empty{rest}"]
