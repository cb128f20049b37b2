"""Programs of another framework have nothing to do with XLA through torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

HIDES = 'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = ""\n'


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({"train.py": f"{HIDES}import tensorflow as tf\ntf.zeros(3)\n"}, 0),
        (
            {
                "train.py": f"{HIDES}import tensorflow as tf\ntf.zeros(3)\n",
                "net.py": "from torch import nn\nnn.Linear(2, 2)\n",
            },
            1,
        ),
        ({"train.py": f"{HIDES}import torch\ntorch.zeros(3)\n"}, 1),
        ({"train.py": HIDES}, 1),
    ],
)
def test_a_hidden_gpu_matters_to_programs_that_may_use_torch(
    tmp_path: Path, files: dict[str, str], count: int
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = engine.check([tmp_path], engine.Options({"select": ["XLA012"]}, isolated=True)).findings
    assert len(found) == count
