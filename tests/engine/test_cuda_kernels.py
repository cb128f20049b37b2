"""Kernels that torch.library runs for CUDA tensors alone are information: XLA tensors do not reach them."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

MODULE = """import torch
from torch.library import custom_op

library = torch.library.Library("mine", "DEF")

DECORATOR
def scale(x: torch.Tensor) -> torch.Tensor:
    return launch(x.data_ptr())

REST
"""
SCALE = 'custom_op("mine::scale", mutates_args=()'


def severities(folder: Path, decorator: str, rest: str = "") -> list[str]:
    """Return the severities of the address that the kernel asks for."""
    text = MODULE.replace("DECORATOR", decorator).replace("REST", rest)
    (folder / "kernels.py").write_text(text, encoding="utf-8")
    report = engine.check([folder], Options({}, isolated=True, jobs=1, cache=False))
    return [finding.severity for finding in report.findings if finding.code == "XLA016"]


@pytest.mark.parametrize(
    ("decorator", "rest"),
    [
        (f"@{SCALE})", ""),
        (f'@{SCALE}, device_types=("cuda", "cpu"))', ""),
        (f'@{SCALE}, device_types="cuda")\n@other', ""),
        ('@torch.library.impl(library, "scale", "CompositeExplicitAutograd")', ""),
        ('@torch.library.impl("mine::cuda_scale", "default")', ""),
        ("", 'library.impl("scale", scale, "CUDA")\nlibrary.impl("scale", scale, "CPU")'),
        ("", 'library.impl("scale", scale, "CUDA")\nscale(torch.ones(3))'),
    ],
)
def test_reports_what_tensors_of_other_devices_may_reach(tmp_path: Path, decorator: str, rest: str) -> None:
    assert severities(tmp_path, decorator, rest) == ["error"]


@pytest.mark.parametrize(
    ("decorator", "rest"),
    [
        (f'@{SCALE}, device_types="cuda")', ""),
        (f'@{SCALE}, device_types=["cuda"])', ""),
        ('@torch.library.register_kernel("mine::scale", "cuda")', ""),
        ('@torch.library.impl(library, "scale", "CUDA")', ""),
        ("", 'library.impl("scale", scale, "CUDA")'),
    ],
)
def test_lowers_what_only_tensors_of_cuda_reach(tmp_path: Path, decorator: str, rest: str) -> None:
    assert severities(tmp_path, decorator, rest) == ["info"]
