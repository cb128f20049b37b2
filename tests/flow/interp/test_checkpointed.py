"""A checkpointed call gives what the layer gives."""

from __future__ import annotations

import pytest

from .said import facts

TEXT = """
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x, sizes):
        if TEST:
            x = x * 2
        return self.proj(x), (sizes[0] // 2, sizes[1] // 2)

class Encoder(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.layers = nn.ModuleList([Layer() for _ in range(3)])

    def forward(self, x, sizes):
        for layer in self.layers:
            x, sizes = CALL
        return x

def train(loader, config):
    model = Encoder(config).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        x = batch.to("cuda")
        model(x, (x.shape[2], x.shape[3])).sum().backward()
        optimizer.step()

train([torch.ones(2, 8, 4, 4)] * 9, None)
"""
CALLS = (
    "checkpoint(layer, x, sizes, use_reentrant=False)",
    "self._gradient_checkpointing_func(layer.__call__, x, sizes)",
    "torch.utils.checkpoint.checkpoint(layer.forward, x, sizes)",
    "layer(x, sizes)",
)


def truths(test: str, call: str) -> list[str]:
    """Return the tensors whose truth a test in the layer asks for."""
    found = facts(TEXT.replace("TEST", test).replace("CALL", call))
    return [getattr(fact, "tensor", "") for fact in found if getattr(fact, "via", "") == "truth"]


@pytest.mark.parametrize("call", CALLS)
def test_numbers_that_a_layer_returns_stay_numbers(call: str) -> None:
    assert truths("sizes[0] % 2 == 1", call) == []


@pytest.mark.parametrize("call", CALLS)
def test_reports_reads_in_a_checkpointed_layer(call: str) -> None:
    assert truths("x.sum() > 0", call) == ["x.sum() > 0"]
