"""Reads that wait until their number is used, below the update of the step."""

from __future__ import annotations

import textwrap

import pytest
from tests.fix.test_flow_fixes import fixed

STEP = """
def train(loader, log, limit):
    for i, (x, y) in enumerate(loader):
        out = model(x.to(device))
        loss = nn.functional.mse_loss(out, y.to(device))
        {read}
        optimizer.zero_grad()
        loss.backward()
        {inside}
        optimizer.step()
        torch_xla.sync()
        {below}
"""


def changed(read: str, below: str, inside: str = "pass", code: str = STEP) -> list[str]:
    def indent(text: str) -> str:
        return textwrap.indent(textwrap.dedent(text).strip(), " " * 8).strip()

    return fixed(code.format(read=indent(read), below=indent(below), inside=indent(inside)), "XLA101")


def test_a_number_is_read_above_its_use() -> None:
    assert changed("score = out.mean().item()", "log.send(score * 2)") == [
        "score = out.mean().detach().clone()",
        "score = score.item()",
    ]


def test_a_branch_that_alone_uses_it_reads_it() -> None:
    below = "if i % 5 == 0:\n    print(score)\n    log.send(score)"
    lines = changed("score = out.mean().item()", below)
    assert lines == ["score = out.mean().detach().clone()", "score = score.item()"]
    source = STEP.format(
        read="score = out.mean().item()", below=below.replace("\n", "\n        "), inside="pass"
    )
    assert source.index("if i % 5") < source.index("print(score)")


def test_a_number_of_some_steps_starts_as_one() -> None:
    inside = """
    norm = 0.0
    if limit:
        norm = nn.utils.clip_grad_norm_(model.parameters(), limit).item()
    """
    assert changed("pass", "log.send(norm)", inside) == [
        "norm = nn.utils.clip_grad_norm_(model.parameters(), limit).detach().clone()",
        "norm = torch.as_tensor(norm).item()",
    ]


@pytest.mark.parametrize(
    ("read", "below", "inside"),
    [
        ("score = out.mean().item()", "log.send(score)", "print(score)"),  # used above the update
        ("score = out.mean().item()", "pass", "pass"),  # used nowhere below
        ("score = out.mean().item()", "log.send(score)", "if limit:\n    continue"),
        ("score = out.mean().item()", "score += 1\nlog.send(score)", "pass"),
        ("print(score)\nscore = out.mean().item()", "log.send(score)", "pass"),  # that of the step before
        ("score = out.mean().item()", "log.send(lambda: score)", "pass"),
        ("log.score = out.mean().item()", "log.send(log.score)", "pass"),
        ("score = 0.1\nif limit:\n    score = out.mean().item()", "log.send(score)", "pass"),
        ("if limit:\n    score = out.mean().item()", "log.send(score)", "pass"),
        (
            "score = 0\nif limit:\n    score = out.mean().item()\nelse:\n    score = 1",
            "log.send(score)",
            "pass",
        ),
    ],
)
def test_a_number_that_something_else_may_see_stays(read: str, below: str, inside: str) -> None:
    assert changed(read, below, inside) == []


def test_a_module_global_is_no_local() -> None:
    code = STEP.replace("def train(loader, log, limit):\n    for", "    for")
    code = textwrap.dedent(code) + "\ndef show():\n    print(score)\n"
    read, below = "score = out.mean().item()", "log.send(score)"
    lines = code.format(read=read, below=below, inside="pass")
    assert fixed(lines, "XLA101") == []


def test_a_step_that_reads_below_its_update_gets_one_boundary() -> None:
    code = STEP.replace("        torch_xla.sync()\n", "").format(
        read="loss.sum().backward()\n        score = out.mean().item()",
        below="log.send(score)",
        inside="pass",
    )
    assert [
        line for line in fixed(code, "XLA101", "XLA401") if "boundary()" in line and "def" not in line
    ] == ["step_boundary()"]
