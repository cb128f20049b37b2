"""Code that an option of the project keeps off is reported as such; what anything may turn on is not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from small_project import write

from xlamig import engine
from xlamig.engine.switches import texts_beside

NET = """import torch
from torch.utils.checkpoint import checkpoint
class Net(torch.nn.Module):
    def __init__(self, width=3, use_ckpt=False):
        super().__init__()
        self.use_ckpt = use_ckpt
        self.block = torch.nn.Linear(width, width)
    def forward(self, x):
        if self.use_ckpt:
            return checkpoint(self.block, x)
        return self.block(x)
"""
TRAIN = "import torch, argparse, yaml\nfrom net import Net\nparser = argparse.ArgumentParser()\n"
FLAG = "parser.add_argument('--use-ckpt', action='store_true')\nargs = parser.parse_args()\n"
PARSED = TRAIN + FLAG + "net = Net(use_ckpt=args.use_ckpt)\n"
DATACLASS = """from dataclasses import dataclass
import torch
@dataclass
class Config:
    use_ckpt: bool = False
"""
CONFIGURED = TRAIN + "cfg = yaml.safe_load(open('a.yaml'))\nnet = Net(use_ckpt=cfg['use_ckpt'])\n"


def severity(folder: Path, files: dict[str, str], *paths: str) -> str:
    """Return the severity of the finding about checkpointing in net.py."""
    write({"net.py": NET, **files}, folder)
    options = engine.Options({"select": ["XLA806"]}, isolated=True, jobs=1, cache=False)
    report = engine.check([folder / path for path in paths or ("",)], options)
    return report.findings[0].severity


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": TRAIN + "net = Net(use_ckpt=True)\n"},
        {"train.py": TRAIN + "net = Net(3, True)\n"},
        {"train.py": TRAIN + "net = Net(*sizes)\n"},
        {"train.py": TRAIN + "net = Net(use_ckpt=torch.rand(()) > 0.5)\n"},
        {"train.py": TRAIN + "nets = [Net(use_ckpt=flag) for flag in (False, True)]\n"},
        {"train.py": TRAIN + "net = Net()\nnet.use_ckpt = True\n"},
        {"train.py": TRAIN + "net = Net()\nsetattr(net, 'use_ckpt', True)\n"},
        {"train.py": TRAIN + "net = Net(**{'use_ckpt': True})\n"},
        {"train.py": TRAIN + "net = Net()\ndef enable_use_ckpt(net): ...\n"},
        {"train.py": TRAIN + FLAG.replace("use", "no") + "net = Net(use_ckpt=not args.no_ckpt)\n"},
        {
            "train.py": TRAIN
            + "class Deep(Net):\n    def __init__(self):\n        super().__init__(3, True)\n"
        },
        {"train.py": TRAIN + "from functools import partial\nmake = partial(Net, 3, True)\n"},
        {"train.py": PARSED, "run.sh": "python train.py --use-ckpt\n"},
        {"train.py": PARSED, "README.md": "Run `python train.py --use-ckpt`\n"},
        {"train.py": PARSED.replace("action='store_true'", "default=None")},
        {"train.py": CONFIGURED, "a.yaml": "use_ckpt: False\n", "b.yaml": "use_ckpt: True\n"},
        {"train.py": CONFIGURED, "a.yaml": "use_ckpt: ${ckpt}\n"},
        {"train.py": CONFIGURED, "a.yaml": "use_ckpt: null\n"},  # and what is it else?
        {"train.py": CONFIGURED, "a.yaml": "use_ckpt: ~\n", "b.yaml": "use_ckpt: true\n"},
        {"train.py": CONFIGURED, "a.yaml": "use_ckpt: false\n", "configs/b.json": '{"use_ckpt": true}'},
        {"train.py": CONFIGURED, "a.yaml": "use_ckpt: false\n", "big.py": "use_ckpt = True\n"},
        {"train.py": CONFIGURED},  # its settings are nowhere
        {"train.py": TRAIN + "Net()\nnet = Net(use_ckpt=args.use_ckpt)\n"},
        {},  # a library: what calls it is not known
    ],
)
def test_lists_what_something_may_turn_on(tmp_path: Path, files: dict[str, str]) -> None:
    assert severity(tmp_path, files) == "error"


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": TRAIN + "net = Net()\n"},
        {"train.py": TRAIN + "net = Net(3, False)\n"},
        {"train.py": TRAIN + "net = Net(use_ckpt=False)\n"},
        {"train.py": TRAIN + "def make(use_ckpt=False):\n    return Net(use_ckpt=use_ckpt)\nmake()\n"},
        {"train.py": TRAIN + "def make(ckpt=True):\n    return Net(3, ckpt and x)\nmake(ckpt=False)\n"},
        {"train.py": TRAIN + "net = Net(use_ckpt=bool(cfg.get('use_ckpt', False)))\ncfg['use_ckpt'] = 0\n"},
        {"train.py": PARSED},
        {"train.py": PARSED, "run.sh": "# python train.py --use-ckpt\npython train.py\n"},
        {"train.py": PARSED, "README.md": "The option `use_ckpt` saves memory\n"},
        {"train.py": CONFIGURED, "a.yaml": "use_ckpt: False  # needs time\n"},
        {"train.py": CONFIGURED, "a.yaml": "use_ckpt: ~\n", "b.yaml": "use_ckpt: false\n"},
        {"train.py": TRAIN + "from config import Config\nnet = Net(use_ckpt=Config().use_ckpt)\n",
         "config.py": DATACLASS},
        {"train.py": TRAIN + "net = Net()\n", "tests/test_net.py": "import net\nnet.Net(use_ckpt=True)\n"},
    ],
)  # fmt: skip
def test_lowers_what_nothing_turns_on(tmp_path: Path, files: dict[str, str]) -> None:
    assert severity(tmp_path, files) == "info"


def test_tells_the_option(tmp_path: Path) -> None:
    write({"net.py": NET, "train.py": TRAIN + "net = Net()\n"}, tmp_path)
    options = engine.Options({"select": ["XLA806"]}, isolated=True, jobs=1, cache=False)
    (finding,) = engine.check([tmp_path], options).findings
    assert finding.message.endswith("(only if `self.use_ckpt`)")
    assert any("nothing in the project makes true" in reason.message for reason in finding.reasons)
    assert finding.reasons[-1].place is not None and finding.reasons[-1].place.location.row == 9


def test_reads_pages_beside_a_package(tmp_path: Path) -> None:
    files = {
        "app/__init__.py": "",
        "app/train.py": PARSED.replace("from net", "from .net"),
        "app/net.py": NET,
    }
    write({**files, "README.md": "Run `python -m app.train --use-ckpt`\n"}, tmp_path)
    options = engine.Options({"select": ["XLA806"]}, isolated=True, jobs=1, cache=False)
    assert [f.severity for f in engine.check([tmp_path], options).findings] == ["error"]


def test_says_nothing_of_options_where_a_file_is_checked_alone(tmp_path: Path) -> None:
    assert severity(tmp_path, {"train.py": TRAIN + "net = Net()\n"}, "net.py") == "error"


TESTS = """import random
import torch
class Net(torch.nn.Module):
    def __init__(self, drop=0.0, fast=True):
        super().__init__()
        self.drop, self.fast = drop, fast
        self.block = torch.nn.Linear(3, 3)
    def forward(self, x, fast=True):
        chance = random.uniform(0, 1)
        if {test}:
            return x.cuda()
        return self.block(x)
