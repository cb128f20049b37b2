"""Advice where lists of the host are what a loop or function makes: decoded frames, boxes, nothing at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.findings import Finding

TRIM = "cut off after the loop"
WITH_MASK = "Compute the result with the mask in every step"
ONCE = "Copy the predictions to the CPU once"


def found(text: str, *codes: str) -> list[Finding]:
    source = ("net.py", f"import torch\nfrom torch import nn\n{text}".encode())
    options = engine.Options({"select": list(codes)}, isolated=True, stdin=source)
    return list(engine.check([Path("net.py")], options).findings)


DECODER = """class Decoder(nn.Module):
    def forward(self, h, most):
        h = h.to("xla")
        outs, t = [], 0
        while True:
            h = self.cell(h)
            done = torch.sigmoid(self.stop(h))
            {line}
            t += 1
            if (done > 0.5).all() and t > 3:
                break
        return h, outs
"""


@pytest.mark.parametrize(
    ("line", "trims"),
    [
        ("outs.append(h)", True),
        ("outs += [h]", True),
        ("outs = [h]", False),
        ("h = h * 2", False),
        ("for part in h: outs.append(part)", False),
    ],
)
def test_a_loop_that_collects_results_is_tested_rarely(line: str, trims: bool) -> None:
    helps = [f.help or "" for f in found(DECODER.format(line=line), "XLA106")]
    assert helps
    assert any(TRIM in one for one in helps) is trims


EARLY = """def score(model, loader):
    for x in loader:
        picked(model(x.to("xla")))
def picked(y):
    y = y.to("xla")
    mask = y > 0.5
    if {test}:
        {line}
    return y * mask
"""


@pytest.mark.parametrize(
    ("test", "line", "is_empty"),
    [
        ("not mask.any()", "return", True),
        ("mask.sum() == 0", "return None", True),
        ("mask.sum() == 0", "return []", True),
        ("not mask.any()", "return None, None", True),
        ("not mask.any()", "return y.sum() * 0", False),
        ("not mask.any()", "return torch.zeros(())", False),
        ("not mask.any()", "y = y * 2", False),
        ("y.max() > 3", "return None", False),
    ],
)
def test_an_early_return_of_nothing_is_no_masked_sum(test: str, line: str, is_empty: bool) -> None:
    helps = [f.help or "" for f in found(EARLY.format(test=test, line=line), "XLA106")]
    assert helps
    assert any(one.startswith(WITH_MASK) for one in helps) is is_empty


SELECTED = """def detect(model, loader):
    with torch.no_grad():
        for x in loader:
            {name}(model(x.to("xla")), 0.4)
def {name}(boxes, most):
    boxes = boxes[torch.nonzero(boxes[:, 4])]
    classes = boxes[torch.nonzero(boxes[:, 5] == 0)]
    order = {order}
    for i in range(9):
        overlap = {overlap}(boxes[i], boxes)
    return classes, order, overlap
"""


@pytest.mark.parametrize(
    ("name", "order", "overlap", "once"),
    [
        ("pick", "torch.sort(boxes[:, 4])", "bbox_iou", True),
        ("non_max", "boxes[:, 4].argsort()", "box_iou", True),
        ("pick", "boxes[:, 4]", "bbox_iou", False),
        ("pick", "torch.sort(boxes[:, 4])", "torch.mul", False),
        ("assign_targets", "torch.sort(boxes[:, 4])", "bbox_iou", False),
    ],
)
def test_picking_detections_is_work_for_the_host(name: str, order: str, overlap: str, once: bool) -> None:
    text = SELECTED.format(name=name, order=order, overlap=overlap)
    helps = [f.help or "" for f in found(text, "XLA201")]
    assert helps
    assert all(one.startswith(ONCE) for one in helps) is once
    assert any(one.startswith(ONCE) for one in helps) is once


SIZES = """class Pool(nn.Module):
    def forward(self, x, {name}):
        x = x.to("xla").relu()
        {name} = {value}
        there = {name}.cpu().contiguous()
        pooled(x, there)
        return x
"""


@pytest.mark.parametrize(
    ("name", "value", "help_"),
    [
        ("grid_shape", "grid_shape.to('xla')", "Pass the sizes on as Python numbers"),
        ("scores", "torch.tensor([4, 5], device='xla')", "Use the Python numbers that the tensor was made"),
        ("scores", "scores.to('xla')", "Keep `scores` on the device"),
        ("scores", "x * 2", "Keep `scores` on the device"),
    ],
)
def test_numbers_that_python_has_are_passed_on(name: str, value: str, help_: str) -> None:
    (finding,) = found(SIZES.format(name=name, value=value), "XLA102")
    assert (finding.help or "").startswith(help_)
