"""The advice for a function: from the callers that run, and from those of what the device computes."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

UTILS = "def host(x):\n    return x.cpu().numpy()\n"
MAPS = """from torch import nn
from utils import host
def maps(loader):
    net = nn.Linear(3, 3).cuda()
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        net(x).sum().backward()
        host(net(x)[y > 0])
"""
TRAIN = """import config as c
import torch
from models import Net
from torch.utils.data import DataLoader
from maps import maps
from utils import host
def train(data):
    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters())
    loader = DataLoader(data)
    for x, y in loader:
        loss = net(x.cuda()).sum()
        loss.backward()
        optimizer.step()
        losses.append(host(loss))
        labels.append(host(y.cuda()))
    if c.maps:
        maps(loader)
if __name__ == "__main__":
    train(None)
"""
OF_LOSS, OF_LABELS, OF_MAPS = 15, 16, 8


def called_in(folder: Path, maps: bool, train: str = TRAIN) -> list[str]:
    files = {"utils.py": UTILS, "maps.py": MAPS, "config.py": f"maps = {maps}\n", "train.py": train}
    write(files, folder)
    options = engine.Options({"select": ["XLA102"]}, isolated=True, jobs=1, cache=False)
    report = engine.check([folder], options)
    (finding,) = [f for f in report.findings if f.filename.endswith("utils.py")]
    return [reason.message for reason in finding.reasons if "is called in" in reason.message]


@pytest.mark.parametrize(
    ("maps", "where"), [(False, f"train.py, line {OF_LOSS}"), (True, f"maps.py, line {OF_MAPS}")]
)
def test_a_caller_that_options_keep_off_gives_no_advice(tmp_path: Path, maps: bool, where: str) -> None:
    assert called_in(tmp_path, maps) == [f"`host` is called in {where}"]


def test_a_caller_that_options_keep_off_counts_where_no_other_is(tmp_path: Path) -> None:
    alone = "\n".join(line for line in TRAIN.split("\n") if "append" not in line)
    assert called_in(tmp_path, False, alone) == [f"`host` is called in maps.py, line {OF_MAPS}"]


@pytest.mark.parametrize("first", ["loss", "labels"])
def test_what_the_device_computes_comes_before_data_of_the_host(tmp_path: Path, first: str) -> None:
    loss, labels = (line + "\n" for line in TRAIN.split("\n") if "append" in line)
    swapped = TRAIN.replace(loss + labels, labels + loss) if first == "labels" else TRAIN
    row = OF_LABELS if first == "labels" else OF_LOSS
    assert called_in(tmp_path, False, swapped) == [f"`host` is called in train.py, line {row}"]
