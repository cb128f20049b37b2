"""Functions and classes that are used only where a test asks for CUDA, beside another way."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

WORK = """import torch
def fast(x):
    return x.cuda()
class Fast:
    def run(self, x):
        return x.cuda()
"""
START = """import torch
from work import Fast, fast
def main(x, device, mode):
"""
MAIN = "if __name__ == '__main__':\n    main(torch.ones(2), torch.device('cpu'), 'cpu')\n"


def severities(folder: Path, lines: str, **files: str) -> list[str]:
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    others = {f"{name}.py": text for name, text in files.items()}
    write({"work.py": WORK, "train.py": START + body + MAIN, **others}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    found = engine.check([folder], options).findings
    return sorted(f.severity for f in found if f.filename.endswith("work.py"))


@pytest.mark.parametrize(
    "lines",
    [
        "if torch.cuda.is_available():\n    fast(x)",  # the rest of the program goes on without it
        "if torch.cuda.is_available():\n    fast(x)\nelse:\n    raise RuntimeError()",
        "if torch.cuda.is_available():\n    fast(x)\nelse:\n    pass",
        "if device.type == 'cuda':\n    print(x)\nelse:\n    fast(x)",
        "if device.type == 'cuda' or mode:\n    fast(x)\nelse:\n    print(x)",
        "if device.type == 'cuda':\n    fast(x)\nelse:\n    print(x)\nfast(x)",
        "if device.type == 'cpu':\n    fast(x)\nelse:\n    print(x)",
        "flag = torch.cuda.is_available()\nflag = mode\nif flag:\n    fast(x)\nelse:\n    print(x)",
    ],
)
def test_lists_what_may_run_elsewhere(tmp_path: Path, lines: str) -> None:
    assert severities(tmp_path, lines) == ["error"]


@pytest.mark.parametrize(
    "lines",
    [
        "if torch.cuda.is_available():\n    fast(x)\nelse:\n    print(x)",
        "y = fast(x) if x.is_cuda else x",
        "flag = torch.cuda.is_available()\nif flag:\n    fast(x)\nelse:\n    print(x)",
        "if device.type == 'cuda' and torch.cuda.device_count() > 1:\n    fast(x)\nelse:\n    print(x)",
        "if mode == 'cpu':\n    print(x)\nelif mode == 'cuda':\n    fast(x)\nelse:\n    raise KeyError",
        "if mode == 'cpu':\n    print(x)\nelif mode == 'cuda':\n    Fast().run(x)",
    ],
)
def test_what_only_cuda_uses_is_information(tmp_path: Path, lines: str) -> None:
    assert severities(tmp_path, lines) == ["info"]
    setup = "from setuptools import setup\nsetup(author='A')\n"  # its users may call the other one
    assert severities(tmp_path, lines, setup=setup) == ["error", "info"]
