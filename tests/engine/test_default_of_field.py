"""A dataclass whose field defaults to a CUDA device."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

PARAMS = """from dataclasses import dataclass
import torch
@dataclass
class Params:
    width: int = 3
    device: torch.device = torch.device("cuda")
"""
MAIN = """import torch
from params import Params
def main(device, settings):
    params = Params({given})
    torch.nn.Linear(params.width, 3).to(params.device)
main(torch.device("cpu"), {{}})
"""


def shown(folder: Path, files: dict[str, str]) -> list[tuple[str, bool]]:
    write({"params.py": PARAMS, **files}, folder)
    options = engine.Options({"select": ["XLA001"]}, isolated=True, jobs=1, cache=False)
    return [(one.severity, one.no_action) for one in engine.check([folder], options).findings]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"main.py": MAIN.format(given="width=3")},
        {"main.py": MAIN.format(given="**settings")},
        {"main.py": MAIN.format(given="3, device"), "other.py": MAIN.format(given="3")},
    ],
)
def test_lists_a_default_that_something_may_leave(tmp_path: Path, files: dict[str, str]) -> None:
    assert shown(tmp_path, files) == [("error", False)]


@pytest.mark.parametrize("given", ["width=3, device=device", "3, device", "device=device, **settings"])
def test_leaves_a_default_that_every_call_replaces(tmp_path: Path, given: str) -> None:
    assert shown(tmp_path, {"main.py": MAIN.format(given=given)}) == [("info", True)]
