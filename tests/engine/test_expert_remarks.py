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
NORMS = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)

    def forward(self, x):
        return self.norm(self.conv(x))

    METHOD


FUNCTION
def main(device, loader):
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in loader:
        model.train()
        CALL
        model(x.to(device)).mean().backward()
        optimizer.step()


main(torch.device("xla"), [torch.ones(2, 3, 8, 8)])
"""
LOOP = """def freeze(self):
        for layer in self.modules():
            if isinstance(layer, nn.BatchNorm2d):
                layer.eval()
"""
APPLIED = """def freeze(m):
    if TEST:
        m.eval()


"""
CLASSES = """import torch
from torch import nn


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.head, self.words = nn.Linear(8, 8), None

    def forward(self, x):
        scores = self.head(x)
        return torch.stack([scores[:, self.words[i]] for i in range(3)])


class Other(Words):
    def forward(self, x):
        return self.head(x)[:, self.words[0]]
"""
CHOICE = """import sys
import torch
import torch_xla
from other import Other, Words


def main(kind, loader):
    make = Words if kind == "words" else Other
    model = make().to(torch_xla.device())
    model.words = torch.tensor([1, 2, 3]).to(PLACE)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in loader:
        model(x.to(torch_xla.device())).mean().backward()
        optimizer.step()
        torch_xla.sync()


main(sys.argv[1], [torch.ones(2, 8)])
"""
SEEDS = """import torch
from transformers import AutoModel, Trainer, TrainingArguments, set_seed


def main():
    args = TrainingArguments("out")
    SEED
    Trainer(model=AutoModel.from_pretrained("bert"), args=args).train()


main()
"""


POINTS = """import torch
import torch_xla
from detectron2.projects.point_rend.point_features import point_sample


def main(loader, model):
    for x, points in loader:
        model(point_sample(x.to(torch_xla.device()), points)).mean().backward()
        torch_xla.sync()


main([], torch.nn.Linear(2, 2).to(torch_xla.device()))
"""


def codes(folder: Path, text: str, other: str = "import torch\n") -> dict[int, set[str]]:
    """Return the codes of the errors and warnings of a program by row, those of its other file below 0."""
    write({"train.py": text, "other.py": other}, folder)
    report = engine.check([folder], engine.Options({}, isolated=True, jobs=1, cache=False))
    found: dict[int, set[str]] = {}
    for one in report.findings:
        if one.severity in ("error", "warning") and one.confidence != "possible":
            sign = -1 if Path(one.filename).name == "other.py" else 1
            found.setdefault(sign * one.place.location.row, set()).add(one.code)
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
        'parser.add_argument("--local_rank", default=int(os.getenv("LOCAL_RANK")))',
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


def norms(folder: Path, method: str = "", function: str = "", call: str = "model.freeze()") -> bool:
    """Return whether BatchNorm in evaluation mode is reported."""
    text = NORMS.replace("METHOD", method).replace("FUNCTION\n", function).replace("CALL", call)
    return any("XLA510" in row for row in codes(folder, text).values())


def test_reports_batch_norm_in_evaluation_mode_in_training(tmp_path: Path) -> None:
    assert norms(tmp_path, method=LOOP)
    assert norms(tmp_path, method=LOOP.replace("nn.BatchNorm2d", "(nn.BatchNorm1d, nn.BatchNorm2d)"))


@pytest.mark.parametrize(
    "test",
    [
        "isinstance(m, nn.BatchNorm2d)",
        "isinstance(m, nn.modules.batchnorm._BatchNorm)",
        "'BatchNorm' in m.__class__.__name__",
        "m.__class__.__name__.find('BatchNorm') != -1",
        "m is not None and isinstance(m, nn.BatchNorm2d)",
    ],
)
def test_reports_batch_norm_by_its_class_and_name(tmp_path: Path, test: str) -> None:
    assert norms(tmp_path, function=APPLIED.replace("TEST", test), call="model.apply(freeze)")


@pytest.mark.parametrize(
    "method",
    [
        LOOP.replace("nn.BatchNorm2d", "nn.Dropout"),
        LOOP.replace("nn.BatchNorm2d", "nn.GroupNorm"),
        LOOP.replace("self.modules()", "self.conv.modules()"),
        LOOP.replace("layer.eval()", "layer.train() if self.flag else layer.eval()"),
        LOOP.replace("layer.eval()", "layer.weight.requires_grad_(False)"),
        LOOP.replace("if isinstance", "if not isinstance"),
    ],
)
def test_leaves_other_layers_and_modes_alone(tmp_path: Path, method: str) -> None:
    assert not norms(tmp_path, method=method)


def test_leaves_a_function_alone_that_no_model_applies(tmp_path: Path) -> None:
    function = APPLIED.replace("TEST", "isinstance(m, nn.BatchNorm2d)")
    assert not norms(tmp_path, function=function, call="pass")


def test_an_object_of_either_class_gets_the_attribute(tmp_path: Path) -> None:
    found = codes(tmp_path, CHOICE.replace("PLACE", "torch_xla.device()"), CLASSES)
    assert {row for row, code in found.items() if "XLA109" in code} == {-12, -17}
    on_host = codes(tmp_path, CHOICE.replace("PLACE", '"cpu"'), CLASSES)
    assert not any("XLA109" in code for code in on_host.values())


def test_reports_samplers_of_points_that_run_on_the_host(tmp_path: Path) -> None:
    assert "XLA501" in codes(tmp_path, POINTS).get(8, ())
