"""A small project whose files lean on each other, and how it is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xlamig import engine
from xlamig.engine import Options
from xlamig.findings import Report

FILES = {
    "app/__init__.py": "",
    "app/config.py": "DEVICE = 'cuda'\n",
    "app/compat.py": "from torch.cuda import synchronize as wait\n",
    "app/train.py": "import torch\nfrom app.compat import wait\n\n\ndef f(x):\n    wait()\n    x.cuda()\n",
    "app/clean.py": "import torch\n\nprint(torch.zeros(1))\n",
    "tools.py": "import torch\n\ntorch.cuda.memory_allocated()\ntorch.cuda.synchronize()\n",
    "broken.py": "x = (\n",
}

PAGE = """+++
code = "XLA777"
name = "no-zeros"
status = "stable"
message = "no zeros"
help = "none"
phase = "run"
effort = { level = "trivial", unit = "site", group = "zeros" }

[[match]]
fact = "api-use"
name = "torch.zeros"

[[verdict]]
target = "torch_xla"
severity = "error"
mechanism = "error"
+++
# no-zeros

## What it does
## Why it matters on a TPU
## Example
## Use instead
## Fix safety
## How to see it yourself
## Known limits
## References
"""


def write(files: dict[str, str], root: Path) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def check(jobs: int = 1, cache: bool = True, **overrides: Any) -> Report:
    """Check the current folder."""
    return engine.check([Path()], Options(overrides, jobs=jobs, cache=cache))


def codes(report: Report, name: str) -> list[str]:
    return [finding.code for finding in report.findings if finding.filename == name]


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file with its time and content, the cache aside."""
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(root.rglob("*"))
        if ".xlamig_cache" not in path.parts
    }
