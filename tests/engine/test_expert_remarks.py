"""Findings of whole programs that experts insisted on in repositories that nobody here had seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

RANKS = """import argparse
import torch
import torch.distributed as dist


def main():
    parser = argparse.ArgumentParser()
    OPTION
    args = parser.parse_args()
    if args.local_rank != -1:
        dist.init_process_group("nccl")
    print(args.local_rank)


main()
"""
SEEDS = """import torch
from transformers import AutoModel, Trainer, TrainingArguments, set_seed


def main():
    args = TrainingArguments("out")
    SEED
    Trainer(model=AutoModel.from_pretrained("bert"), args=args).train()


main()
"""


def codes(folder: Path, text: str, other: str = "import torch\n") -> dict[int, set[str]]:
    """Return the codes of the errors and warnings of a program by row."""
    write({"train.py": text, "other.py": other}, folder)
    report = engine.check([folder], engine.Options({}, isolated=True, jobs=1, cache=False))
    found: dict[int, set[str]] = {}
    for one in report.findings:
        if one.severity in ("error", "warning") and one.confidence != "possible":
            found.setdefault(one.place.location.row, set()).add(one.code)
    return found


@pytest.mark.parametrize(
    "option",
    [
        'parser.add_argument("--local_rank", type=int, default=-1)',
        'parser.add_argument("--local_rank", default=0, type=int, help="set by torch.distributed.launch")',
        'parser.add_argument("-l", "--local_rank", type=int)',
    ],
)
def test_reports_a_rank_that_no_launcher_passes(tmp_path: Path, option: str) -> None:
    assert "XLA706" in codes(tmp_path, RANKS.replace("OPTION", option)).get(8, ())


@pytest.mark.parametrize(
    "option",
    [
        'parser.add_argument("--local-rank", "--local_rank", type=int, default=os.environ["LOCAL_RANK"])',
        'parser.add_argument("--local_rank", default=int(os.getenv("LOCAL_RANK", 0)))',
        'parser.add_argument("--rank", default=0)',
        'parser.add_argument("--local_rank", default=0); parser.local_rank = 1',
    ],
)
def test_leaves_ranks_alone_that_come_from_elsewhere(tmp_path: Path, option: str) -> None:
    found = codes(tmp_path, "import os\n" + RANKS.replace("OPTION", option))
    assert all("XLA706" not in row for row in found.values())


def test_leaves_a_rank_alone_that_another_file_reads_from_the_environment(tmp_path: Path) -> None:
    other = "import os\n\n\ndef init(args):\n    args.gpu = int(os.environ['LOCAL_RANK'])\n"
    text = RANKS.replace("OPTION", 'parser.add_argument("--local_rank", default=0)')
    text = text.replace("    print(", "    init(args)\n    print(").replace(
        "import torch\n", "import torch\nfrom other import init\n"
    )
    assert all("XLA706" not in row for row in codes(tmp_path, text, other).values())


def test_leaves_an_option_alone_that_nothing_reads(tmp_path: Path) -> None:
    text = RANKS.replace("OPTION", 'parser.add_argument("--local_rank", default=0)')
    text = text.replace("args.local_rank", "args.rank")
    assert all("XLA706" not in row for row in codes(tmp_path, text).values())


def test_leaves_a_rank_alone_that_deepspeed_passes(tmp_path: Path) -> None:
    text = "import deepspeed\n" + RANKS.replace("OPTION", 'parser.add_argument("--local_rank", default=-1)')
    text = text.replace("    print(", "    deepspeed.initialize(args=args)\n    print(")
    assert all("XLA706" not in row for row in codes(tmp_path, text).values())


def test_leaves_a_rank_alone_in_programs_of_one_process(tmp_path: Path) -> None:
    text = RANKS.replace("OPTION", 'parser.add_argument("--local_rank", default=-1)')
    text = text.replace('dist.init_process_group("nccl")', "print(torch.ones(1))")
    assert all("XLA706" not in row for row in codes(tmp_path, text).values())


def test_reports_a_seed_of_transformers(tmp_path: Path) -> None:
    assert "XLA408" in codes(tmp_path, SEEDS.replace("SEED", "set_seed(args.seed)")).get(7, ())


@pytest.mark.parametrize(
    "seed", ["set_seed(1); import torch_xla; torch_xla.manual_seed(1)", "print(args.seed)"]
)
def test_leaves_seeds_alone_where_xla_is_seeded_or_nothing_is(tmp_path: Path, seed: str) -> None:
    assert all("XLA408" not in row for row in codes(tmp_path, SEEDS.replace("SEED", seed)).values())
