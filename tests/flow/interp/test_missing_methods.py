"""A handler for an object without a method gets no tensor, and what follows the `try` may get one."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .said import facts

MOVE = """
def move(x, device):
    try:
        BODY
    except HANDLER
    return x

model = nn.Linear(4, 4).to("cuda")
for x in loader:
    y = move(x.cuda(), "cuda")
    model(y).sum().backward()
    AFTER
    torch_xla.sync()
"""


def reads(body: str, handler: str, after: str = "pass") -> int:
    text = MOVE.replace("BODY", body).replace("HANDLER", handler).replace("AFTER", after)
    return sum(isinstance(fact, HostRead) for fact in facts(text))


@pytest.mark.parametrize(
    ("body", "handler", "count"),
    [
        ("x = x.to(device)", "AttributeError: print(f'{x} stays')", 0),
        ("x.to(device)", "AttributeError: log.debug(f'{x} stays')", 0),
        ("return x.to(device)", "AttributeError: print(x)", 0),
        ("x = x.to(device)", "RuntimeError: print(f'{x} stays')", 1),
        ("x = x.to(device)", "Exception: print(f'{x} stays')", 1),
        ("x = x.to(pick(device))", "AttributeError: print(f'{x} stays')", 1),
        ("x = x.to(device); device.name", "AttributeError: print(f'{x} stays')", 1),
    ],
)
def test_a_handler_gets_no_tensor_without_its_method(body: str, handler: str, count: int) -> None:
    assert reads(body.replace("; ", "\n        "), handler) == count


@pytest.mark.parametrize(
    ("body", "handler"),
    [
        ("x = x.to(device)", "AttributeError: pass"),
        ("x = x.to(device)", "AttributeError: print('stays')"),
        ("return x.to(device)", "AttributeError: return x"),
        ("x = x.to(device)", "AttributeError: x = [part.to(device) for part in x]"),
    ],
)
def test_what_follows_may_get_a_tensor(body: str, handler: str) -> None:
    assert reads(body, handler, "print(y.sum().item())") == 1
