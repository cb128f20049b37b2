"""Names that only code for CUDA sets, and that are read wherever the program runs."""

from __future__ import annotations

import pytest
from reading import facts_in

from xlamig.facts import DeviceChoice

CUDA = "if torch.cuda.is_available():\n    d = torch.device('cuda')\n"


def unset(source: str) -> list[str]:
    """Return the names that are found."""
    return [
        fact.spelled for fact in facts_in(f"import torch\n{source}", DeviceChoice) if fact.fallback == "unset"
    ]


def inside(source: str) -> str:
    """Return the source as the body of a function."""
    return "def f(x):\n" + "".join(f"    {line}\n" for line in source.splitlines())


@pytest.mark.parametrize("wrap", [str, inside])
@pytest.mark.parametrize(
    "source",
    [
        f"d = 'cpu'\n{CUDA}x.to(d)",
        f"{CUDA}else:\n    d = 'cpu'\nx.to(d)",
        f"{CUDA}elif torch.backends.mps.is_available():\n    d = 'mps'\nelse:\n    d = 'cpu'\nx.to(d)",
        f"{CUDA}elif has_xla:\n    d = torch_xla.device()\nx.to(d)",
        f"{CUDA}if has_xla:\n    d = torch_xla.device()\nx.to(d)",
        f"{CUDA}if size:\n    d = 'cpu'\nx.to(d)",
        f"{CUDA}    x.to(d)",
        f"{CUDA}if torch.cuda.is_available():\n    x.to(d)",
        f"{CUDA}if not torch.cuda.is_available():\n    raise SystemExit\nx.to(d)",
        f"{CUDA}y = x.to(d) if torch.cuda.is_available() else x",
        f"{CUDA}y = torch.cuda.is_available() and x.to(d)",
        f"{CUDA}try:\n    x.to(d)\nexcept NameError:\n    pass",
        f"{CUDA}y = [d for i in range(3)]",
        f"{CUDA}g = lambda: x.to(d)",
        f"{CUDA}def g():\n    return x.to(d)",
        f"{CUDA}d = 'cpu'\nx.to(d)",
        "if torch.cuda.is_available():\n    print = log\nprint(x)",
        "if size > 3:\n    d = 'cuda'\nx.to(d)",
    ],
)
def test_what_has_a_value_or_is_not_read_for_sure_is_silent(source: str, wrap: type[str]) -> None:
    assert unset(wrap(source)) == []


def test_a_parameter_has_a_value() -> None:
    assert unset("def f(x, d):\n    if torch.cuda.is_available():\n        d = 'cuda'\n    x.to(d)") == []


@pytest.mark.parametrize("wrap", [str, inside])
@pytest.mark.parametrize(
    "source",
    [
        f"{CUDA}x.to(d)",
        f"{CUDA}y = 1\nfor a in b:\n    a.to(d)",
        f"{CUDA}with torch.no_grad():\n    x.to(d)",
        f"{CUDA}if x.to(d) is None:\n    y = 1",
        f"{CUDA}elif torch.backends.mps.is_available():\n    d = 'mps'\nx.to(d)",
        "if not torch.cuda.is_available():\n    pass\nelse:\n    d = 'cuda'\nx.to(d)",
        f"{CUDA}y = [i for i in range(d)]",
        f"{CUDA}if torch.xpu.is_available():\n    d = 'xpu'\nx.to(d)",
        "if torch.cuda.is_available():\n    for d in range(torch.cuda.device_count()):\n        x\nx.to(d)",
    ],
)
def test_what_only_cuda_sets_and_all_read_is_found(source: str, wrap: type[str]) -> None:
    assert unset(wrap(source)) == ["d"]