for x in data:
    loss = Net(drop=0.0, fast=True)(x.cuda()).sum()
    loss.backward()
"""


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("self.drop > 0", "info"),
        ("self.drop", "info"),
        ("self.drop != 0.0 and x.sum() > 0", "info"),
        ("self.training and chance < self.drop", "info"),
        ("not self.fast", "info"),
        ("not fast", "info"),
        ("self.fast is False", "info"),
        ("self.drop >= 0", "error"),
        ("self.drop == 0", "error"),
        ("self.fast", "error"),
        ("x.sum() < self.drop", "error"),
        ("self.drop > 0 or x.sum() > 0", "error"),
        ("self.training", "error"),
        ("getattr(self.config, 'use_it', False)", "info"),
        ("getattr(self.config, 'use_it')", "error"),
        ("getattr(self.config, 'use_it', True)", "error"),
        ("kwargs.get('use_it', 0) and x.sum() > 0", "info"),
    ],
)
def test_evaluates_tests_of_options(tmp_path: Path, test: str, expected: str) -> None:
    write({"net.py": TESTS.format(test=test)}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    found = [f.severity for f in engine.check([tmp_path], options).findings if f.place.location.row == 11]
    assert found == [expected]


@pytest.mark.parametrize("name", ["args.evaluate", "args.resume", "args.distributed", "args.use_cuda"])
def test_knows_ways_to_run_a_program(tmp_path: Path, name: str) -> None:
    option = name.partition(".")[2]
    text = f"{TRAIN}parser.add_argument('--{option}', action='store_true')\nargs = parser.parse_args()\n"
    write({"train.py": f"{text}if {name}:\n    torch.ones(2).cuda()\n"}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    assert [finding.severity for finding in engine.check([tmp_path], options).findings] == ["error"]


EVALUATED = """import torch
class Net(torch.nn.Module):
    def forward(self, x):
        if self.training:
            return x.cuda()
        return x
