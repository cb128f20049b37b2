"""Names that only the iterations of a loop bind: a later one finds what an earlier one has left."""

from __future__ import annotations

import pytest

from xlamig import ir
from xlamig.flow.interp.earlier_iterations import read_first
from xlamig.syntax import module_from_text

from .said import in_step, said

DECODING = """
@torch.no_grad()
def decode(model, x, n):
    model = nn.Linear(8, 8).to("cuda")
    x = torch.ones(4, 8, device="cuda")
    for t in range(n):
        y = model(x)
        BODY
        x = y
    return x
decode(None, None, 9)
"""


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        ("if i > 0:\n    print(last.item())\nlast = x.sum()", "host-read item: last.item()"),
        ("if i > 0 and last.sum() > 1:\n    pass\nlast = x", "host-read truth: last.sum() > 1"),
        (
            "for t in range(9):\n    if t == 0:\n        out = x\n    else:\n        out = out + x\n"
            "    print(out.mean().item())",
            "host-read item: out.mean().item()",
        ),
        (
            "if i == 0:\n    done = x > 0\nelse:\n    x[~done] = 0\n    done = done & (x > 0)",
            "dynamic-shape mask-write: x[~done]",
        ),
    ],
)
def test_finds_what_an_earlier_iteration_left(body: str, fact: str) -> None:
    assert fact in in_step(body)


@pytest.mark.parametrize(
    "body",
    [
        "if i > 0:\n    print(last)\nlast = 3",  # a number
        "if i > 0:\n    print(last.sum().item())\nlast = batch",  # of the host
        "if i > 0:\n    print(i)\nlast = x.sum()",
    ],
)
def test_finds_nothing_in_look_alikes(body: str) -> None:
    assert [line for line in in_step(body) if "host-read" in line] == []


def test_what_grows_from_the_first_iteration_on_is_reported() -> None:
    body = "if t == 0:\n            out = y\n        else:\n            out = torch.cat([out, y])"
    assert [line for line in said(DECODING.replace("BODY", body)) if line.startswith("changing-shape")]


def test_what_each_iteration_replaces_does_not_grow() -> None:
    body = "out = y\n        out = torch.cat([out, y])"
    assert not [line for line in said(DECODING.replace("BODY", body)) if line.startswith("changing-shape")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = 1\nf(x)", "f"),
        ("f(x)\nx = 1", "f x"),
        ("if a: x = 1\nf(x)", "a f x"),
        ("if a: x = 1\nelse: x = 2", "a"),
        ("x = x + 1", "x"),
        ("x += 1", "x"),
        ("for y in z:\n    x = y\n    f(x)", "f z"),
        ("with f() as x:\n    g(x)", "f g"),
        ("(a, *b), c = f(b)", "b f"),
        ("x[i] = 1", "i x"),
        ("x: int = f(x)\nx", "f int x"),
        ("try:\n    x = f()\nexcept E:\n    pass\nx", "E f"),
    ],
)
def test_names_that_are_read_first(body: str, expected: str) -> None:
    inner = "\n".join(f"    {line}" for line in body.splitlines())
    loop = module_from_text(f"while True:\n{inner}\n").body[0]
    assert isinstance(loop, ir.While)
    assert " ".join(sorted(read_first(loop))) == expected
