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
        "if not torch.cuda.is_available():\n    opt.gpu_ids = []\n    start()",
        "if not opt.cuda:\n    opt.gpu_ids = []",
    ],
)
def test_leaves_other_lists(source: str) -> None:
    assert selections(source) == []


@pytest.mark.parametrize("name", ["opt.gpu_ids", "device_ids", "self.gpus"])
def test_emptying_the_list_takes_the_cpu(name: str) -> None:
    assert selections(f"if not torch.cuda.is_available():\n    {name} = []") == [("override", "cpu")]


OFF = """if torch.cuda.is_available():
    if opt.cuda:
        torch.set_default_tensor_type("torch.cuda.FloatTensor")
else:
    opt.{name} = {value}
    torch.set_default_tensor_type("torch.FloatTensor"){more}

if opt.cuda:
    model = model.cuda()
"""


@pytest.mark.parametrize(
    ("name", "value", "more"),
    [("verbose", "False", ""), ("cuda", "True", ""), ("cuda", "False", "\n    opt.workers = 0")],
)
def test_leaves_other_branches_without_cuda(name: str, value: str, more: str) -> None:
    assert selections(OFF.format(name=name, value=value, more=more)) == []


def test_so_does_emptying_it_in_one_of_two_branches() -> None:
    code = "if torch.cuda.is_available():\n    start()\nelse:\n    opt.gpu_ids = []"
    assert selections(code) == [("off", "cpu")]


def test_an_option_that_is_off_without_cuda_takes_the_cpu() -> None:
    assert selections(OFF.format(name="cuda", value="False", more="")) == [("off", "cpu")]
