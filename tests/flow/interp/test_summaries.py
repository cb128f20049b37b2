"""Functions of other modules that read the tensors they are given."""

from __future__ import annotations

import pytest

from xlamig.facts import Interest
from xlamig.flow import ProjectIndex, facts_of, summary_of
from xlamig.syntax import module_from_text

HELPERS = """
import torch
def item(tensor):
    if hasattr(tensor, "item"):
        return tensor.item()
    return tensor
def to_image(x, size=8):
    return x.detach().cpu().numpy()[:size]
def scale(x, factor: float):
    return x * float(factor)
def host(x):
    return float(x.cpu())
def count(index, n=None):
    return n if n is not None else int(index.max()) + index.item()
def mask(lengths, longest: int = 0):
    if longest <= 0:
        longest = lengths.item()
    return lengths < longest
def chosen(x, dim=None):
    if dim is not None:
        return x.item()
class Meter:
    def update(self, value, n=1):
        self.total += value.item() * n
    def add(self, **values):
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                value = value.item()
"""
TRAIN = """
import torch, helpers
from helpers import Meter, item, scale, to_image
def train(model, loader, optimizer):
    meter = Meter()
    model.cuda()
    for batch in loader:
        loss = model(batch.cuda()).sum()
        BODY
        loss.backward()
        optimizer.step()
"""


def reads(body: str) -> list[str]:
    texts = {"helpers": HELPERS, "train": TRAIN.replace("BODY", body)}
    interfaces = {
        name: summary_of(module_from_text(text), text, name, False).interface for name, text in texts.items()
    }
    needed = ProjectIndex(interfaces).needed_by(interfaces["train"])
    text = texts["train"]
    found = facts_of(module_from_text(text), text, "train", False, Interest(), needed).facts
    sure = [fact for fact in found if fact.kind == "host-read" and fact.confidence != "possible"]
    return [f"{fact.via} {fact.operation}: {fact.tensor}" for fact in sure]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "body",
    [
        "item(3.0); item(batch.shape[0]); helpers.host(1)",
        "helpers.count(loss, 3); helpers.count(loss, n=batch.size(0)); helpers.mask(loss, batch.shape[1])",
        "helpers.count(loss, extra)",
        "scale(loss, 0.5); scale(loss, batch.size(0))",
        "item(torch.ones(3)); to_image(batch)",  # the batch itself stays on the host
        "meter.update(3); meter.add(loss=0.5, step=1)",
        "item = lambda x: x; item(loss)",
        "later = item",
    ],
)
def test_nothing_is_read(body: str) -> None:
    assert reads(body) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("total = item(loss)", "item item: loss"),
        ("helpers.count(loss)", "item helpers.count: loss"),
        ("helpers.count(loss, None)", "item helpers.count: loss"),
        ("helpers.mask(loss)", "item helpers.mask: loss"),
        ("helpers.chosen(loss, dim=1)", "item helpers.chosen: loss"),
        ("helpers.item(loss.data)", "item helpers.item: loss.data"),
        ("to_image(size=4, x=loss)", "copy to_image: loss"),
        ("print(helpers.host(loss) + 1)", "copy helpers.host: loss"),
        ("meter.update(loss, n=3)", "item meter.update: loss"),
        ("meter.add(step=1, loss=loss)", "item meter.add: loss"),
    ],
)
def test_it_is_read_there(body: str, expected: str) -> None:
    assert reads(body) == [expected]


@pytest.mark.parametrize("device", ["torch.device('cuda')", "default_device()", "current_accelerator()"])
def test_the_helper_of_a_fix_leaves_what_callers_know(device: str) -> None:
    text = f"""
import torch
from xla_compat import current_accelerator, default_device
class Sampler:
    def __init__(self, model):
        self.model = model
    def keep(self, name, value):
        setattr(self, name, value.to({device}))
    def sample(self, x):
        self.keep("x", x)
        return x
"""
    summary = summary_of(module_from_text(text), text, "sampler", False).interface.summaries
    assert set(summary) == {"Sampler.keep", "Sampler.sample"}