net = Net().eval()
"""


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("print(net(torch.ones(2)))\n", "info"),
        ("net.train()\n", "error"),
        ("net(torch.ones(2)).sum().backward()\n", "error"),
        ("trainer.fit(net)\n", "error"),
    ],
)
def test_knows_projects_that_never_train(tmp_path: Path, more: str, expected: str) -> None:
    write({"net.py": EVALUATED + more}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    assert [finding.severity for finding in engine.check([tmp_path], options).findings] == [expected]


SAVES = """import timm, torch
def forward(self, x):
    if self.grad_checkpointing:
        return x.cuda()
    return x
net = timm.create_model("a").eval()
net.forward = forward.__get__(net)
"""


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"net.py": SAVES}, "info"),
        ({"net.py": SAVES.replace("grad_check", "activation_check")}, "info"),
        ({"net.py": SAVES.replace("grad_check", "quick_check")}, "error"),
        ({"net.py": SAVES.replace("grad_checkpointing", "checkpoint")}, "error"),  # a file
        ({"net.py": SAVES + "net.grad_checkpointing = True\n"}, "error"),
        ({"net.py": SAVES + "net.set_grad_checkpointing()\n"}, "error"),
        ({"net.py": SAVES + "net.grad_checkpointing = args.save\n"}, "error"),
        ({"net.py": SAVES, "a.yaml": "grad_checkpointing: true\n"}, "error"),
        ({"net.py": SAVES, "train.py": "loss.backward()\n"}, "error"),
    ],
)
def test_a_project_that_never_trains_saves_no_memory_for_gradients(
    tmp_path: Path, files: dict[str, str], expected: str
) -> None:
    write(files, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    assert [finding.severity for finding in engine.check([tmp_path], options).findings] == [expected]


def test_a_library_without_a_program_may_train(tmp_path: Path) -> None:
    write({"net.py": EVALUATED.rpartition("net =")[0]}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    assert [finding.severity for finding in engine.check([tmp_path], options).findings] == ["error"]


BLOCK = """import torch
class Net(torch.nn.Module): ...
if __name__ == "__main__":
    x = torch.ones(2).cuda()
