"""Choices that no name keeps: tensor types, branches that place, and tensors that follow another one."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from xlamig import engine

HEAD = "import torch\nfrom torch import nn\nfrom torch.autograd import Variable\n\nmodel = nn.Linear(4, 4)\n"
TYPE = "dtype = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor\n"


def fixed(body: str) -> str:
    """Return the lines of `body` that differ after the safe fixes, as they stand then."""
    source = HEAD + textwrap.dedent(body)
    overrides = {"select": ["XLA003", "XLA013"]}
    options = engine.Options(overrides, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode()))
    outcome = engine.fix([Path("a.py")], options, frozenset(("safe",)), write=False)
    assert outcome.stdin is not None and not outcome.problems
    before = source.splitlines()
    lines = outcome.stdin.text.splitlines()
    return "\n".join(line for line in lines if line not in before and "import" not in line)


@pytest.mark.parametrize(
    "more",
    [
        "train(model, dtype)\n",  # passed on
        "dtype = torch.LongTensor\n",  # has other values
        "y = dtype(x)\n",  # the argument may be a tensor, which the host's type refuses
    ],
)
def test_a_tensor_type_that_means_more_is_left(more: str) -> None:
    assert "default_device" not in fixed(f"{TYPE}y = x.type(dtype)\n{more}")


@pytest.mark.parametrize(
    "body",
    [
        "if torch.cuda.is_available():\n    dtype = torch.cuda.FloatTensor\n    fused.build(dtype)\n",
        "if torch.cuda.is_available():\n    torch.cuda.set_rng_state(s)\n    t = f().cuda()\n",
    ],
)
def test_a_branch_that_needs_cuda_is_left(body: str) -> None:
    assert "default_device().type !=" not in fixed(body)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            f"""
            {TYPE}
            model.type(dtype)
            for x in loader:
                y = Variable(x).type(dtype)
                z = dtype(4, 4).fill_(1.0)
            """,
            """\
            dtype = torch.FloatTensor
            model.to(default_device(), torch.float32)
                y = Variable(x).to(default_device(), torch.float32)
                z = dtype(4, 4).to(default_device()).fill_(1.0)""",
        ),
        (  # one name for another
            f"""
            {TYPE}
            Tensor = dtype
            for x in loader:
                y = Tensor([1.0, 2.0])
            """,
            """\
            dtype = torch.FloatTensor
                y = Tensor([1.0, 2.0]).to(default_device())""",
        ),
        (
            """
            dtype = torch.FloatTensor
            if torch.cuda.is_available():
                torch.backends.cudnn.benchmark = True
                dtype = torch.cuda.FloatTensor
                model.cuda()
            for x in loader:
                model(x.type(dtype))
            """,
            """\
            if default_device().type != "cpu":
                dtype = torch.FloatTensor
                model.to(default_device())
                model(x.to(default_device(), torch.float32))""",
        ),
        (  # the other branch calls the same functions, which need no CUDA
            """
            for x in loader:
                if torch.cuda.is_available():
                    h = encode(Variable(x).cuda())
                    noise = torch.cuda.FloatTensor(4, 4).normal_()
                else:
                    h = encode(Variable(x))
                    noise = torch.FloatTensor(4, 4).normal_()
            """,
            """\
                if default_device().type != "cpu":
                    h = encode(Variable(x).to(default_device()))
                    noise = torch.FloatTensor(4, 4).to(default_device()).normal_()""",
        ),
        (
            """
            for x in loader:
                y = x.cuda(non_blocking=True) if torch.cuda.is_available() else x
            """,
            """\
            y = x.to(default_device(), non_blocking=True) if default_device().type != "cpu" else x""",
        ),
    ],
)
def test_what_a_test_guards_is_placed_on_any_accelerator(body: str, expected: str) -> None:
    assert textwrap.dedent(fixed(body)) == textwrap.dedent(expected)


@pytest.mark.parametrize(
    "body",
    [
        "    if x.is_cuda:\n        return fused_norm(x)\n    return x\n",  # a kernel
        "    if x.is_cuda:\n        h = kernel(h.cuda())\n    return h\n",
        "    if x.is_cuda:\n        h = h.cuda(1)\n    return h\n",  # another device
        "    if x.is_cuda:\n        x = f(x)\n        h = h.cuda()\n    return h\n",  # another tensor by then
        "    Tensor = torch.cuda.FloatTensor if x.is_cuda else torch.FloatTensor\n"
        "    x = load()\n    return Tensor(2, 2)\n",
    ],
)
def test_a_test_of_a_tensor_that_means_more_is_left(body: str) -> None:
    assert ".device" not in fixed(f"def f(x, h):\n{body}")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            """
            def f(x, h):
                if x.is_cuda:
                    h = h.cuda()
                return x + h
            """,
            """\
                if x.device.type != "cpu":
                    h = h.to(x.device)""",
        ),
        (
            """
            class Net(nn.Module):
                def __init__(self):
                    self.table = nn.Embedding(4, 4)
                    self.table.weight = nn.Parameter(torch.ones(4, 4))

                def forward(self, x):
                    x = x.cuda() if self.table.weight.is_cuda else x
                    return self.table(x)
            """,
            """\
                    x = x.to(self.table.weight.device) if self.table.weight.device.type != "cpu" else x""",
        ),
        (
            """
            class Net(nn.Module):
                def start(self, n):
                    h = torch.zeros(1, n, 4)
                    if next(self.parameters()).is_cuda:
                        h = h.cuda()
                    return h
            """,
            """\
                    if next(self.parameters()).device.type != "cpu":
                        h = h.to(next(self.parameters()).device)""",
        ),
        (
            """
            def f(x):
                Tensor = torch.cuda.FloatTensor if x.is_cuda else torch.FloatTensor
                return Tensor(x.size(0), 2).fill_(0)
            """,
            """\
                Tensor = torch.FloatTensor
                return Tensor(x.size(0), 2).to(x.device).fill_(0)""",
        ),
        (
            """
            def f(x, n):
                return torch.arange(n).cuda(x.get_device()) if x.is_cuda else torch.arange(n)
            """,
            """\
                return torch.arange(n).to(x.device) if x.device.type != "cpu" else torch.arange(n)""",
        ),
    ],
)
def test_what_a_test_of_a_tensor_guards_follows_the_tensor(body: str, expected: str) -> None:
    assert textwrap.dedent(fixed(body)) == textwrap.dedent(expected)
