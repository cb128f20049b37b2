"""`def f(x, device="cuda")`: None as the default, and the device in the body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Page = Callable[..., Any]
IMPORT = "from xla_compat import default_device\n"


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ('def f(x, device="cuda:1"):\n    x.to(device)\n', {"device": "cuda:1", "index": "constant"}),
        ('def f(x, device="cuda"):\n    if device is None:\n        return x\n', {}),
        ('def f(x, device="cuda"):\n    return x.to(device) if device else x\n', {}),
        ('def f(x, device="cuda"):\n    x.to(device or host)\n', {}),
        ('f = lambda x, device="cuda": x.to(device)\n', {}),
        ('def f(x, device="cuda"): return x.to(device)\n', {}),
        ('def f(x, device="cuda"):\n    @g\n    def h(): ...\n', {}),
        ('class C:\n    device = "cuda"\n', {}),
        ('def f(x=torch.ones(1).to("cuda")):\n    return x\n', {}),
    ],
)
def test_defaults_that_stay(page: Page, text: str, fields: dict[str, Any]) -> None:
    p = page(text)
    literal = f'"{fields.get("device", "cuda")}"'
    assert p.draft("device-parameter", p.device(literal, position="default", **fields)) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'def f(x, device="cuda"):\n    return x.to(device)\n',
            "def f(x, device=None):\n    if device is None:\n        device = default_device().type\n"
            "    return x.to(device)\n",
        ),
        (
            'def f(x, *, device: str = "cuda:0"):\n    """Return x."""\n\n    return x.to(device)\n',
            'def f(x, *, device: str = None):\n    """Return x."""\n\n    if device is None:\n'
            "        device = str(default_device(0))\n    return x.to(device)\n",
        ),
        (
            'class C:\n    def __init__(self, device=torch.device("cuda")):\n        self.device = device\n',
            "class C:\n    def __init__(self, device=None):\n        if device is None:\n"
            "            device = default_device()\n        self.device = device\n",
        ),
    ],
)
def test_the_body_selects_the_device(page: Page, text: str, expected: str) -> None:
    p = page(f"import torch\n{text}")
    device = "cuda:0" if "cuda:0" in text else "cuda"
    fact = p.device(f'"{device}"', device=device, position="default")
    assert p.fixed("device-parameter", fact) == f"import torch\n{IMPORT}{expected}"
