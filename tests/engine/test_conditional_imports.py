"""The branches of an `if` may import different definitions under one name: each is one that may be called."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

NET = """import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)

class Policy:
    def __init__(self, device):
        self.actor = Net().to(device)

    def act(self, obs):
        return self.actor(torch.from_numpy(obs).to("xla"))
"""
OTHER = """class Policy:
    def __init__(self, device):
        self.device = device

    def act(self, obs):
        return plan(obs)
"""
SAMPLES = NET.replace(
    'return self.actor(torch.from_numpy(obs).to("xla"))',
    """x = self.actor(torch.from_numpy(obs).to("xla"))
        for _ in range(99):
            x = self.actor(x)
        return x""",
)
RUN = """import torch

def read(x):
    return x.detach().cpu().numpy()

class Runner:
    def __init__(self, kind, envs):
        self.envs = envs
        if kind == "planned":
            from pk.FIRST import Policy
        else:
            from pk.SECOND import Policy
        self.policy = Policy("xla")

    def run(self, obs):
        for _ in range(1000):
            action = read(self.policy.act(obs))
            obs, reward, done, _ = self.envs.step(action)

if __name__ == "__main__":
    import sys
    Runner(sys.argv[1], make_envs()).run(None)
"""
FILES = {"pk/__init__.py": "", "pk/net.py": NET, "pk/other.py": OTHER, "pk/samples.py": SAMPLES}


def reads(root: Path, first: str, second: str, run: str = RUN) -> list[str]:
    write({**FILES, "pk/run.py": run.replace("FIRST", first).replace("SECOND", second)}, root)
    options = engine.Options({"select": ["XLA102"]}, jobs=1, cache=False, isolated=True)
    return [f.severity for f in engine.check([root], options).findings if f.filename.endswith("run.py")]


@pytest.mark.parametrize(
    ("first", "second", "severities"),
    [
        ("net", "net", ["warning"]),
        ("other", "net", ["warning"]),
        ("net", "other", ["warning"]),
        ("samples", "net", ["warning"]),  # its own loop of steps makes no epoch of the loop around it
        ("other", "other", ["info"]),
    ],
)
def test_follows_the_imports_of_both_branches(
    tmp_path: Path, first: str, second: str, severities: list[str]
) -> None:
    assert reads(tmp_path, first, second) == severities


def test_a_later_import_replaces_the_one_before(tmp_path: Path) -> None:
    later = RUN.replace("        else:\n            from pk.SECOND", "        from pk.SECOND")
    assert reads(tmp_path, "net", "other", later) == ["info"]
