"""Classes that configurations name run like those that the program names."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

TRAIN = """import hydra
from data import loader

@hydra.main(config_path="conf", config_name="config")
def main(cfg):
    agent = {made}
    for batch in loader:
        agent.learn(batch)

if __name__ == "__main__":
    main()
"""
AGENT = """import torch
from torch import nn
from torch.nn import functional as F

class Agent:
    def __init__(self, device):
        self.net = nn.Linear(3, 3).to(device)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def learn(self, batch):
        loss = F.mse_loss(self.net(batch.to("xla")), batch.to("xla"))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
"""
OF_HYDRA = "hydra.utils.instantiate(cfg.agent)"


def told(folder: Path, made: str, settings: dict[str, str]) -> list[str]:
    """Return where the training loop has no step boundary, given the call that makes the agent."""
    files = {
        "train.py": TRAIN.format(made=made),
        "agents/sac.py": AGENT,
        "data.py": "loader = []\n",
        **settings,
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    report = engine.check([folder], Options({}, isolated=True, jobs=1, cache=False))
    return [Path(f.filename).name for f in report.findings if f.code == "XLA401"]


@pytest.mark.parametrize(
    ("made", "settings"),
    [
        ("hydra.utils.instantiate(cfg.model)", {"conf/agent/sac.yaml": "_target_: agents.sac.Agent\n"}),
        (OF_HYDRA, {"conf/agent/sac.yaml": "_target_: torchrl.Agent\n"}),
        (OF_HYDRA, {"conf/agent/sac.yaml": "# _target_: agents.sac.Agent\n"}),
        (OF_HYDRA, {"conf/config.yaml": "agent:\n  lr: 0.1\nold:\n  _target_: agents.sac.Agent\n"}),
        (
            OF_HYDRA,
            {f"conf/agent/{i}.yaml": f"_target_: agents.net{i}.Agent\n" for i in range(4)}
            | {"conf/agent/sac.yaml": "_target_: agents.sac.Agent\n"},
        ),
    ],
    ids=["other-part", "other-package", "comment", "other-section", "many"],
)
def test_other_classes_are_not_made(tmp_path: Path, made: str, settings: dict[str, str]) -> None:
    assert told(tmp_path, made, settings) == []


@pytest.mark.parametrize(
    ("made", "settings"),
    [
        (OF_HYDRA, {"conf/agent/sac.yaml": "_target_: agents.sac.Agent\ndevice: cpu\n"}),
        (OF_HYDRA, {"conf/agent.yaml": "class: 'agents.sac.Agent'  # the only one\n"}),
        (OF_HYDRA, {"conf/config.yaml": "lr: 0.1\nagent:\n  device: cpu\n  _target_: agents.sac.Agent\n"}),
        (
            "hydra.utils.instantiate(cfg['agent'], 'xla')",
            {"conf/agent/a.yaml": "_target_: agents.sac.Agent\n"},
        ),
        (
            "instantiate_from_config(cfg.model.agent)",
            {"conf/a.yaml": "model:\n  agent:\n    target: agents.sac.Agent\n    params: {lr: 1}\n"},
        ),
    ],
    ids=["group", "file", "section", "subscript", "nested"],
)
def test_what_a_configuration_makes_runs_in_the_loop(
    tmp_path: Path, made: str, settings: dict[str, str]
) -> None:
    assert told(tmp_path, made, settings) == ["train.py"]


SCAN = """import importlib
import sys
from data import loader

modules = [importlib.import_module(f"agents.{name}") for name in ("sac", "other")]


def create(cfg):
    kind = cfg["agent_type"]
    for module in modules:
        found = getattr(module, NAME, None)
        if found is not None:
            break
    if found is None:
        raise ValueError(kind)
    return found("xla")


def main(cfg):
    agent = create(cfg)
    for batch in loader:
        agent.learn(batch)

if __name__ == "__main__":
    main(sys.argv)
"""


def scanned(folder: Path, name: str, setting: str, other: str = "") -> list[str]:
    settings = {"train.py": SCAN.replace("NAME", name), "conf/a.yaml": setting, "agents/other.py": other}
    return told(folder, "", settings)


@pytest.mark.parametrize("name", ["cfg['agent_type']", "cfg.agent_type", "agent_type"])
def test_a_class_is_taken_by_the_name_in_a_configuration(tmp_path: Path, name: str) -> None:
    assert scanned(tmp_path, name, "net:\n  agent_type: Agent  # the best\n") == ["train.py"]


@pytest.mark.parametrize(
    ("name", "setting", "other"),
    [
        ("kind", "agent_type: Agent\n", ""),
        ("cfg.agent_type", "agent_type: sac\n", ""),
        ("cfg.agent_type", "# agent_type: Agent\n", ""),
        ("cfg.agent_type", "agent_type: Agent\n", "class Agent:\n    pass\n"),
    ],
)
def test_another_class_is_not_taken(tmp_path: Path, name: str, setting: str, other: str) -> None:
    assert scanned(tmp_path, name, setting, other) == []


OPTIONS = """import argparse
import importlib
import sys
from agents import sac
from agents.sac import Agent
from data import loader

