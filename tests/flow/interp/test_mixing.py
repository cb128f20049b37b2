"""Objects of libraries that mix the samples of a batch."""

from __future__ import annotations

import pytest

from .said import in_step

SETUP = """
from timm.data import Mixup
from torchvision.transforms import v2
mix = MADE
"""


@pytest.mark.parametrize(
    ("made", "call"),
    [
        ("Mixup(mixup_alpha=0.8)", "mix(x, x)"),
        ("Mixup(mixup_alpha=0.8, cutmix_alpha=0.0)", "mix(x, x)"),
        ("Mixup(cutmix_alpha=1.0)", "mix(torch.ones(3), torch.ones(3))"),
        ("v2.MixUp(num_classes=9)", "mix(x, x)"),
        ("v2.CutMix(num_classes=9)", "mix"),
    ],
)
def test_cuts_no_box(made: str, call: str) -> None:
    assert in_step(SETUP.replace("MADE", made) + f"z = {call}", "changing-constant") == []


@pytest.mark.parametrize(
    "made",
    [
        "Mixup(mixup_alpha=0.8, cutmix_alpha=1.0)",
        "Mixup(mixup_alpha=extra.mixup, cutmix_alpha=extra.cutmix, cutmix_minmax=extra.minmax)",
        "Mixup(**dict(cutmix_alpha=extra.cutmix))",
        "v2.CutMix(num_classes=9)",
    ],
)
def test_cuts_a_random_box_out_of_the_batch(made: str) -> None:
    body = SETUP.replace("MADE", made) + "a, b = mix(x, x)\nc = a.sum().item()"
    assert in_step(body, "changing-constant") == ["changing-constant box: mix(x, x)"]
    assert "host-read item: a.sum().item()" in in_step(body, "host-read")