"""
NO_ARGUMENTS = "    parser = argparse.ArgumentParser()\n    args = parser.parse_args()\n"
IMPORTS = {"train.py": "import torch\nfrom net import Net\nNet()\n"}


@pytest.mark.parametrize(
    ("block", "files", "expected"),
    [
        ("    print(Net()(x).shape)\n", IMPORTS, "info"),
        ("    print(Net()(x).shape)\n", {}, "error"),
        ("    train(Net(), x)\n", IMPORTS, "error"),
        ("    for b in DataLoader(Data()):\n        print(b)\n", IMPORTS, "info"),
        ("    for b in DataLoader(Data()):\n        Net().eval()(b)\n", IMPORTS, "error"),
        ("    main()\n", IMPORTS, "error"),
        ("    args = parser.parse_args()\n", IMPORTS, "error"),
        (NO_ARGUMENTS + "    args.size = 3\n    print(Net()(x).shape)\n", IMPORTS, "info"),
        (NO_ARGUMENTS + "    train(args)\n", IMPORTS, "error"),
        (NO_ARGUMENTS.replace("args =", "told(parser)\n    args ="), IMPORTS, "error"),
        (NO_ARGUMENTS.replace("()", "(parents=[base])", 1), IMPORTS, "error"),
        (NO_ARGUMENTS.replace("args =", "parser.add_argument('--x')\n    args ="), IMPORTS, "error"),
    ],
)
def test_a_block_that_tries_out_a_module_is_no_program(
    tmp_path: Path, block: str, files: dict[str, str], expected: str
) -> None:
    write({"net.py": BLOCK + block, **files}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    assert [finding.severity for finding in engine.check([tmp_path], options).findings] == [expected]


DRAWS = "import torch\nx = torch.rand(2, device=device)\n"
SEEDS = "import torch\nif __name__ == '__main__':\n    torch.manual_seed(0)\n"


@pytest.mark.parametrize(("imports", "expected"), [("", "warning"), ("import net\n", "info")])
def test_a_seed_that_tries_out_a_module_is_no_seed_of_the_program(
    tmp_path: Path, imports: str, expected: str
) -> None:
    net = SEEDS + "    y = torch.rand(2, device=device)\n"
    write({"net.py": net, "train.py": imports + DRAWS}, tmp_path)
    options = engine.Options({"select": ["XLA408"]}, isolated=True, jobs=1, cache=False)
    assert [finding.severity for finding in engine.check([tmp_path], options).findings] == [expected]


CHECKS_ITSELF = """import torch
def quantize(x):
    if __name__ == "__main__":
        x = x.cuda()
    return x
"""


@pytest.mark.parametrize(
    ("files", "expected"), [({}, "error"), ({"train.py": "from net import quantize\nquantize(1)\n"}, "info")]
)
def test_the_check_of_a_function_by_its_own_script_is_no_program(
    tmp_path: Path, files: dict[str, str], expected: str
) -> None:
    write({"net.py": CHECKS_ITSELF, **files}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    assert [finding.severity for finding in engine.check([tmp_path], options).findings] == [expected]


NORM = """import torch
from torch import inf
def norm(parameters, norm_type=2.0):
    norm_type = float(norm_type)
    if norm_type == inf:
        return parameters[0].cuda()
    if norm_type:
        return parameters[1].cuda()
    return parameters[2]
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("norm(p)\n", ["info", "error"]),
        ("norm(p)\nnorm(p, norm_type=1)\n", ["info", "error"]),
        ("norm(p, inf)\n", ["error", "error"]),
        ("norm(p, float('inf'))\n", ["error", "error"]),
        ("norm(p)\nnorm(p, norm_type=args.norm_type)\n", ["error", "error"]),
        ("", ["error", "error"]),
    ],
)
def test_knows_numbers_that_are_never_infinite(tmp_path: Path, call: str, expected: list[str]) -> None:
    write({"net.py": NORM + call}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    found = sorted(engine.check([tmp_path], options).findings, key=lambda f: f.place.start)
    assert [finding.severity for finding in found] == expected


def test_a_folder_that_may_not_be_listed_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: object) -> None:
        raise PermissionError(folder)

    monkeypatch.setattr("xlamig.engine.switches.os.scandir", refuse)
    source = SimpleNamespace(file=SimpleNamespace(path=tmp_path / "a.py"))
    assert not list(texts_beside([source]))  # type: ignore[list-item]


