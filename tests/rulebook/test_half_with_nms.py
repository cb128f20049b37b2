"""The advice to use bfloat16 depends on whether the program drops boxes by torchvision."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

MODEL = "import torch\nfrom boxes import pick\n\nnet = torch.nn.Linear(2, 4)\nnet.half()\nprint(pick(net))\n"


@pytest.mark.parametrize(
    ("boxes", "converts"),
    [
        ("import torchvision\n\ndef pick(x):\n    return torchvision.ops.nms(x, x, 0.5)\n", True),
        (
            "from torchvision.ops import batched_nms\n\ndef pick(x):\n    return batched_nms(x, x, x, 1)\n",
            True,
        ),
        ("import torchvision\n\ndef pick(x):\n    return torchvision.ops.box_iou(x, x)\n", False),
        ("def pick(x):\n    return nms(x)\n", False),
    ],
)
def test_converts_back_before_nms(
    boxes: str, converts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("boxes.py").write_text(boxes)
    Path("run.py").write_text(MODEL)
    options = Options({"select": ["XLA802"]}, isolated=True, cache=False)
    (finding,) = engine.check([Path()], options).findings
    assert ("`.float()` on the predictions" in (finding.help or "")) is converts
