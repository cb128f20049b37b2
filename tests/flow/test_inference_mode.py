"""Models that a block in inference mode makes or moves are free of its restriction."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

SOURCE = """import torch
layer = torch.nn.Linear(2, 2)
with torch.inference_mode():
    {body}
    out = model(x)
"""


def is_sure(body: str) -> bool:
    text = SOURCE.format(body=body).encode()
    overrides = {"select": ["XLA810"], "confidence": "possible"}
    options = engine.Options(overrides, isolated=True, stdin=("infer.py", text))
    (finding,) = engine.check([Path("infer.py")], options).findings
    return finding.confidence == "likely"


@pytest.mark.parametrize(
    "body",
    [
        "x = x.to(device)",
        "model.eval()",
        "model = model.eval()",
        "model = unwrap(model)",
        "x = model(x).cuda()",
        "output = load(path)",
        "model, tokenizer = prepare(model, tokenizer)",
        "model: Net = unwrap(model)",
        "tuned = transformers.AutoTokenizer.from_pretrained(path)",
        "output, state = model(x)",
        "models[0] = model(x)",
    ],
)
def test_the_model_is_made_outside(body: str) -> None:
    assert is_sure(body)


@pytest.mark.parametrize(
    "body",
    [
        "model = load(path)",
        "model, tokenizer = load(path)",
        "model = load(path, num_gpus_per_model)",
        "model = Net().to(device).eval()",
        "model = model.cuda()",
        "self.model.to(device)",
        "for path in paths: model = Net.from_pretrained(path)",
        "model: Net = Net.from_pretrained(path)",
        "tuned = transformers.AutoModelForCausalLM.from_pretrained(path)",
    ],
)
def test_the_model_is_made_or_moved_inside(body: str) -> None:
    assert not is_sure(body)
