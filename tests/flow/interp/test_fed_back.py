"""A read leaves what a model gets back in the next iteration."""

from __future__ import annotations

import pytest
from tests.flow.interp.said import facts

LOOP = """
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(8, 8)
    def forward(self, x, h):
        h = self.mix(x) + h
        return h.tanh(), h
model = Cell().PLACE
h = torch.zeros(1, 8, device=DEVICE)
with torch.no_grad():
    for x in loader:
        BODY
"""
CALL = "y, h = model(x.cuda(), h)"


def left(body: str, place: str = "cuda()", device: str = "'cuda'") -> list[tuple[str, str]]:
    lines = body.replace("\n", "\n        ")
    text = LOOP.replace("BODY", lines).replace("PLACE", place).replace("DEVICE", device)
    found = [fact for fact in facts(text) if fact.kind == "step-boundary"]
    return [(fact.boundary, fact.state) for fact in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("body", "boundary"),
    [
        (f"{CALL}\nprint(h.norm().item(), y.sum().item())", "read"),
        (f"{CALL}\nkeep.append(h.cpu())\nprint(y.sum().item())", "read"),
        (f"{CALL}\nwhile h.sum() > 3: print(y.sum().item())", "read"),
        (f"{CALL}\ntorch_xla.sync()\nprint(y.sum().item())", "sync"),
        (f"h = torch.zeros(1, 8).cuda()\n{CALL}\nprint(y.sum().item())", "read"),
        ("y, last = model(x.cuda(), h)\nprint(y.sum().item())", "read"),
        (f"{CALL}", "none"),
    ],
)
def test_nothing_is_left(body: str, boundary: str) -> None:
    assert left(body) == [(boundary, "")]


def test_a_model_on_the_host_leaves_nothing() -> None:
    assert left("y, h = model(x, h)\nprint(y.sum().item())", "eval()", "'cpu'") == []


def test_a_function_that_is_no_model_leaves_a_sum() -> None:
    body = "y, _ = model(x.cuda(), 0)\nh = torch.maximum(y, h)\nprint(y.sum().item())"
    assert [state for _, state in left(body)] == [""]


@pytest.mark.parametrize(
    "body",
    [
        f"{CALL}\nprint(y.sum().item())",
        f"{CALL}\nh = h.detach()\nprint(y.sum().item())",
        f"{CALL}\nif len(x) > 3: print(y.sum().item())",
        "if h is not None: h = h * 2\n" + CALL + "\nprint(y.sum().item())",
        "out = model(x.cuda(), h)\nh = out[1]\nprint(out[0].sum().item())",
    ],
)
def test_the_state_is_left(body: str) -> None:
    assert left(body) == [("part", "h")]


HELPER = (
    """
def one(model, x, h, words):
    y, h = model(x, h)
    USED
    words.append(y.sum().item())
    return RESULT
"""
    + LOOP
)


@pytest.mark.parametrize(
    ("used", "result", "state"),
    [("pass", "h", "h"), ("pass", "h.cpu()", ""), ("print(h.norm().item())", "h", "")],
)
def test_a_function_hands_the_state_on(used: str, result: str, state: str) -> None:
    text = HELPER.replace("USED", used).replace("RESULT", result)
    text = text.replace("BODY", "h = one(model, x.cuda(), h, words)")
    text = "words = []" + text.replace("PLACE", "cuda()").replace("DEVICE", "'cuda'")
    found = [fact for fact in facts(text) if fact.kind == "step-boundary"]
    assert [fact.state for fact in found] == [state]  # type: ignore[attr-defined]
