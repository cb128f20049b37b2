"""Flags for CUDA at the top of a module: they decide what other files place only if those import them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

FLAG = "import torch\nuse_gpu = torch.cuda.is_available()\n"
TRAIN = """import torch
{start}
net = torch.nn.Linear(2, 2)
if {flag}:
    net = net.cuda()
if {flag}:
    print(net(torch.ones(2).cuda()))
"""


def lines(folder: Path, train: str) -> list[str]:
    write({"settings.py": FLAG, "train.py": train}, folder)
    options = engine.Options({"select": ["XLA003"]}, isolated=True, jobs=1, cache=False)
    found = engine.check([folder], options).findings
    return [Path(one.filename).name for one in found if "all that it decides" in one.message]


def test_a_script_decides_nothing_for_a_script_with_a_flag_of_its_own(tmp_path: Path) -> None:
    own = TRAIN.format(start="use_gpu = torch.cuda.is_available()", flag="use_gpu")
    assert lines(tmp_path, own) == ["train.py"]


@pytest.mark.parametrize(
    ("start", "flag"),
    [("import settings", "settings.use_gpu"), ("from settings import use_gpu", "use_gpu")],
)
def test_a_module_decides_for_those_that_import_it(tmp_path: Path, start: str, flag: str) -> None:
    assert lines(tmp_path, TRAIN.format(start=start, flag=flag)) == ["settings.py"]
