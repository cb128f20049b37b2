"""Classes that prepare samples work on tensors of the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

CROP = """import torch
from torch import nn

class Crop(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        if x.abs().max() > 1:
            x = x / 2
        return x[:, : self.size]
"""
DATA = """import torch
from crop import Crop

class Clips(torch.utils.data.Dataset):
    def __init__(self, files):
        self.files = files
        self.crop = Crop(8)

    def __getitem__(self, i):
        return self.crop(load(self.files[i]))
"""
MODEL = """import torch
from torch import nn
from crop import Crop

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.crop = Crop(8)

    def forward(self, x):
        return self.crop(x)
"""


def reads(folder: Path, **texts: str) -> list[str]:
    for name, text in {"crop": CROP, **texts}.items():
        (folder / f"{name}.py").write_text(text)
    options = engine.Options({"select": ["XLA106"], "severity": "warning"}, isolated=True)
    return [finding.filename for finding in engine.check([folder], options).findings]


@pytest.mark.parametrize(
    "data",
    [
        DATA,
        DATA.replace("self.crop = Crop(8)", "self.crop = nn.Sequential(Crop(8))"),
        "import torch\nfrom crop import Crop\ndef clips(files): return Clips(files, transform=Crop(8))\n",
        "import torch\nfrom crop import Crop\nTRAIN = transforms.Compose([Crop(8)])\n",
    ],
)
def test_reports_no_read_of_a_class_that_only_datasets_make(tmp_path: Path, data: str) -> None:
    assert not reads(tmp_path, data=data)


@pytest.mark.parametrize("data", [{}, {"data": DATA}])
def test_reports_a_read_of_a_class_that_a_model_makes(tmp_path: Path, data: dict[str, str]) -> None:
    assert len(reads(tmp_path, model=MODEL, **data)) == 1


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ("y = x.numpy()", False),
        ("y = x[0].squeeze().numpy()", False),
        ("first = x[0]; y = first.numpy()", False),
        ("y = x.cpu().numpy()", True),
        ("x = x.cpu(); y = x.numpy()", True),
        ("y = z.numpy()", True),
    ],
)
def test_what_becomes_an_array_without_a_copy_is_on_the_cpu(
    tmp_path: Path, line: str, reported: bool
) -> None:
    method = (
        "\n    def counts(self, x, z):\n        "
        + "\n        ".join(line.split("; "))
        + "\n        return y\n"
    )
    assert bool(reads(tmp_path, crop=CROP + method)) == reported
