"""The methods of a data set that nothing calls compute on the host, where its samples are."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

CLASS = """import torch
import webdataset as wds
class {name}:
    def __init__(self, episodes, device):
        self.episodes, self.device = episodes, device
    def process(self, sample):
        actions = self.episodes[sample["id"]].actions{moved}
        mask = actions.clone().gt(-1)
        for i in range(sample["length"]):
            if i > 3 and actions[i] == 0:
                mask[i] = 0
        return actions, mask
"""


def found(name: str, moved: str = "") -> list[str]:
    text = CLASS.format(name=name, moved=moved)
    options = engine.Options({"select": ["XLA106"]}, isolated=True, stdin=("data.py", text.encode()))
    return [finding.code for finding in engine.check([Path("data.py")], options).findings]


@pytest.mark.parametrize("name", ["A(wds.Dataset)", "A(torch.utils.data.IterableDataset)", "ADataset"])
def test_reads_samples_on_the_host(name: str) -> None:
    assert not found(name)


@pytest.mark.parametrize(
    ("name", "moved"), [("Actions(torch.nn.Module)", ""), ("Actions(wds.Dataset)", ".to('xla')")]
)
def test_reports_what_may_be_on_the_device(name: str, moved: str) -> None:
    assert found(name, moved) == ["XLA106"]