parser = argparse.ArgumentParser()
parser.add_argument("--agent-type", {})
args = parser.parse_args()
agent = {}("xla")
for batch in loader:
    agent.learn(batch)
"""
TAKEN = (
    "getattr(sac, args.agent_type)",
    'getattr(importlib.import_module("agents.sac"), args.agent_type)',
    "getattr(sys.modules[__name__], args.agent_type)",
    "eval(args.agent_type)",
    "globals()[args.agent_type]",
    "vars(sac)[args.agent_type]",
    "sac.__dict__[args.agent_type]",
)


def by_option(folder: Path, defined: str, taken: str, more: dict[str, str]) -> list[str]:
    return told(folder, "", {"train.py": OPTIONS.format(defined, taken), "agents/__init__.py": "", **more})


@pytest.mark.parametrize("taken", TAKEN)
def test_a_class_is_taken_by_the_name_in_an_option(tmp_path: Path, taken: str) -> None:
    assert by_option(tmp_path, 'type=str, default="Agent"', taken, {}) == ["train.py"]


@pytest.mark.parametrize(
    ("defined", "more"),
    [
        ('choices=("Agent", "Other"), help="(a kind)"', {}),
        ('default="Agent")\nparser.add_argument("data", nargs="*"', {}),
        ("required=True", {"run.sh": "python train.py --agent-type Agent --lr 3\n"}),
        ("required=True", {"run.sh": "python train.py \\\n  --agent-type='Agent'\n"}),
    ],
)
def test_choices_and_commands_name_classes(tmp_path: Path, defined: str, more: dict[str, str]) -> None:
    assert by_option(tmp_path, defined, TAKEN[0], more) == ["train.py"]


@pytest.mark.parametrize(
    ("defined", "taken", "more"),
    [
        ('default="sac"', TAKEN[0], {}),
        ('default="Agent"', "getattr(sac, args.other)", {}),
        ('help="Agent"', "getattr(sac, args.agent)", {}),
        ("required=True", TAKEN[0], {"run.sh": "python train.py --agent Agent\n"}),
        ('default="Agent"', TAKEN[0], {"agents/other.py": "class Agent:\n    pass\n"}),
    ],
)
def test_an_option_names_no_other_class(
    tmp_path: Path, defined: str, taken: str, more: dict[str, str]
) -> None:
    others = "".join(f"\nclass Other{i}:\n    pass\n" for i in range(4))  # of few, each may be meant
    assert by_option(tmp_path, defined, taken, {"agents/sac.py": AGENT + others, **more}) == []


LEARNER = """from dataclasses import dataclass
import torch

@dataclass
class Learner:
    net: torch.nn.Module
    device: str = "cuda"

    def fit(self, batches):
        net = self.net.to(self.device)
        return [net(batch) for batch in batches]

class _Hidden:
    def fit(self, batches):
        return [batch.cuda() for batch in batches]

def helper(batch):
    return batch.cuda()
"""
START = """import torch
import hydra
from data import loader

@hydra.main(config_path="conf", config_name="config")
def main(cfg):
    {made}.fit(loader)

if __name__ == "__main__":
    main()
"""
MADE_BY_HYDRA = "hydra.utils.instantiate(cfg.learner, net=torch.nn.Linear(3, 3))"


@pytest.mark.parametrize(
    ("made", "settings", "rows"),
    [
        (MADE_BY_HYDRA, {}, [7]),  # the configurations are somewhere else
        (MADE_BY_HYDRA, {"conf/config.yaml": "learner:\n  net: 1\n"}, [7]),
        (MADE_BY_HYDRA, {"conf/a.yaml": "_target_: torch.optim.Adam\n"}, []),
        (MADE_BY_HYDRA, {"settings.py": 'net = {"_target_": "torch.optim.Adam"}\n'}, []),
        (MADE_BY_HYDRA, {"settings.py": 'class Net:\n    _target_: str = "torch.nn.Linear"\n'}, []),
        ("make(cfg.learner)", {}, []),
    ],
)
@pytest.mark.parametrize("folder", ["", "parts/"])
def test_configurations_elsewhere_may_name_any_public_class(
    tmp_path: Path, made: str, settings: dict[str, str], rows: list[int], folder: str
) -> None:
    files = {"train.py": START.format(made=made), f"{folder}learner.py": LEARNER, "data.py": "loader = []\n"}
    for name, text in (files | settings | ({"parts/__init__.py": ""} if folder else {})).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    report = engine.check([tmp_path], Options({}, isolated=True, jobs=1, cache=False))
    found = [f.place.location.row for f in report.findings if f.filename.endswith("learner.py")]
    assert found == rows
