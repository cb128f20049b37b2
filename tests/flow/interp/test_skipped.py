"""Branches that constants given by calls decide."""

from __future__ import annotations

import pytest

from .said import said

GAMMA = """
def gamma(t, on_device=False, kind="plain"):
    if TEST:
        return torch.exp(-t)
    return math.exp(-t)

class Net(nn.Module):
    def forward(self, x: torch.Tensor, t: torch.Tensor):
        return x * gamma(t, CALL)

    def sample(self, x: torch.Tensor):
        for i in range(9):
            x = x * gamma(i * 0.1)
        return x
"""
DECIDED = [
    ("on_device", "on_device=True"),
    ("on_device", "True"),
    ("not (not on_device)", "True"),
    ("kind == 'fast'", "kind='fast'"),
    ("kind != 'plain'", "kind='fast'"),
    ("on_device and kind == 'plain'", "True"),
]
OPEN = [
    ("on_device", "on_device=False"),
    ("on_device", "on_device=x.dim() > 1"),
    ("kind == 'fast'", "kind='other'"),
    ("on_device and x", "True"),
    ("kind == 'cuda'", "kind='cuda'"),  # on XLA callers give another device
]


@pytest.mark.parametrize(("test", "call"), OPEN)
def test_a_branch_that_a_call_may_take_is_read(test: str, call: str) -> None:
    assert said(GAMMA.replace("TEST", test).replace("CALL", call), "host-read") != []


@pytest.mark.parametrize(("test", "call"), DECIDED)
def test_a_branch_that_a_call_leaves_out_is_not_read(test: str, call: str) -> None:
    assert said(GAMMA.replace("TEST", test).replace("CALL", call), "host-read") == []


ASSIGNED = """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        return self.scaled(x, True)

    def scaled(self, x, first):
        for _ in range(3):
            if first:
                first = False
            else:
                x = x / x.sum().item()
        return x
"""


def test_a_parameter_that_is_assigned_decides_nothing() -> None:
    assert said(ASSIGNED, "host-read") == ["host-read item: x.sum().item()"]


ALONE = """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        return scaled(x, kind="sphere")

def scaled(x, kind):
    if kind == "cube":
        x = x / x.sum().item()
    return x
"""


def test_what_no_call_takes_runs_once_for_other_callers() -> None:
    assert said(ALONE, "host-read") == ["host-read item: x.sum().item()"]


MOVES = """
def train(batch, gpu=False):
    device = "cpu"
    if gpu:
        device = torch.get_default_device()
    model = nn.Linear(4, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(batch).sum().backward()

train(torch.ones(2, 4))
"""


def test_what_runs_again_makes_its_modules_again() -> None:
    assert said(MOVES, "module-move") == []


HELPER_FIRST = """
class Net(nn.Module):
    def scaled(self, scale):
        return self.weight * math.exp(scale)

    def forward(self, x: torch.Tensor):
        return x * self.scaled(3.0) + self.relu(x)

    def relu(self, scale):
        return torch.relu(scale)
"""


def test_a_method_runs_with_what_its_callers_give_wherever_it_stands() -> None:
    assert said(HELPER_FIRST, "host-read", sure=False) == []


EXPORTED = """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        if TEST:
            n = x.sum().item()
        return x
"""


@pytest.mark.parametrize(
    "test",
    [
        "torch.jit.is_tracing()",
        "torch.onnx.is_in_onnx_export() and x.dim() > 1",
        "torch.jit.is_scripting() or torch.compiler.is_exporting()",
    ],
)
def test_what_only_an_export_runs_is_not_read(test: str) -> None:
    assert said(EXPORTED.replace("TEST", test), "host-read") == []


@pytest.mark.parametrize("test", ["not torch.jit.is_tracing()", "torch.jit.is_tracing() or x.dim() > 1"])
def test_what_runs_without_an_export_is_read(test: str) -> None:
    assert said(EXPORTED.replace("TEST", test), "host-read") == ["host-read item: x.sum().item()"]
