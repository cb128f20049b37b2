"""Tensor types of torch.cuda that something other than CUDA's availability decides, or nothing."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from xlamig import engine

HEAD = "import argparse\nimport torch\n\nopt = argparse.ArgumentParser().parse_args()\n"
TYPE = "Tensor = torch.cuda.FloatTensor if opt.cuda else torch.Tensor\n"


def fixed(body: str, *grades: str) -> str:
    """Return the lines of `body` that differ after the fixes, as they stand then."""
    source = HEAD + textwrap.dedent(body)
    overrides = {"select": ["XLA011"]}
    options = engine.Options(overrides, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode()))
    outcome = engine.fix([Path("a.py")], options, frozenset(grades or ("safe",)), write=False)
    assert outcome.stdin is not None and not outcome.problems
    before = source.splitlines()
    lines = outcome.stdin.text.splitlines()
    return textwrap.dedent("\n".join(li for li in lines if li not in before and "import" not in li))


@pytest.mark.parametrize(
    "body",
    [
        f"{TYPE}opt.cuda = False\nz = Tensor(2, 2)\n",  # the flag is another one by then
        f"{TYPE}train(Tensor)\n",  # passed on
        "if opt.cuda:\n    T = torch.cuda.FloatTensor\nelse:\n    T = torch.FloatTensor\nz = T(2)\n",
        "T = torch.cuda.FloatTensor if pick() else torch.FloatTensor\nz = T(2)\n",  # may differ
        "y = torch.cuda.FloatTensor(x)\n",  # may be a tensor, which the host's type refuses
        "y = torch.FloatTensor(2).type(torch.FloatTensor)\n",
        "assert isinstance(x, torch.cuda.FloatTensor)\n",
    ],
)
def test_a_type_that_means_more_is_left(body: str) -> None:
    assert fixed(body) == ""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            f"""
            {TYPE}
            z = Tensor(4, 4).fill_(1.0)
            for x in loader:
                y = x.type(Tensor)
            """,
            """\
            Tensor = torch.FloatTensor
            z = Tensor(4, 4).to(default_device() if opt.cuda else "cpu").fill_(1.0)
                y = x.to(default_device() if opt.cuda else "cpu", torch.float32)""",
        ),
        (
            """
            dtype = torch.cuda.FloatTensor
            for x in loader:
                y = x.type(dtype)
            """,
            """\
            dtype = torch.FloatTensor
                y = x.to(default_device(), torch.float32)""",
        ),
        (
            """
            def noise(x):
                if opt.cuda:
                    e = torch.cuda.FloatTensor(x.size()).normal_()
                return e
            """,
            "e = torch.FloatTensor(x.size()).to(default_device()).normal_()",
        ),
        (
            """
            def cast(x):
                return x.type(torch.cuda.LongTensor)
            """,
            "return x.to(default_device(), torch.int64)",
        ),
    ],
)
def test_a_type_becomes_the_hosts_and_a_move(body: str, expected: str) -> None:
    assert fixed(body) == textwrap.dedent(expected)


def test_an_unsafe_fix_trusts_what_a_type_is_made_of() -> None:
    expected = "y = torch.FloatTensor(x).to(default_device())"
    assert fixed("y = torch.cuda.FloatTensor(x)\n", "safe", "unsafe") == expected


MODEL = """class Model:
    def __init__(self, opt):
        self.Tensor = torch.cuda.FloatTensor if opt.gpu_ids else {host}
        self.noise = self.Tensor(4, 2)

    def penalty(self, x):
        {line}
"""
CALLS = "return self.Tensor(x.size()).fill_(1.0)"
MAKER = "(lambda *data: torch.Tensor(*data).to(default_device())) if opt.gpu_ids else torch.Tensor"


@pytest.mark.parametrize(
    ("line", "host"),
    [
        ("return x.type(self.Tensor)", "torch.Tensor"),
        ("return isinstance(x, self.Tensor)", "torch.Tensor"),
        ("return make(self.Tensor)", "torch.Tensor"),
        (CALLS, "torch.DoubleTensor"),
        (CALLS, "make"),
    ],
)
def test_leaves_an_attribute_that_may_have_to_be_a_type(line: str, host: str) -> None:
    assert fixed(MODEL.format(line=line, host=host), "safe", "unsafe") == ""


def test_an_attribute_that_is_called_makes_tensors_on_the_device() -> None:
    code = MODEL.format(line=CALLS, host="torch.Tensor")
    assert fixed(code) == ""
    assert fixed(code, "safe", "unsafe") == f"self.Tensor = {MAKER}"
