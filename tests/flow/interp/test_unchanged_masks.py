"""Masks that a loop never changes select as many elements in all of its iterations."""

from __future__ import annotations

from textwrap import indent

import pytest

from xlamig.facts import DynamicShape

from .said import facts

EDIT = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device).eval()

@torch.no_grad()
def edit(image, mask, steps):
    image, mask = image.to(device), mask.to(device)
    x = torch.randn_like(image)
    for i in range(steps):
        y = model(x)
BODY
        torch_xla.sync()
    return x

CALL
"""
ONCE = "edit(torch.ones(2, 8), torch.ones(8).int(), 50)"

TRAINING = """
optimizer = torch.optim.SGD(model.parameters())
for image, mask in torch.utils.data.DataLoader(images):
    edit(image, mask, 50).sum().backward()
    optimizer.step()
    torch_xla.sync()
"""


def unchanged(body: str, call: str = ONCE) -> list[bool]:
    text = EDIT.replace("BODY", indent(body, " " * 8)).replace("CALL", call)
    found = [f for f in facts(text) if isinstance(f, DynamicShape) and f.confidence != "possible"]
    return ["unchanged" in fact.proofs for fact in found]


@pytest.mark.parametrize(
    "body",
    [
        "x = y * y[:, mask > 0].mean()",
        "x = y * y[:, ~(mask == 1)].mean()",
        "y[:, mask != 1] = 0\nx = y",
    ],
)
def test_knows_a_mask_that_is_made_before_the_loop(body: str) -> None:
    assert unchanged(body) == [True]


@pytest.mark.parametrize(
    "body",
    [
        "x = y * y[:, mask > 0].mean()\nmask = mask * 0.5",
        "x = y * y[:, mask > 0].mean()\nmask[3] = 1",
        "x = y * y[:, mask > 0].mean()\nmask.sub_(1)",
        "chosen = mask > y[0]\nx = y * y[:, chosen].mean()",
        "x = y * y[:, mask > i].mean()",
    ],
)
def test_knows_no_mask_that_an_iteration_changes(body: str) -> None:
    assert not any(unchanged(body))


def test_knows_no_mask_that_each_step_of_a_caller_makes() -> None:
    assert not any(unchanged("x = y * y[:, mask > 0].mean()", TRAINING))


GRAPH = """
device = torch_xla.device()

class Data:
    def __init__(self):
        self.x, self.y, self.mask = torch.rand(9, 8), torch.arange(9), torch.arange(9) % 3 == 0
    def to(self, device):
        self.x, self.y, self.mask = self.x.to(device), self.y.to(device), self.mask.to(device)
        return self

model = nn.Linear(8, 9).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = load("graph")[0].to(device)
mask = torch.arange(9, device=device) % 3 == 0
DEFINE

def update(loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()

LOOP
"""


def of_graph(define: str, loop: str = "for epoch in range(99):\n    train()") -> list[bool]:
    text = GRAPH.replace("DEFINE", define).replace("LOOP", loop)
    found = [f for f in facts(text) if isinstance(f, DynamicShape) and f.confidence != "possible"]
    return ["as-is" in fact.proofs for fact in found if fact.frequency == "step"]


TRAIN = "def train():\n    update(F.nll_loss(model(data.x)[data.train_mask], data.y))"
GLOBAL = "def train():\n    update(F.nll_loss(model(data.x)[mask], data.y))"
GIVEN = "def train(model, graph):\n    update(F.nll_loss(model(graph.x)[graph.train_mask], graph.y))"
NAMED = (
    "def train():\n    node_mask = data.train_mask\n    update(F.nll_loss(model(data.x)[node_mask], data.y))"
)


@pytest.mark.parametrize(
    ("define", "loop"),
    [
        (TRAIN, "for epoch in range(99):\n    train()"),
        (GLOBAL, "for epoch in range(99):\n    train()"),
        (NAMED, "for epoch in range(99):\n    train()"),
        (GIVEN, "for epoch in range(99):\n    train(model, data)"),
        (GIVEN, "def main(graph):\n    for epoch in range(99):\n        train(model, graph)\nmain(data)"),
        ("", "for epoch in range(99):\n    update(F.nll_loss(model(data.x)[data.train_mask], data.y))"),
    ],
)
def test_knows_a_mask_of_data_that_is_loaded_before_the_loop(define: str, loop: str) -> None:
    found = of_graph(define, loop)
    assert found
    assert all(found)


@pytest.mark.parametrize(
    ("define", "loop"),
    [
        (TRAIN, "for data in load('graphs'):\n    data = data.to(device)\n    train()"),
        (TRAIN, "for epoch in range(99):\n    data.train_mask = draw(data)\n    train()"),
        (GLOBAL, "for epoch in range(99):\n    mask = torch.rand(9, device=device) > 0.5\n    train()"),
        (
            NAMED.replace("data.train_mask", "torch.rand(9, device=device) > 0.5"),
            "for i in range(9):\n    train()",
        ),
        (GIVEN, "for graph in torch.utils.data.DataLoader(graphs):\n    train(model, graph.to(device))"),
        (
            GIVEN,
            "def main(graphs):\n    for g in graphs:\n        train(model, g.to(device))\nmain(load('some'))",
        ),
        (
            GLOBAL.replace("    update", "    mask[torch.randint(9, (1,))] = True\n    update"),
            "for i in range(9):\n    train()",
        ),
        (
            "",
            "for batch in torch.utils.data.DataLoader(graphs):\n    batch = batch.to(device)\n"
            "    update(F.nll_loss(model(batch.x)[batch.train_mask], batch.y))",
        ),
    ],
)
def test_knows_no_mask_of_data_that_each_step_loads_or_changes(define: str, loop: str) -> None:
    found = of_graph(define, loop)
    assert found
    assert not any(found)
