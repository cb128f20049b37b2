"""A flag that is turned off, or stays off, without CUDA: what the fix writes and where it holds back."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

HEAD = "import torch\n\n\ndef main(args, x):\n"
PLACED = "    return x.cuda() if args.gpu else x\n"


def fixed(body: str) -> str:
    options = engine.Options(
        {"select": ["XLA003"]}, isolated=True, jobs=1, cache=False, stdin=("a.py", f"{HEAD}{body}".encode())
    )
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe", "unsafe"}), write=False)
    assert outcome.stdin is not None and not outcome.problems
    return outcome.stdin.text


@pytest.mark.parametrize(
    ("test", "written"),
    [
        ("args.gpu and not torch.cuda.is_available()", 'args.gpu and default_device().type == "cpu"'),
        ("not torch.cuda.is_available() and args.gpu", 'default_device().type == "cpu" and args.gpu'),
        ("not torch.cuda.is_available()", 'default_device().type == "cpu"'),
        ("args.gpu and torch.cuda.is_available()", None),
        ("args.gpu or not torch.cuda.is_available()", None),
    ],
)
def test_a_flag_is_turned_off_only_on_the_cpu(test: str, written: str | None) -> None:
    body = f"    if {test}:\n        print('no GPU')\n        args.gpu = False\n{PLACED}"
    assert f"    if {written or test}:\n" in fixed(body)


@pytest.mark.parametrize(
    "body",
    [
        "    if not torch.cuda.is_available():\n        args.pin = False\n" + PLACED,
        "    if args.pin and not torch.cuda.is_available():\n        args.pin = False\n" + PLACED,
        "    if not torch.cuda.is_available():\n        args.gpu = False\n        x = x.float()\n" + PLACED,
        "    if not torch.cuda.is_available():\n        args.gpu = False\n    return args\n",
    ],
)
def test_leaves_what_places_nothing(body: str) -> None:
    assert "    if " in fixed(body) and "default_device().type ==" not in fixed(body)


@pytest.mark.parametrize(
    ("before", "known"),
    [
        ("    gpu = False\n", True),
        ("    gpu = args.gpu\n", False),
        ("    gpu = True\n", False),
        ("", False),
    ],
)
def test_a_flag_that_is_false_before_is_true_with_any_accelerator(before: str, known: bool) -> None:
    asks = "    if torch.cuda.is_available():\n        gpu = True\n"
    text = fixed(f"{before}{asks}    if gpu:\n        x = x.cuda()\n    if gpu:\n        x = x.cuda()\n")
    assert ('    if default_device().type != "cpu":\n' in text) == known
