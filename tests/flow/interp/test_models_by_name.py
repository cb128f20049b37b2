"""Loops that ask an unknown object, which only its name shows to be a model."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .said import facts

LOOP = """
import clip
from torch.utils.data import DataLoader

@torch.no_grad()
def main(dataset):
    device = "cuda"
    model, preprocess = clip.load("ViT-B/32", device=device)
    found = []
    for x, y in DataLoader(dataset, 200):
        BODY
    return found

main(None)
"""


def steps(body: str) -> list[str]:
    """Return how often each copy to the host runs."""
    found = facts(LOOP.replace("BODY", body.replace("\n", "\n        ")))
    return [fact.frequency for fact in found if isinstance(fact, HostRead) and fact.via == "copy"]


@pytest.mark.parametrize("method", ["encode_image", "features", "embed"])
def test_reads_what_a_method_of_a_model_gives_each_step(method: str) -> None:
    body = f"f = model.{method}(x.to(device))\nfound.append((f / f.norm()).cpu().numpy())"
    assert steps(body) == ["step"]


@pytest.mark.parametrize(
    "call",
    [
        "preprocess.encode(x.to(device))",  # no model, by its name
        "model.encode_image(x)",  # nothing shows that it is on the device
        "model.encode_image(y.tolist())",
    ],
)
def test_other_calls_make_no_steps(call: str) -> None:
    assert steps(f"f = {call}\nfound.append((f / f.norm()).cpu().numpy())") != ["step"]
