"""Which imported names a module uses."""

from __future__ import annotations

import pytest

from xlamig.flow import summary_of
from xlamig.syntax import module_from_text


def uses(text: str, name: str = "app.train") -> set[str]:
    found = summary_of(module_from_text(text), text, name, False).uses
    assert not found or (found.startswith("\n") and found.endswith("\n"))
    return set(found.split())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x.y.z()\n",
        "# torch.seed\n'torch.seed'\n",
        "import torch\ndef f(dist):\n    dist.seed()\n",
        "torch = 1\n",
    ],
)
def test_what_is_not_imported_is_not_used(text: str) -> None:
    assert not {name for name in uses(text) if name.endswith("seed")}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import torch\ntorch.a.seed(1)\n", "torch.a.seed"),
        ("import torch as t\nt.seed(1).x\n", "torch.seed"),
        ("from torch import seed\n", "torch.seed"),
        ("from torch import seed as s\n", "torch.seed"),
        ("import torch.seed\n", "torch.seed"),
        ("from .near import seed\n", "app.near.seed"),
        ("def f():\n    import torch\n    return [torch.seed(i) for i in x]\n", "torch.seed"),
        ("import torch\nt = torch\nu = t.a\nu.seed\n", "torch.a.seed"),
        ("import torch\n@torch.seed\nclass A: pass\n", "torch.seed"),
        ("try:\n    import a as m\nexcept ImportError:\n    import b as m\nm.seed()\n", "b.seed"),
        ("from torch import *\nseed(1)\n", "torch.seed"),
        ("import torch\nf(x=lambda: torch.seed)\n", "torch.seed"),
    ],
)
def test_an_imported_name_is_used(text: str, name: str) -> None:
    assert name in uses(text)


@pytest.mark.slow
def test_aliases_of_each_other_end() -> None:
    text = "import a\nb = a.x\na = b.y\n" + "".join(f"a = b.z{i}\nb = a.z{i}\n" for i in range(30))
    assert "a.x" in uses(text)


@pytest.mark.parametrize(
    "line",
    [
        "torch.rand(3)",
        "torch.rand(3, device='cpu')",
        "torch.rand(3, device=torch.device('cpu'))",
        "torch.rand(3, device=None)",
        "torch.nn.LSTM(3, 3, dropout=0)",
        "nn.init.normal_(weight)",
        "layer.weight.uniform_(-1, 1)",
        "def init_weights(m):\n    m.normal_()",
        "class A:\n    def reset_parameters(self):\n        for p in self.all():\n            p.uniform_()",
    ],
)
def test_drawing_on_the_cpu_is_no_use(line: str) -> None:
    assert not {n for n in uses(f"import torch\n{line}\n") if "=)" in n or n.startswith("torch.Tensor.")}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("torch.rand(3, device=x.device)", "torch.rand(device=)"),
        ("torch.nn.LSTM(3, 3, dropout=p())", "torch.nn.LSTM(dropout=)"),
        ("x.new_empty(3).bernoulli_(0.5)", "torch.Tensor.bernoulli_"),
        ("def f(x):\n    return x.normal_()", "torch.Tensor.normal_"),
        ("def init(m):\n    m.normal_()\ndef noise(x):\n    x.normal_()", "torch.Tensor.normal_"),
    ],
)
def test_drawing_on_the_device_is_a_use(line: str, name: str) -> None:
    assert name in uses(f"import torch\n{line}\n")


@pytest.mark.parametrize("line", ["Dropout(0)", "Dropout(p=0.0)", "y = Dropout(0) if x else None"])
def test_dropout_at_a_rate_of_zero_is_no_use(line: str) -> None:
    assert "torch.nn.Dropout" not in uses(f"from torch.nn import Dropout\n{line}\n")


@pytest.mark.parametrize(
    ("line", "limits"),
    [
        ("def f(rate): Dropout(rate)", ["f(rate"]),
        ("def f(cfg): Dropout(cfg.net.rate)", ["@net.rate"]),
        ("def f(rate=0, more=0): Dropout(rate or more)", ["f(more f(rate"]),
        ("def f(rate): return Dropout(rate) if rate > 0 else None", ["f(rate"]),
        ("def f(rate, on):\n  if on:\n    return Dropout(rate)", ["f(on", "f(rate"]),
        ("def f(on):\n  if on:\n    return Dropout()", ["f(on"]),
    ],
)
def test_options_limit_what_draws(line: str, limits: list[str]) -> None:
    text = f"from torch.nn import Dropout\n{line}\n"
    found = summary_of(module_from_text(text), text, "net", False).uses
    assert "\t".join(("torch.nn.Dropout", *limits)) in found.split("\n")


@pytest.mark.parametrize(
    "line",
    ["Dropout(1 - rate)", "Dropout(rates[0])", "Dropout(0.1 if rate else 0)", "Dropout(*rate)", "g(Dropout)"],
)
def test_other_rates_limit_nothing(line: str) -> None:
    assert "torch.nn.Dropout" in uses(f"from torch.nn import Dropout\ndef f(rate, rates):\n  {line}\n")
