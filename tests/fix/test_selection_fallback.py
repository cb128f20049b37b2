"""Selections that do more than choose: only what they give hosts without CUDA is replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.findings import Applicability

AVAILABLE = "torch.cuda.is_available()"


def fixed(code: str, *grades: Applicability) -> list[str]:
    """The lines that `--fix` writes again, without imports."""
    source = f"import torch\n{code}\n"
    options = engine.Options(
        {"select": ["XLA003"]}, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode())
    )
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe", *grades}), write=False)
    assert outcome.stdin is not None
    lines = outcome.stdin.text.splitlines()
    return [line.strip() for line in lines if line not in source.splitlines() and "import" not in line]


@pytest.mark.parametrize(
    ("code", "written"),
    [
        (
            f"if {AVAILABLE}:\n    d = 'cuda'\n    f()\nelse:\n    d = 'cpu'\n",
            ["d = default_device().type"],
        ),
        (
            f"if args.gpu and {AVAILABLE}:\n    a.d = torch.device('cuda')\n    f()\n"
            "else:\n    a.d = torch.device('cpu')\n    g()\n",
            ["a.d = default_device() if args.gpu else torch.device('cpu')"],
        ),
        (
            f"def f():\n    if {AVAILABLE}:\n        return torch.device('cuda')\n"
            "    return torch.device('cpu')\n",
            ["return default_device()"],
        ),
        (
            f"d = torch.device('cuda') if args.gpu and {AVAILABLE} else torch.device('cpu')\n",
            ["d = default_device() if args.gpu else torch.device('cpu')"],
        ),
        (
            f"d = torch.device('cpu') if not (args.gpu and {AVAILABLE}) else torch.device('cuda')\n",
            ["d = default_device() if args.gpu else torch.device('cpu')"],
        ),
        (
            f"d = 'cpu'\nif {AVAILABLE}:\n    print(1)\n    d = 'cuda'\n",
            ["d = default_device().type"],
        ),
        (
            f"def f(m):\n    if {AVAILABLE}:\n        m.cuda()\n",
            [f'if {AVAILABLE} or default_device().type == "xla":', "m.to(default_device())"],
        ),
        (
            f"def f(x, a):\n    use = a.gpu and {AVAILABLE}\n    if use:\n        x, y = x.cuda(), x.cuda()",
            [
                'use = a.gpu and default_device().type != "cpu"',
                "x, y = x.to(default_device()), x.to(default_device())",
            ],
        ),
        (
            f"def f(m):\n    if {AVAILABLE}:\n        m.cuda()\n        g()\n",
            ["else:", "m.to(default_device())"],
        ),
        (
            f"def f(m):\n    if {AVAILABLE} and a.gpu:\n        m = m.cuda(1)\n",
            ["elif a.gpu:", "m = m.to(default_device())"],
        ),
        (
            f"def f(m):\n    if a.gpu is not None and {AVAILABLE}:\n        m = m.cuda(a.gpu)\n",
            [f"elif not {AVAILABLE}:", "m = m.to(default_device())"],
        ),
        (
            f"def f(m):\n    if a.rank is not None and {AVAILABLE}:\n        m = m.cuda(a.rank)\n",
            [f"elif not {AVAILABLE}:", "m = m.to(default_device())"],
        ),
        (
            f"def f(m):\n    if a.log is not None and {AVAILABLE}:\n        m = m.cuda(1)\n",
            ["elif a.log is not None:", "m = m.to(default_device())"],
        ),
        (
            f"if not {AVAILABLE}:\n    print(1)\nelif gpu:\n    torch.cuda.set_device(gpu)\n    m.cuda(gpu)\n"
            "else:\n    m = torch.nn.DataParallel(m).cuda()\n",
            ["m.to(default_device())", "m = m.to(default_device())"],
        ),
        (f"m = m.cuda() if {AVAILABLE} else m\n", ["m = m.to(default_device())"]),
        (
            f"y = torch.arange(n, dtype=t).cuda() if {AVAILABLE} else torch.arange(n)\n",
            [
                "y = torch.arange(n, dtype=t).to(default_device()) "
                'if default_device().type != "cpu" else torch.arange(n)'
            ],
        ),
        (
            f"if not {AVAILABLE}:\n    d = 'cpu'\n    f()\nelse:\n    d = 'cuda'\n",
            ["d = default_device().type"],
        ),
        (
            f"d = 'cuda'\nif not {AVAILABLE}:\n    d = 'cpu'\n",
            ["d = default_device().type"],
        ),
        (
            f"if a.d == 'cuda' and not {AVAILABLE}:\n    a.d = 'cpu'\n",
            ["a.d = default_device().type"],
        ),
        (
            f"d = 'cuda' if {AVAILABLE} else 'mps' if torch.backends.mps.is_available() else 'cpu'\n",
            [
                f"d = 'cuda' if {AVAILABLE} else 'mps' if torch.backends.mps.is_available() else "
                "default_device().type"
            ],
        ),
        (
            f"d = 'mps' if mps() else torch.device('cuda') if {AVAILABLE} and g else torch.device('cpu')\n",
            [
                f"d = 'mps' if mps() else torch.device('cuda') if {AVAILABLE} and g else "
                "(default_device() if g else torch.device('cpu'))"
            ],
        ),
        (f"class A:\n    d = 'cuda' if {AVAILABLE} else 'cpu'\n", ["d = default_device().type"]),
        (
            f"def f(rank):\n    return f'cuda:{{rank}}' if {AVAILABLE} else 'cpu'\n",
            [f"return f'cuda:{{rank}}' if {AVAILABLE} else default_device().type"],
        ),
    ],
)
def test_the_other_arm(code: str, written: list[str]) -> None:
    assert fixed(code) == written


@pytest.mark.parametrize(
    "code",
    [
        f"if {AVAILABLE} or args.force:\n    d = 'cuda'\n    f()\nelse:\n    d = 'cpu'\n",
        f"def f(m):\n    if {AVAILABLE}:\n        m.cuda()\n        t = f(torch.cuda.FloatTensor)\n",
        f"def f(m):\n    if {AVAILABLE}:\n        build().cuda()\n        g()\n",
        f"def f(m):\n    if {AVAILABLE}:\n        m = build(m, 'cuda')\n        m.cuda()\n",
        f"def f(m):\n    if {AVAILABLE}:\n        m.cuda()\n        g()\n    else:\n        h()\n",
        f"if {AVAILABLE}:\n    f()\nelse:\n    a.cuda = False\nif a.cuda:\n    g(device='cuda')\n",
        f"def f(d='cuda' if {AVAILABLE} else 'cpu'):\n    pass\n",
        f"d = 'cpu' if not {AVAILABLE} else 'mps' if mps() else 'cuda'\n",
    ],
)
def test_left_alone(code: str) -> None:
    assert fixed(code) == []


@pytest.mark.parametrize(
    ("code", "written"),
    [
        (f"if not {AVAILABLE}:\n    raise OSError\n", ['if default_device().type == "cpu":']),
        (
            f"if args.cuda and not {AVAILABLE}:\n    raise OSError\n",
            ['if args.cuda and default_device().type == "cpu":'],
        ),
        (f"assert {AVAILABLE}, 'no GPU'\n", ["assert default_device().type != \"cpu\", 'no GPU'"]),
        (f"if args.fused and not {AVAILABLE}:\n    raise OSError\n", []),
        (f"if args.cuda and not {AVAILABLE}:\n    print('no GPU')\n", []),
    ],
)
def test_ends_without_any_accelerator(code: str, written: list[str]) -> None:
    assert fixed(code, "unsafe") == written
    assert fixed(code) == []


@pytest.mark.parametrize(
    "choice",
    [
        "torch.device(a.device if a.fast else 'cpu')",
        f"torch.device(a.xla_device if {AVAILABLE} else 'cpu')",
        f"(a.batch if {AVAILABLE} else 'cpu')",
        f"torch.device(f(a) if {AVAILABLE} else 'cpu')",
    ],
)
def test_leaves_settings_that_are_no_choice_of_cuda(choice: str) -> None:
    assert fixed(f"def g(a):\n    return {choice}\n", "unsafe") == []


@pytest.mark.parametrize("setting", ["a.device", "a['device']", "a.get('device')"])
def test_a_setting_for_hosts_with_cuda_is_kept(setting: str) -> None:
    code = f"def g(a):\n    return torch.device({setting} if {AVAILABLE} else 'cpu')\n"
    chosen = f"(default_device().type if {setting} != \"cpu\" else 'cpu')"
    assert fixed(code) == [f"return torch.device({setting} if {AVAILABLE} else {chosen})"]