KEPT = """import torch
class Block(torch.nn.Module):
    def __init__(self, norm="gn"):
        super().__init__()
        self.norm = norm{more}
        if self.norm == "bn":
            self.norm = torch.nn.BatchNorm1d(3)
        elif self.norm == "wn":
            self.conv = torch.nn.Conv1d(3, 3, 1).cuda()
        {last}
class Stack(torch.nn.Module):
    def __init__(self, norm="gn"):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(norm=norm) for i in range(3)])
    {method}
{call}
"""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ({}, "info"),
        ({"more": "\n        self.size = 3"}, "info"),
        ({"more": "\n        if norm:\n            self.size = 3"}, "info"),
        ({"last": "self.norm = norm = torch.nn.ReLU()"}, "error"),  # the parameter too
        ({"last": "self.norm = torch.nn.ReLU()"}, "info"),
        ({"more": "\n        if large:\n            self.norm = kind()"}, "error"),
        ({"more": "\n        self.norm = kind()"}, "error"),
        ({"more": "\n        self.norm, self.size = kind()"}, "error"),
        ({"more": "\n        for self.norm in kinds: pass"}, "error"),
        ({"call": "Stack('wn')"}, "error"),
        ({"call": "Stack(norm=args.norm)"}, "error"),
        ({"call": "Stack()\nBlock('wn')"}, "error"),
    ],
)
def test_a_constructor_asks_for_what_it_set_last(
    tmp_path: Path, lines: dict[str, str], expected: str
) -> None:
    parts = {"more": "", "last": "", "method": "", "call": "Stack()", **lines}
    write({"net.py": KEPT.format(**parts)}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    assert [finding.severity for finding in engine.check([tmp_path], options).findings] == [expected]


def test_a_method_asks_for_what_any_other_may_have_set(tmp_path: Path) -> None:
    text = KEPT.replace("{last}", "self.set()").replace(
        "        if self", "        self.set()\n        if self", 1
    )
    method = "    def set(self):\n        self.norm = kind()\nclass Stack"
    text = text.replace("class Stack", method).format(more="", method="", call="Stack()")
    write({"net.py": text}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    assert [finding.severity for finding in engine.check([tmp_path], options).findings] == ["error"]


LEFT_OUT = """import torch
class Net(torch.nn.Module):
    def __init__(self, hard=None):
        super().__init__()
        self.hard = hard
        self.fc = torch.nn.Linear(3, 3)
    def forward(self, x, top_k=None):
        if {test}:
            return x.cuda()
        return self.fc(x)
for x in data:
    loss = {call}.sum()
    loss.backward()
"""


@pytest.mark.parametrize(
    ("test", "call", "expected"),
    [
        ("top_k is None", "Net()(x)", "error"),
        ("top_k is not None", "Net()(x, 3)", "error"),
        ("top_k is not None", "Net()(x, top_k=args.top_k)", "error"),
        ("top_k is not None", "Net()(**x)", "error"),
        ("self.hard is not None", "Net(**config)(x)", "error"),
        ("self.hard is not None", "Net(hard=torch.ones(3))(x)", "error"),
        ("self.hard is not None", "made[Net](x)", "error"),
        ("top_k is not None", "Net()(x)", "info"),
        ("top_k", "Net()(x)", "info"),
        ("self.hard is not None", "Net()(x)", "info"),
        ("self.hard is not None and x.sum() > 0", "Net(hard=None)(x)", "info"),
    ],
)
def test_a_parameter_that_every_call_leaves_at_none(
    tmp_path: Path, test: str, call: str, expected: str
) -> None:
    write({"net.py": LEFT_OUT.format(test=test, call=call)}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    found = [f.severity for f in engine.check([tmp_path], options).findings if f.place.location.row == 9]
    assert found == [expected]


PAIR = """import torch
class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        {base}
class Crop(Base):
    def __init__(self, roll=False):
        super().__init__()
        {crop}
    def forward(self, x):
        return x.cuda() if self.roll else x
class Wide(Crop): {wide}
class Shift:
    def __init__(self, roll=True):
        self.roll = roll
Crop(roll=False)(Shift())
"""


@pytest.mark.parametrize(
    ("lines", "more", "expected"),
    [
        ({}, "", "info"),
        ({}, "Shift(roll=True)\nbuild(net, roll=True)\n", "error"),  # build may make a Crop
        ({}, "def build(net, roll):\n    return Shift(roll)\nbuild(net, roll=True)\n", "info"),
        ({}, "Crop(roll=True)\n", "error"),
        ({}, "Crop().roll = True\n", "error"),
        ({}, "def turn(crop):\n    crop.roll = True\n", "error"),
        ({}, "shift = Shift()\nCrop(roll=shift.roll)\n", "error"),
        ({"base": "self.roll = True"}, "", "error"),
        ({"wide": "\n    def turn(self):\n        self.roll = True"}, "", "error"),
        ({"wide": "\n    roll = True"}, "", "error"),
    ],
)
def test_classes_have_options_of_their_own(
    tmp_path: Path, lines: dict[str, str], more: str, expected: str
) -> None:
    filled = {"base": "pass", "crop": "self.roll = roll", "wide": "pass", **lines}
    write({"net.py": PAIR.format(**filled) + more}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    found = [f.severity for f in engine.check([tmp_path], options).findings if f.place.location.row == 11]
    assert found == [expected]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("show(names, use_ckpt=True)\ndef show(names, use_ckpt): ...\n", "info"),
        ("partial(Net, use_ckpt=True)\n", "error"),
    ],
)
def test_a_keyword_is_one_of_what_is_called(tmp_path: Path, more: str, expected: str) -> None:
    assert severity(tmp_path, {"train.py": f"{TRAIN}Net()\nnames = []\n{more}"}) == expected


SECTIONS = """import torch
cfg.BOX.ON, cfg.TRAIN.ON = {box}, True
def run(x):
    if cfg.BOX.ON:
        return x.cuda()
    return x if cfg.TRAIN.ON else run(x)
run(torch.ones(2))
"""
BELOW = "TRAIN:\n  ON: True\nBOX:\n  # for boxes\n  SIZE: 3\n  ON: {}\n"


@pytest.mark.parametrize(
    ("box", "files", "expected"),
    [
        ("False", {}, "info"),
        ("False", {"a.yaml": BELOW.format("False")}, "info"),
        ("False", {"a.json": '{\n "TRAIN": {\n  "ON": true\n },\n "BOX": {\n  "ON": false\n }\n}'}, "info"),
        ("False", {"run.sh": "python net.py TRAIN.ON=True\n"}, "info"),
        ("True", {}, "error"),
        ("False", {"a.yaml": BELOW.format("True")}, "error"),
        ("False", {"a.json": '{\n "BOX": {\n  "SIZE": 1,\n  "ON": true\n }\n}'}, "error"),
        ("False", {"run.sh": "python net.py BOX.ON=True\n"}, "error"),
        ("False", {"a.yaml": "ON: True\n"}, "error"),  # of any section
        ("False", {"a.yaml": "all:\n- ON: True\n"}, "error"),
        ("False", {"b.py": "def turn(part):\n    part.ON = True\n"}, "error"),
        ("False", {"b.py": "class Box:\n    ON = True\n"}, "error"),
        ("False", {"b.py": "make(ON=True)\n"}, "error"),
    ],
)
def test_sections_have_options_of_their_own(
    tmp_path: Path, box: str, files: dict[str, str], expected: str
) -> None:
    write({"net.py": SECTIONS.format(box=box), **files}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    found = [f.severity for f in engine.check([tmp_path], options).findings if f.place.location.row == 5]
    assert found == [expected]


@pytest.mark.parametrize(("part", "expected"), [("cfg.BOX", "error"), ("cfg.TEST", "error")])
def test_a_part_under_another_name_may_be_any_section(tmp_path: Path, part: str, expected: str) -> None:
    text = f"import torch\ncfg.TRAIN.ON, cfg.BOX.ON = True, False\npart = {part}\nif part.ON:\n    x.cuda()\n"
    write({"net.py": text + "if cfg.TEST.ON:\n    y.cuda()\n"}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    assert {f.severity for f in engine.check([tmp_path], options).findings} == {expected}


@pytest.mark.parametrize(
    ("train", "files", "expected"),
    [
        ("", {"a.yaml": "model:\n  _target_: net.Net\n  width: 3\n"}, "info"),
        ("", {"a.yaml": "model: {type: Net}\n"}, "info"),
        ("", {"a.json": '{"type": "Net"}'}, "info"),
        ("model = dict(type='Net', width=3)\n", {}, "info"),
        ("model = {'type': 'Net'}\n", {}, "info"),
        ("", {"a.yaml": "_target_: net.Net\nuse_ckpt: true\n"}, "error"),
        ("", {"a.yaml": "# _target_: net.Net\n"}, "error"),
        ("", {"a.yaml": "_target_: net.Wide\n"}, "error"),
        ("model = dict(type='Net', use_ckpt=True)\n", {}, "error"),
        ("model = dict(type='Net', use_ckpt=args.use_ckpt)\n", {}, "error"),
        ("model = dict(text='Net')\n", {}, "error"),
    ],
)
def test_settings_that_name_a_class_call_it(
    tmp_path: Path, train: str, files: dict[str, str], expected: str
) -> None:
    assert severity(tmp_path, {"train.py": TRAIN + train, **files}) == expected


LOOKED_AT = """import torch
class Net(torch.nn.Module):
    def start(self, is_train=False):
        import inspect
        self.folder = {looks}(self.start)
        self.is_train = is_train
        self.fc = torch.nn.Linear(3, 3)
    def forward(self, x):
        if self.is_train:
            return x.cuda()
        return self.fc(x)
net = Net()
net.start()
for x in data:
    loss = net(x).sum()
    loss.backward()
"""


@pytest.mark.parametrize(("looks", "expected"), [("inspect.getfile", "info"), ("register", "error")])
def test_what_looks_at_a_function_calls_it_no_other_way(tmp_path: Path, looks: str, expected: str) -> None:
    write({"net.py": LOOKED_AT.format(looks=looks)}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    assert [finding.severity for finding in engine.check([tmp_path], options).findings] == [expected]


COUNTED = """import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.block = Block()
    def forward(self, x):
        {counts}
        return self.block(x, {shows})
class Block(torch.nn.Module):
    def forward(self, x, shows=False):
        if shows:
            return x.cuda()
        return x
net = Net()
for x in data:
    net(x).sum().backward()
"""


@pytest.mark.parametrize(
    ("counts", "shows", "expected"),
    [
        ("pass", "shows=self.count == 327", "info"),
        ("pass", "self.count >= 1", "info"),
        ("pass", "shows=self.count == 0", "error"),
        ("pass", "shows=self.count >= 0", "error"),
        ("pass", "shows=self.count < 3", "error"),
        ("self.count += 1", "shows=self.count == 327", "error"),
    ],
)
def test_passes_tests_of_numbers_that_nothing_raises(
    tmp_path: Path, counts: str, shows: str, expected: str
) -> None:
    write({"net.py": COUNTED.format(counts=counts, shows=shows)}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    assert [f.severity for f in engine.check([tmp_path], options).findings] == [expected]


LOOPED = """import torch
step = 0
def show(x, now):
    if now:
        print(x.cuda())
for step in range(9):
    show(torch.ones(2), step == 8)
"""


def test_a_loop_raises_a_number(tmp_path: Path) -> None:
    write({"net.py": LOOPED}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    assert [f.severity for f in engine.check([tmp_path], options).findings] == ["error"]
