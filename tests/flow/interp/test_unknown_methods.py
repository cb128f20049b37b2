"""Methods that no tensor has, of objects that come as tensors do: a graph, a batch."""

from __future__ import annotations

import pytest

from .said import said

PROGRAM = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(loader):
    for graph in loader:
        graph = graph.to(device)
        x = graph.features
        USE
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        torch_xla.sync()

from lib import loader
train(loader)
"""
NUMBERS = [
    "n = graph.num_nodes(); torch.zeros(n, device=device)",
    "n = int(0.5 * graph.num_nodes()); x[:n]",
    "n = graph.num_nodes(); print(n)",
    "if graph.is_block and graph.local_scope(): pass",
    "names = graph.names(); names.index('x'); names.count('x'); names.copy()",
    "n = graph.num_nodes() * 2 + 1; print(n)",
    "for i in range(graph.number_of_edges()): pass",
]
TENSORS = {
    "y = graph.node_features(); z = y.argmax(1); z.tolist()": "host-read item: z.tolist()",
    "graph.node_features().sum().item()": "host-read item: graph.node_features().sum().item()",
    "y = graph.in_degrees(); torch.exp(y).item()": "host-read item: torch.exp(y).item()",
    "if (graph.in_degrees() == 0).any(): pass": "host-read truth: (graph.in_degrees() == 0).any()",
    "g = graph.local_var(); (g.in_degrees() == 0).any().item()": (
        "host-read item: (g.in_degrees() == 0).any().item()"
    ),
    "n = graph.counts().sum(); torch.zeros(n, device=device)": "dynamic-shape size: n",
    "n = graph.argmax(); torch.zeros(n, device=device)": "dynamic-shape size: n",
}


@pytest.mark.parametrize("use", NUMBERS)
def test_what_they_return_may_be_a_number(use: str) -> None:
    found = said(PROGRAM.replace("USE", use.replace("; ", "\n        ")))
    assert [one for one in found if one.startswith(("host-read", "dynamic-shape"))] == []


@pytest.mark.parametrize("use", TENSORS)
def test_what_is_used_as_a_tensor_is_one(use: str) -> None:
    assert TENSORS[use] in said(PROGRAM.replace("USE", use.replace("; ", "\n        ")))
