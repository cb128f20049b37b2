"""The findings that the zoo holds against its traces."""

from pathlib import Path

from benchmarks.zoo.predictions import predict

LAYER = """
import torch.nn as nn
import torch.nn.functional as F

class Patches(nn.Module):
    def forward(self, x, mask):
        patches = F.unfold(x, kernel_size=3)
        return patches, F.unfold(mask, kernel_size=3)
"""


def test_each_place_of_a_job_is_a_prediction(tmp_path: Path) -> None:
    package = tmp_path / "sources" / "layers-1.0"
    package.mkdir(parents=True)
    (package / "patches.py").write_text(LAYER, "utf-8")
    found = predict(["layers-1.0/patches.py"], tmp_path / "sources", tmp_path / "store")
    places = [(one.code, one.span[0]) for one in found["layers-1.0/patches.py"]]
    assert places == [("XLA501", 7), ("XLA501", 8)]
