"""A number of GPUs in a variable that only decides whether a model is wrapped for several of them, or that
nothing reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from reading import INTEREST, facts_in

from xlamig.facts import ApiUse

HEAD = "import torch\nfrom torch import nn\n\ndef build(model, size):\n    n = torch.cuda.device_count()\n"


def proofs(body: str) -> Mapping[str, str]:
    interest = replace(INTEREST, names=INTEREST.names | {"torch.cuda.device_count"})
    uses = facts_in(f"{HEAD}{body}\n    return model\n", ApiUse, interest=interest)
    (use,) = [use for use in uses if use.name == "torch.cuda.device_count"]
    return use.proofs


def only_wraps(body: str) -> bool:
    return proofs(body).get("only-wraps") == "1"


@pytest.mark.parametrize(
    "body",
    [
        "    if n > 1:\n        size = size * n\n        model = nn.DataParallel(model)",
        "    if n > 1:\n        model = nn.DataParallel(model)\n    size = size * n",
        "    if n > 1:\n        model = nn.DataParallel(model)\n    else:\n        size = n",
        "    if n > 0:\n        model = nn.DataParallel(model)",
        "    if n > 1:\n        model = nn.parallel.DistributedDataParallel(model)",
        "    print(n)",
        "    if n > 1:\n        size = size.mean()",  # wraps nothing
        "    if n > 1:\n        model = nn.DataParallel(model)\n    if n > 1:\n        size = model.mean()",
        "    if n > 1:\n        model = nn.DataParallel(model)\n    if n > 0:\n        size = size.mean()",
        "    size = size // n",
    ],
)
def test_sees_other_uses(body: str) -> None:
    assert not only_wraps(body)


@pytest.mark.parametrize(
    "body",
    [
        "    if n > 1:\n        model = nn.DataParallel(model)",
        "    if n >= 2:\n        print(f'using {n}')\n        model = nn.DataParallel(model, list(range(n)))",
        "    if n > 1:\n        model = nn.DataParallel(model)\n    if n > 1:\n        size = size.mean()",
        "    print('GPUs:', n)\n    if n > 1:\n        model.net = nn.DataParallel(model.net)",
    ],
)
def test_knows_that_zero_leaves_the_model_as_it_is(body: str) -> None:
    assert only_wraps(body)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    print('no number')", "n"),
        ("    print(n)", None),
        ("    global n", None),
        ("    print(eval('n * 2'))", None),
        ("    return lambda: n", None),
    ],
)
def test_knows_a_number_that_nothing_reads(body: str, expected: str | None) -> None:
    assert proofs(body).get("never-read") == expected


ARGS = """import torch
from torch import nn
def seed(args):
    if args.n > BOUND:
        ACT
def main(args, model):
    args.n = NUMBER
    print(f'{args.n} GPUs')
    WORK
"""


def of_args(
    work: str = "pass",
    number: str = "torch.cuda.device_count()",
    act: str = "torch.cuda.manual_seed_all(args.seed)",
    bound: str = "0",
) -> list[str]:
    interest = replace(INTEREST, names=INTEREST.names | {"torch.cuda.device_count"})
    text = ARGS.replace("WORK", work).replace("NUMBER", number).replace("ACT", act).replace("BOUND", bound)
    uses = facts_in(text, ApiUse, interest=interest)
    return [*next(use for use in uses if use.name == "torch.cuda.device_count").proofs]


WRAP = "if args.n > 1: model = nn.DataParallel(model)"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ["only-logged"]),
        ({"number": "0 if args.no_cuda else torch.cuda.device_count()"}, ["only-logged"]),
        ({"work": WRAP}, ["only-wraps"]),
        ({"work": "size = args.size * max(1, args.n)"}, ["zero-replaced"]),
        ({"work": f"size = args.size * max(1, args.n)\n    {WRAP}"}, ["zero-replaced"]),
        ({"work": "size = args.size // args.n"}, []),
        ({"work": "if args.n == 0: raise ValueError(1)"}, []),
        ({"act": "model = model.cuda()"}, []),
        ({"act": "torch.cuda.manual_seed(1)\n    else:\n        exit()"}, []),
        ({"bound": "3"}, []),
        ({"number": "args.gpus if args.gpus else torch.cuda.device_count()"}, []),
    ],
)
def test_follows_an_attribute_through_its_module(given: dict[str, str], expected: list[str]) -> None:
    assert of_args(**given) == expected


def test_knows_a_number_that_is_only_logged() -> None:
    assert "only-logged" in proofs("    print(f'{n} GPUs')\n    if n > 0:\n        torch.cuda.manual_seed(1)")
    assert "only-logged" not in proofs("    print(f'{n} GPUs')\n    return n")
    assert "only-logged" not in proofs("    if n > 1:\n        size = size.mean()")
