"""Work grows with the source, whatever refers to whatever."""

from __future__ import annotations

from cProfile import Profile
from types import CodeType

import pytest
from reading import INTEREST, read

from xlamig.flow import facts_of, summary_of
from xlamig.syntax import module_from_text


def steps(text: str) -> int:
    """How many functions the analyser enters, its calls of built-in ones included."""
    module = module_from_text(text)
    profile = Profile()
    profile.enable()
    try:
        interface = summary_of(module, text, "train", False).interface
        facts_of(module, text, "train", False, INTEREST, {"train": interface})
    finally:
        profile.disable()
    entered = 0
    for entry in profile.getstats():
        if isinstance(entry.code, CodeType) and "/flow/" in entry.code.co_filename:
            inside = entry.calls or ()
            entered += entry.callcount + sum(one.callcount for one in inside if isinstance(one.code, str))
    return entered


FORMS = {
    "tensor made from itself": ("def f(x):\n", " x = x.view(1)\n x.cuda()\n"),
    "tensors made from each other": ("def f(x, y):\n", " x = y.view(1)\n y = x.view(1)\n x.cuda()\n"),
    "value and": ("", "s = s and a\ntorch.load(s)\n"),
    "value not": ("", "s = not s\ntorch.load(s)\n"),
    "value str": ("", "s = str(s)\ntorch.load(s)\n"),
    "value in a pattern": ("", "s = f'{s}{s}{s}'\ntorch.load(s)\n"),
    "value in a ternary": ("", "s = s if s else s\ntorch.load(s)\n"),
    "values of each other": ("", "a = b\nb = a\ntorch.load(a)\n"),
    "values of three": ("", "a = f'{b}{c}'\nb = f'{a}{c}'\nc = f'{a}{b}'\ntorch.load(a)\n"),
    "attributes of each other": ("", "a.b = c.d\nc.d = a.b\na.b.cuda()\n"),
    "guards of each other": ("", "a = b and c\nb = a and c\nif a and b: x.cuda()\n"),
    "one class name": ("", "class A(A): pass\nA().cuda()\n"),
    "two class names": ("", "class A(B, A): pass\nclass B(A, B): pass\nA().cuda()\n"),
    "lambdas": ("", "f = lambda f: f(lambda: f)\ntorch.load(f)\n"),
    "devices": ("", "device = other\nother = device\ndef f(): x.cuda()\n"),
    "sequences of each other": ("", "a = [b, b]\nb = [a, a]\ntorch.load(a)\n"),
    "plain calls": ("", "y = f(x).cuda()\n"),
    "selections": ("", "d = 'cuda' if torch.cuda.is_available() else 'cpu'\n"),
    "defaults that call their own function": ("", "def f(x=(f(x=1), 2)):\n f()\n"),
    "options": ("", "p.add_argument('--a', default='cuda')\ntorch.load(args.a)\n"),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_twice_the_lines_are_about_twice_the_work(form: str) -> None:
    head, line = FORMS[form]
    few, many = (steps(f"import torch\n{head}{line * count}") for count in (40, 80))
    assert many < 5 * few  # 4 would be quadratic
    assert many < 2_000_000


def nested(opening: str, middle: str, closing: str, depth: int) -> str:
    return f"import torch\nx = {opening * depth}{middle}{closing * depth}\n"


@pytest.mark.parametrize(
    ("opening", "middle", "closing"),
    [
        ("f(", "x.cuda()", ")"),
        ("[", "x.cuda()", "]"),
        ("{1: ", "x.cuda()", "}"),
        ("not ", "x.is_cuda", ""),
        ("(a and ", "x.is_cuda", ")"),
        ("(a or ", "x.is_cuda", " or b)"),
        ("a if torch.cuda.is_available() else ", "'cuda'", ""),
        ("('cuda' if ", "a", " else 'cpu')"),
        ("lambda a=", "x.cuda()", ": 1"),
        ("[a for a in ", "x.cuda()", "]"),
        ("x", ".view(1)", ".cuda()"),
        ("str(", "torch.device('cuda')", ")"),
    ],
)
def test_deep_expressions(opening: str, middle: str, closing: str) -> None:
    assert steps(nested(opening, middle, closing, 60)) < 5 * steps(nested(opening, middle, closing, 30))


@pytest.mark.slow
def test_deep_blocks() -> None:
    def blocks(depth: int) -> str:
        tests = "".join(f"{' ' * i}if torch.cuda.is_available() and a{i}:\n" for i in range(depth))
        return f"import torch\n{tests}{' ' * depth}x.cuda()\n"

    assert steps(blocks(60)) < 5 * steps(blocks(30))


def test_a_long_chain_of_elifs() -> None:
    def chain(length: int) -> str:
        arms = "".join(f"elif a == {i} and not use_xla: device = 'cuda'\n" for i in range(length))
        return f"import torch\nif torch.cuda.is_available(): pass\n{arms}else: device = 'cpu'\n"

    assert steps(chain(80)) < 5 * steps(chain(40))


@pytest.mark.slow
def test_a_long_function() -> None:
    line = " x{0} = torch.zeros({0}, device='cuda').view(x{1}).cuda()\n"

    def function(lines: int) -> str:
        return "import torch\ndef f():\n" + "".join(line.format(i, max(0, i - 1)) for i in range(lines))

    assert steps(function(1500)) < 3.3 * steps(function(500))


def test_imports_in_a_circle() -> None:
    files = {f"m{i}.py": f"from m{(i + 1) % 30} import *\nfrom m{(i + 7) % 30} import *" for i in range(30)}
    assert read("from m0 import *\nx.cuda()\ny()", project=files).facts


def test_calls_that_are_not_followed_are_named() -> None:
    chain = "".join(f"def f{i}(x): return f{i + 1}(x)\n" for i in range(40))
    text = f"import torch\n{chain}def f40(x): return x\nf0(torch.ones(2))\n"
    assert read(text).unfollowed
    assert read("import torch\ndef f(x): return x\nf(torch.ones(2))").unfollowed == ()
