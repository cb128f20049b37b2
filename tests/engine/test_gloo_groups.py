"""A group of gloo is reported where the script's own program wraps models with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

START = """import torch
import torch.distributed as dist
dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
"""
WRAP = "from torch.nn.parallel import DistributedDataParallel\ndef wrap(model):\n"
WRAP += "    return DistributedDataParallel(model)\n"
MAIN = 'if __name__ == "__main__":\n    print(dist.get_rank())\n'


@pytest.mark.parametrize(
    ("files", "reported"),
    [
        ({"prepare.py": START + MAIN}, []),
        ({"prepare.py": START + "import numpy\n" + MAIN}, []),
        ({"prepare.py": START + WRAP + MAIN}, ["prepare.py"]),
        ({"prepare.py": START + "from parts import wrap\n" + MAIN}, ["prepare.py"]),
        ({"prepare.py": START + "import importlib\nimportlib.import_module(name)\n" + MAIN}, ["prepare.py"]),
        ({"start.py": START, "prepare.py": "import start\n" + MAIN}, []),
        ({"start.py": START, "train.py": "import start\nfrom parts import wrap\n" + MAIN}, ["start.py"]),
    ],
)
def test_reports_gloo_where_the_program_wraps_models(
    tmp_path: Path, files: dict[str, str], reported: list[str]
) -> None:
    train = "import parts\n" + MAIN.replace("dist.get_rank()", "parts.wrap(1)")
    write({"train.py": train, "parts.py": WRAP, **files}, tmp_path)
    options = engine.Options({"select": ["XLA701"]}, isolated=True, jobs=1, cache=False)
    found = engine.check([tmp_path], options).findings
    assert [Path(finding.filename).name for finding in found] == reported
