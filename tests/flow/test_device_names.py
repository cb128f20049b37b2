"""Texts that may choose a device, and texts that only mention one."""

from __future__ import annotations

import pytest

from xlamig.flow.model.device_names import may_choose_device


@pytest.mark.parametrize(
    "text",
    [
        "x.to('cuda:0')",
        "model.to(device)",
        "torch.device('cpu')",
        "self.device = pick()",
        "get(args.device)",
        "default_device()",
        "from accelerate import Accelerator",
        "device = other",
        "device=x.size(0)",
    ],
)
def test_text_may_choose_a_device(text: str) -> None:
    assert may_choose_device(text)


@pytest.mark.parametrize(
    "text",
    [
        "y = torch.zeros(3)",
        "x.device",
        "torch.zeros(3, device=x.device)",
        "torch.zeros(3, device = self.weight.device)",
        "my_self.device",
        "set_default_device()",
        "devices = [0]",
        "cudagraph, my_cuda",
    ],
)
def test_text_chooses_no_device(text: str) -> None:
    assert not may_choose_device(text)
