"""Which modules may work on tensors."""

from __future__ import annotations

import pytest

from xlamig.flow.model.site import has_torch


@pytest.mark.parametrize(
    ("text", "works"),
    [
        ("from transformers import Trainer\n", True),  # names torch nowhere
        ("def main():\n    from diffusers import DiffusionPipeline\n", True),
        ("from models import Net\nclass A(Net):\n    def forward(self, x): ...\n", True),
        ("import transformers\nimport tensorflow as tf\n", False),
        ("from datasets import load_dataset\n", False),
        ("from own_transformers import Trainer\n", False),
        ("print('from transformers import Trainer')\n", False),
    ],
)
def test_a_library_of_torch_hands_over_tensors(text: str, works: bool) -> None:
    assert has_torch(text) is works
