"""Advice of rules other than host reads, where it depends on the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xlamig import engine
from xlamig.findings import Finding


def found(text: str, **settings: Any) -> list[Finding]:
    options = engine.Options(settings, isolated=True, stdin=("train.py", f"import torch\n{text}".encode()))
    return list(engine.check([Path("train.py")], options).findings)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("if device == torch.device('cpu'): f(x)", ""),
        ("if device == torch.device('cuda'): f(x)", "XLA013"),
        ("y = x.to(torch.device('cuda'))", "XLA001"),
        ("y = torch.device('cuda') if a == b else None", "XLA001"),
    ],
)
def test_a_comparison_with_a_cuda_device_is_a_test(text: str, code: str) -> None:
    assert [f.code for f in found(text, select=["XLA001", "XLA013"])] == ([code] if code else [])


@pytest.mark.parametrize(
    ("text", "code", "help_"),
    [
        ("s = torch.amp.GradScaler('cuda', enabled=fp16)", "XLA803", "`enabled=fp16 and device.type"),
        ("s = torch.amp.GradScaler('cuda')", "XLA803", 'Pass `enabled=device.type == "cuda"`'),
        ("with torch.cuda.amp.autocast(): f(x)", "XLA801", "dtype=torch.bfloat16)`"),
        ("with torch.cuda.amp.autocast(enabled=amp): f(x)", "XLA801", "bfloat16, enabled=amp)`"),
    ],
)
def test_an_argument_that_decides_is_kept(text: str, code: str, help_: str) -> None:
    (finding,) = found(text, select=[code])
    assert help_ in (finding.help or "")
