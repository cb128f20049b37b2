"""Flags of one module that decide where the tensors of another are."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

USES = "import torch\n{}\nx = torch.ones(2)\nif {}:\n    x = x.cuda()\nprint(x)\n"
FLAG = "import torch\nif torch.cuda.is_available():\n    GPU = True\nelse:\n    GPU = False\n"


@pytest.mark.parametrize(
    ("imports", "name", "code"),
    [
        ("from flags import *", "GPU", "XLA003"),
        ("from flags import GPU", "GPU", "XLA003"),
        ("import flags", "flags.GPU", "XLA003"),
        ("from flags import *", "CHOICE", "XLA002"),
        ("from flags import *\nGPU = True", "GPU", "XLA002"),
    ],
)
def test_a_move_under_a_flag_does_not_raise(tmp_path: Path, imports: str, name: str, code: str) -> None:
    write({"flags.py": FLAG + "CHOICE = True\n", "main.py": USES.format(imports, name)}, tmp_path)
    options = engine.Options({"select": ["XLA00"]}, isolated=True, jobs=1, cache=False)
    found = engine.check([tmp_path], options).findings
    assert [f.code for f in found if f.filename.endswith("main.py")] == [code]
