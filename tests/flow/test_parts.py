from __future__ import annotations

import pytest
from reading import read

SOURCE = """\
import torch
from torch import nn
from torch.utils.data import Dataset as Base
import triton

class Net(nn.Module):
    def __init__(self, d_model=512, n_head=8):
        self.proj = nn.Linear(d_model, 3 * d_model)
    def forward(self, x):
        return torch.matmul(x, x)

class Data(Base):
    pass

try:
    @triton.jit
    def kernel(x): ...
except Exception:
    pass

torch.manual_seed(0)
"""


def test_parts_say_what_they_are_made_of() -> None:
    net, data, kernel, own = read(SOURCE).parts
    assert (net.name, net.kind, net.bases) == ("Net", "class", ("torch.nn.Module",))
    assert net.members == ("__init__", "forward")
    assert net.calls == (("torch.matmul", 1), ("torch.nn.Linear", 1))
    assert data.bases == ("torch.utils.data.Dataset",)
    assert (kernel.name, kernel.decorators) == ("kernel", ("triton.jit",))
    assert (own.name, own.kind, own.calls) == ("", "module", (("torch.manual_seed", 1),))


def test_a_backward_pass_is_a_call() -> None:
    (part,) = read("import torch\ndef step(loss):\n    loss.sum().backward()\n").parts
    assert part.calls == (("torch.Tensor.backward", 1),)
    (part,) = read("def rewind(tape):\n    tape.backward()\n").parts
    assert part.calls == ()


def sizes(text: str) -> list[tuple[str, int, str]]:
    return [(size.kind, size.value, size.owner) for size in read("import torch\n" + text).sizes]


def test_a_size_says_how_it_is_given() -> None:
    text = "import torch\nd_model = 64\ndef f(d_model=128): ...\nnn.Net(1, d_model=256)\n"
    found = [(size.value, size.given, size.callee) for size in read(text).sizes]
    assert found == [(64, "value", ""), (128, "default", ""), (256, "call", "Net")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(d_model=512): ...", [("hidden", 512, "f")]),
        ("class C:\n    n_embd: int = 768\n    n_head = 12", [("hidden", 768, "C"), ("heads", 12, "C")]),
        ("Config(vocab_size=50257)", [("vocabulary", 50257, "")]),
        ("{'intermediate_size': 11008}", [("feed-forward", 11008, "")]),
        ("self.head_dim = 64", [("head", 64, "")]),
        ("x.sum(dim=-1); x.sum(dim=1)", []),
        ("hidden_size = width", []),
        ("hidden_size = True", []),
        ("hidden_size = 512.0", []),
    ],
)
def test_literal_sizes(text: str, expected: list[tuple[str, int, str]]) -> None:
    assert sizes(text) == expected


def test_a_module_without_definitions_has_no_parts() -> None:
    assert read("import torch\nx = 1\n").parts == ()
