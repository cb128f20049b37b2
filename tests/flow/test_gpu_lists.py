"""A list of GPUs that is emptied without CUDA: on a TPU host the program then takes the CPU."""

from __future__ import annotations

import pytest
from tests.flow.reading import facts_in

from xlamig.facts import DeviceChoice


def selections(source: str) -> list[tuple[str, str]]:
    found = facts_in(f"import torch\n{source}", DeviceChoice)
    return [(choice.form, choice.fallback) for choice in found if choice.via == "selection"]


@pytest.mark.parametrize(
    "source",
    [
        "if not torch.cuda.is_available():\n    opt.names = []",
        "if not torch.cuda.is_available():\n    opt.gpu_ids = [0]",
        "if torch.cuda.is_available():\n    opt.gpu_ids = []",
        "if not torch.cuda.is_available():\n    opt.gpu_ids = []\nelse:\n    start()",
        "if not torch.cuda.is_available():\n    opt.gpu_ids = []\n    start()",
        "if not opt.cuda:\n    opt.gpu_ids = []",
    ],
)
def test_leaves_other_lists(source: str) -> None:
    assert selections(source) == []


@pytest.mark.parametrize("name", ["opt.gpu_ids", "device_ids", "self.gpus"])
def test_emptying_the_list_takes_the_cpu(name: str) -> None:
    assert selections(f"if not torch.cuda.is_available():\n    {name} = []") == [("override", "cpu")]
