"""Numbers of GPUs that are factors, with 1 in the place of 0."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reading import INTEREST, facts_in

from xlamig.facts import ApiUse

COUNT = "torch.cuda.device_count()"


def is_replaced(source: str) -> bool:
    interest = replace(INTEREST, names=INTEREST.names | {"torch.cuda.device_count"})
    uses = facts_in(f"import torch\n{source.replace('COUNT', COUNT)}", ApiUse, interest=interest)
    (use,) = [use for use in uses if use.name == "torch.cuda.device_count"]
    return use.proofs.get("zero-replaced") == "1"


@pytest.mark.parametrize(
    "source",
    [
        "size = args.size * COUNT",
        "size = args.size // max(COUNT, 1)",
        "size = args.size * max(COUNT, 0)",
        "n = max(COUNT, 1)",
        "spawn(f, nprocs=max(1, COUNT))",
        "n = COUNT\nsize = 8 * max(n, 1)\nfor i in range(n): f(i)",
        "gpus = range(COUNT)\nmodel = DataParallel(model, gpus)\nsize *= max(len(gpus), 1)",
        "gpus = ','.join(str(i) for i in range(COUNT))",
        "size = 8 * max(f(COUNT), 1)",
        "args.n = COUNT\nsize = 8 * args.n",
        "args.n = COUNT\nsize = 8 * max(1, args.n)\nfor i in range(args.n): f(i)",
        "args.n = COUNT\nsize = 8 * max(1, args.n)\nif args.n > 0: model = DataParallel(model)",
        "args.n = COUNT\nsize = 8 * max(1, args.n)\nif args.n: model.cuda()",
        "args.n = COUNT\nif args.n > 1: model = DataParallel(model)",
        "args.n, args.m = COUNT, 2\nsize = 8 * max(1, args.n)",
    ],
)
def test_the_number_matters(source: str) -> None:
    assert not is_replaced(source)


@pytest.mark.parametrize(
    "source",
    [
        "size = args.size * max(COUNT, 1)",
        "size = (COUNT or 1) * 8",
        "def f(size):\n n = COUNT\n return size * max(1, n)",
        "gpus = list(range(COUNT))\nsize *= max(len(gpus), 1)",
        "gpus = range(COUNT)\nargs.gpu = ','.join(str(i) for i in gpus)\nsize = 8 * max(len(gpus), 1)",
        "n = COUNT\nif n > 1: model = DataParallel(model)\nlogger.info('%s', n)\nsize = 8 * max(n, 1)",
        "def f(args):\n size = 8 * max(1, args.n)\n if args.n > 1: pass\n"
        "def main(args):\n if args.cpu:\n  args.n = COUNT\n else:\n  args.n = 1\n log.warning('%s', args.n)",
        "if a: gpus = range(COUNT)\nelse: gpus = [int(i) for i in args.gpu]\nsize = 8 * max(len(gpus), 1)",
    ],
)
def test_one_takes_the_place_of_zero(source: str) -> None:
    assert is_replaced(source)
