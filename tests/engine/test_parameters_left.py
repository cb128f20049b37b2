"""A parameter that all calls of a function leave has its default, whatever an option of its name is."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

SCORES = """import torch
def score(images, net, parallel=False):
    if parallel:
        images = images.cuda()
    return net(images)
"""
TRAIN = """import torch, argparse, functools
from scores import score
parser = argparse.ArgumentParser()
parser.add_argument('--parallel', action='store_true')
args = parser.parse_args()
images, net = torch.ones(2), torch.nn.Linear(2, 2)
"""


def severities(folder: Path, files: dict[str, str]) -> list[str]:
    write({"README.md": "Run `python train.py --parallel`.\n", "scores.py": SCORES, **files}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    return [f.severity for f in engine.check([folder], options).findings if f.filename.endswith("scores.py")]


@pytest.mark.parametrize(
    "call",
    [
        "score(images, net, args.parallel)",
        "score(images, net, parallel=args.parallel)",
        "score(images, net, True)",
        "score(*[images, net, True])",
        "score(images, net, **vars(args))",
        "functools.partial(score, images, net)()\nscore(images, net)",
        "score(images, net)\nways = {'score': score}",
        "score(images, net)\nfind('score')(images, net, parallel=True)",
        "score(images, net)\nfind('score')(**{'parallel': True})",
        "score(images, net)\nway = score",
        "score(images, net)\ntorch.multiprocessing.spawn(fn=score)",
        "import scores\nways = [scores.score]\nscore(images, net)",
    ],
)
def test_lists_what_a_call_may_ask_for(tmp_path: Path, call: str) -> None:
    assert severities(tmp_path, {"train.py": f"{TRAIN}{call}\n"}) == ["error"]


@pytest.mark.parametrize("decorator", ["@click.command()", "@hydra.main()", "@register"])
def test_lists_what_a_decorator_may_ask_for(tmp_path: Path, decorator: str) -> None:
    scores = SCORES.replace("def score", f"{decorator}\ndef score")
    files = {"scores.py": scores, "train.py": f"{TRAIN}score(images, net)\n"}
    assert severities(tmp_path, files) == ["error"]


def test_lists_what_a_function_passes_on(tmp_path: Path) -> None:
    scores = f"{SCORES}def both(images, net, parallel):\n    return score(images, net, parallel)\n"
    train = TRAIN.replace("import score", "import both") + "both(images, net, args.parallel)\n"
    assert severities(tmp_path, {"scores.py": scores, "train.py": train}) == ["error"]


def test_lists_what_the_users_of_a_package_may_ask_for(tmp_path: Path) -> None:
    files = {"setup.py": "setup(url='https://scores')\n", "train.py": f"{TRAIN}score(images, net)\n"}
    assert severities(tmp_path, files) == ["error"]


@pytest.mark.parametrize(
    "call",
    [
        "score(images, net)",
        "score(load(3)[0], net)",
        "score(images, net, False)",
        "score(images, net, parallel=False)",
    ],
)
def test_lowers_what_no_call_asks_for(tmp_path: Path, call: str) -> None:
    assert severities(tmp_path, {"train.py": f"{TRAIN}if args.parallel:\n    ...\n{call}\n"}) == ["info"]


def test_lowers_what_no_call_asks_for_through_a_function(tmp_path: Path) -> None:
    scores = f"{SCORES}def both(images, net, parallel=False):\n    return score(images, net, parallel)\n"
    train = TRAIN.replace("import score", "import both") + "both(images, net)\n"
    assert severities(tmp_path, {"scores.py": scores, "train.py": train}) == ["info"]


NET = """import torch
class Net(torch.nn.Module):
    def __init__(self, width=3, moves=False):
        super().__init__()
        self.moves = moves
        self.fc = torch.nn.Linear(width, width)
    def forward(self, x):
        if self.moves:
            x = x.cuda()
        return self.fc(x)
class Deep(Net):
    def __init__(self, depth, *args, **kwargs):
        super().__init__(*args, **kwargs)
"""
RUN = "import torch, net\nfor x in torch.ones(2, 3):\n    made(x).sum().backward()\n"


def severity_in_net(folder: Path, made: str, files: dict[str, str]) -> str:
    run = RUN.replace("for", f"{made}\nfor", 1)
    write({"net.py": NET, "run.py": run, **files}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    [found] = [f for f in engine.check([folder], options).findings if f.filename.endswith("net.py")]
    return found.severity


DEEPER = """class Deeper(Deep):
    def __init__(self, depth, *args):
        super().__init__(depth, *args)
"""
KEYWORDS = NET.replace("*args, ", "")


@pytest.mark.parametrize(
    ("made", "files"),
    [
        ("made = net.Deep(2, 3, True)", {}),
        ("made = net.Deep(2, *sizes)", {}),
        ("made = net.Deep(2, moves=True)", {}),
        ("made = net.Deep(2, moves=True)", {"net.py": KEYWORDS}),
        ("made = net.Deeper(2)", {"net.py": KEYWORDS + DEEPER.replace("*args", "moves=True", 2)}),
        ("made = net.Deep(2, **options)", {"net.py": KEYWORDS, "a.yaml": "moves: true\n"}),
        ("made = net.Deep(2)\nmore = net.Deep(2, 3, True)", {}),
        ("nets = {'deep': net.Deep}\nmade = nets[name](2, 3, True)\nother = net.Deep(2)", {}),
        ("made = make(net.Deep)\nother = net.Deep(2)", {}),
        ("made = net.Deeper(2, 3, True)", {"net.py": NET + DEEPER}),
        ("made = load()", {"a.yaml": "target: net.Deep\nparams:\n  moves: true\n"}),
    ],
)
def test_lists_what_is_passed_on(tmp_path: Path, made: str, files: dict[str, str]) -> None:
    assert severity_in_net(tmp_path, made, files) == "error"


@pytest.mark.parametrize(
    ("made", "files"),
    [
        ("made = net.Deep(2)", {}),
        ("made = net.Deep(depth=2)", {}),
        (
            "made = net.Deep(2, 5)",
            {"net.py": NET.replace("*args", "width, *args", 1).replace("(*", "(width, *")},
        ),
        ("made = net.Deeper(2)", {"net.py": NET + DEEPER}),
        ("made = load()", {"a.yaml": "target: net.Deep\nparams:\n  depth: 3\n"}),
    ],
)
def test_lowers_what_nothing_passes_on(tmp_path: Path, made: str, files: dict[str, str]) -> None:
    assert severity_in_net(tmp_path, made, files) == "info"
