"""Methods whose receiver only the interpreter knows as a tensor on the device."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reading import INTEREST, facts_in

from xlamig.facts import ApiUse

METHODS = replace(
    INTEREST,
    names=frozenset({"Tensor.median", "Tensor.sort", "Tensor.half"}),
    methods=frozenset({"median", "sort", "half"}),
)
STEP = """
import torch, torch_xla, pandas
from torch import nn
device = torch_xla.device()
def step(batch, model):
    BODY
"""
FORWARD = """
from torch import nn
class Net(nn.Module):
    def forward(self, x):
        BODY
"""


def methods(text: str) -> list[tuple[str, str]]:
    """Return the name and confidence of each known method that is called."""
    return [(use.name, use.confidence) for use in facts_in(text, ApiUse, interest=METHODS)]


@pytest.mark.parametrize(
    "body",
    [
        "return batch.to(device).median()",
        "x = batch.to(device); return x.median()",
        "x = (batch + 1).to(device); return x.median()",
        "x = (batch + torch.ones(3)).to(device); return x.median()",
        "y = batch * 2; x = y.to(device); return x.median()",
    ],
)
def test_a_tensor_that_is_put_on_the_device(body: str) -> None:
    assert methods(STEP.replace("BODY", body)) == [("Tensor.median", "likely")]


@pytest.mark.parametrize("body", ["return x.median()", "y = x + 1; return y.median()"])
def test_what_a_layer_is_given(body: str) -> None:
    assert methods(FORWARD.replace("BODY", body)) == [("Tensor.median", "likely")]


@pytest.mark.parametrize(
    "body",
    [
        "return batch.median()",  # on the host, and no tensor that is known
        "frame = pandas.read_csv('a'); return frame.median()",
        "x = batch.to(device).cpu(); return x.median()",
        "x = batch.to(device).cpu().numpy(); return x.median()",
        "x = [batch.to(device)]; return x.sort()",
        "x = batch.to(device); return x.half()",  # it may be a module
        "model.to(device); return model.median()",
    ],
)
def test_what_need_not_be_a_tensor_on_the_device(body: str) -> None:
    assert methods(STEP.replace("BODY", body)) == []


def test_a_batch_may_be_a_container() -> None:
    assert methods(FORWARD.replace("BODY", "return x.sort()")) == []


MODE = replace(INTEREST, names=frozenset({"Tensor.mode"}), methods=frozenset({"mode"}))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return self.actor(x).mode()", []),
        ("policy = self.actor(x); return policy.mode()", []),
        ("return torch.relu(x).mode()", ["Tensor.mode"]),
    ],
)
def test_what_a_module_returns_may_be_a_distribution(body: str, expected: list[str]) -> None:
    text = "import torch" + FORWARD.replace("BODY", body)
    assert [use.name for use in facts_in(text, ApiUse, interest=MODE)] == expected
