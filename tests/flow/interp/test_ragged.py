"""Objects of samples that are moved to the device one sample after another."""

from __future__ import annotations

import pytest

from xlamig.facts import ChangingShape

from .said import facts

STEP = """
def train(model, optimizer, loader, device):
    for images, targets in loader:
        LINE
        model(images.to(device), moved).sum().backward()
        optimizer.step()
train(nn.Linear(8, 8).to("cuda"), None, torch.utils.data.DataLoader([]), "cuda")
"""


def ragged(line: str) -> list[str]:
    found = facts(STEP.replace("LINE", line.replace("\n", "\n        ")))
    return [fact.tensor for fact in found if isinstance(fact, ChangingShape) and fact.via == "batch"]


@pytest.mark.parametrize(
    ("line", "tensor"),
    [
        ("moved = [{k: v.to(device) for k, v in t.items()} for t in targets]", "targets"),
        ("moved = [{k: v.cuda() for k, v in t.items()} for t in targets]", "targets"),
        ("moved = [x['gt_boxes'].to(device) for x in targets]", "x['gt_boxes']"),
        ("moved = [sample['segments'].to(device) for sample in images]", "sample['segments']"),
    ],
)
def test_finds_lists_of_the_objects_of_each_sample(line: str, tensor: str) -> None:
    assert ragged(line) == [tensor]


@pytest.mark.parametrize(
    "line",
    [
        "moved = [x.to(device) for x in targets]",  # several crops of a batch, maybe
        "moved = [{k: v.to(device) for k, v in view.items()} for view in images]",
        "moved = {k: v.to(device) for k, v in targets.items()}",
        "moved = [x['image'].to(device) for x in targets]",
        "moved = [x['labels'].to(device) for x in targets]\nmoved = torch.stack(moved)",
        "moved = torch.stack([x['labels'].to(device) for x in targets])",
        "moved = [{k: v.to('cpu') for k, v in t.items()} for t in targets]",
        "moved = [{k: len(v) for k, v in t.items()} for t in targets]",
    ],
)
def test_leaves_tensors_of_one_shape_alone(line: str) -> None:
    assert ragged(line) == []
