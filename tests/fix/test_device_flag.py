"""A name that keeps whether CUDA is there, and everything that it decides, change together."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from xlamig import engine

HEAD = "import argparse\nimport numpy as np\nimport torch\nfrom torch import nn\n\nmodel = nn.Linear(4, 4)\n"


def fixed(body: str, *grades: str) -> str:
    """Return the lines of `body` that differ after the fix, with what stands there then."""
    source = HEAD + textwrap.dedent(body)
    overrides = {"select": ["XLA003"]}
    stdin = ("a.py", source.encode())
    options = engine.Options(overrides, isolated=True, jobs=1, cache=False, stdin=stdin)
    outcome = engine.fix([Path("a.py")], options, frozenset(grades or ("safe",)), write=False)
    assert outcome.stdin is not None and not outcome.problems
    before = source.splitlines()
    lines = outcome.stdin.text.splitlines()
    return "\n".join(line for line in lines if line not in before and "import" not in line)


MOVES = """
if cuda:
    model.cuda()
"""
TENSORS = """
cuda = True if torch.cuda.is_available() else False
if cuda:
    model.cuda()
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
for x in loader:
    real = x.type(Tensor)
    z = Tensor(np.random.normal(0, 1, (4, 4)))
    ones = Tensor(x.size(0), 1).fill_(1.0)
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            TENSORS,
            """\
            cuda = default_device().type != "cpu"
                model.to(default_device())
            Tensor = torch.FloatTensor
                real = x.to(default_device(), torch.float32)
                z = Tensor(np.random.normal(0, 1, (4, 4))).to(default_device())
                ones = Tensor(x.size(0), 1).to(default_device()).fill_(1.0)""",
        ),
        (  # the condition is evaluated once
            """
            args = argparse.ArgumentParser().parse_args()
            use_cuda = not args.no_cuda and torch.cuda.is_available()
            device = torch.device("cuda" if use_cuda else "cpu")
            kwargs = {"pin_memory": True} if use_cuda else {}
            print(use_cuda)
            model.to(device)
            """,
            """\
            use_cuda = not args.no_cuda and default_device().type != "cpu"
            device = default_device() if use_cuda else torch.device("cpu")""",
        ),
        (  # a negative flag, and devices behind an if
            """
            args = argparse.ArgumentParser().parse_args()
            no_cuda = args.cpu or not torch.cuda.is_available()
            if no_cuda:
                device = torch.device("cpu")
            else:
                torch.cuda.manual_seed(0)
                device = torch.device("cuda", 0)
            model.to(device)
            """,
            """\
            no_cuda = args.cpu or default_device().type == "cpu"
                device = default_device(0)""",
        ),
        (  # in a setting
            """
            args = argparse.ArgumentParser().parse_args()
            args.cuda = args.cuda and torch.cuda.is_available()
            if args.cuda:
                model.cuda()
            for x in loader:
                if args.cuda:
                    x = x.cuda(non_blocking=True)
                model(x)
            """,
            """\
            args.cuda = args.cuda and default_device().type != "cpu"
                model.to(default_device())
                    x = x.to(default_device(), non_blocking=True)""",
        ),
        (  # set in two branches
            """
            args = argparse.ArgumentParser().parse_args()
            if args.gpu and torch.cuda.is_available():
                use_cuda = True
                print("on a GPU")
                torch.backends.cudnn.benchmark = True
            else:
                use_cuda = False
            if use_cuda:
                model.cuda()
            for x in loader:
                if use_cuda:
                    x = x.cuda()
                model(x)
            """,
            """\
            if args.gpu and default_device().type != "cpu":
                model.to(default_device())
                    x = x.to(default_device())""",
        ),
        (  # of a test for no CUDA
            """
            if not torch.cuda.is_available():
                use_cuda = False
            else:
                use_cuda = True
            if use_cuda:
                model.cuda()
            """,
            """\
            if default_device().type == "cpu":
                model.to(default_device())""",
        ),
    ],
)
def test_a_flag_and_what_it_decides_are_rewritten(body: str, expected: str) -> None:
    assert fixed(body) == textwrap.dedent(expected)


@pytest.mark.parametrize(
    "more",
    [
        "if cuda:\n    torch.cuda.set_per_process_memory_fraction(0.5)\n",  # needs CUDA
        "train(model, cuda)\n",  # passed on
        "cuda = False\n",  # has other values
        'if cuda:\n    name = f"cuda:{rank}"\n',
        "Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor\ncheck(Tensor)\n",
        # the argument may be a tensor, which the host's type refuses
        "Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor\ny = Tensor(x)\n",
    ],
)
def test_a_flag_that_means_more_is_left(more: str) -> None:
    text = fixed(f"cuda = torch.cuda.is_available()\n{MOVES}{MOVES}{more}")
    assert "cuda = default_device" not in text


@pytest.mark.parametrize(
    "branches",
    [
        "if torch.cuda.is_available():\n    cuda = True\nelse:\n    cuda = True\n",
        "if torch.cuda.is_available():\n    cuda = True\n    n = 8\nelse:\n    cuda = False\n",
        "if torch.cuda.is_available():\n    cuda = True\nelse:\n    cuda = False\ncuda = args.cuda\n",
        "if torch.cuda.is_available():\n    cuda = True\n    f(torch.cuda.Stream())\nelse:\n    cuda = 0\n",
        "if args.gpu:\n    cuda = True\nelse:\n    cuda = False\n",
    ],
)
def test_a_flag_of_branches_that_mean_more_is_left(branches: str) -> None:
    assert "default_device().type !=" not in fixed(f"args = 1\n{branches}{MOVES}{MOVES}")


@pytest.mark.parametrize("more", ["train(model, cuda)\n", "y = torch.cuda.FloatTensor(x) if cuda else x\n"])
def test_an_unsafe_fix_trusts(more: str) -> None:
    text = fixed(f"cuda = torch.cuda.is_available()\n{MOVES}{MOVES}{more}", "safe", "unsafe")
    assert 'cuda = default_device().type != "cpu"' in text


def test_a_single_selection_is_replaced_where_it_stands() -> None:
    body = 'cuda = torch.cuda.is_available()\ndevice = torch.device("cuda" if cuda else "cpu")\n'
    assert fixed(body) == "device = default_device()"


def test_no_flag_is_reported_that_places_nothing() -> None:
    assert fixed("cuda = torch.cuda.is_available()\nif cuda:\n    print('fast')\n") == ""


def test_a_flag_that_asks_a_setting_too_decides_where_its_tensors_are() -> None:
    setting = TENSORS.replace(
        "cuda = True if torch.cuda.is_available() else False",
        "args = argparse.ArgumentParser().parse_args()\n"
        "cuda = torch.cuda.is_available() and not args.no_cuda",
    )
    assert fixed(setting) == textwrap.dedent(
        """\
        cuda = default_device().type != "cpu" and not args.no_cuda
            model.to(default_device())
        Tensor = torch.FloatTensor
            real = x.to(default_device() if cuda else "cpu", torch.float32)
            z = Tensor(np.random.normal(0, 1, (4, 4))).to(default_device() if cuda else "cpu")
            ones = Tensor(x.size(0), 1).to(default_device() if cuda else "cpu").fill_(1.0)"""
    )
