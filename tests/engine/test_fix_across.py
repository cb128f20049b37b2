"""Fixes run on until no file changes: one may add to what is found in another."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine
from xlamig.engine import Options
from xlamig.engine.fixing import FixOutcome
from xlamig.findings import FileReport
from xlamig.fix.write import WriteError, write_files

AGENT = """import torch
from torch import nn
from torch.optim import Adam


class Agent:
    def __init__(self):
        self.model = nn.Linear(4, 2)
        self.optimizer = Adam(self.model.parameters(), lr=1e-3)

    def act(self, state):
        return self.model(torch.Tensor(state)).clamp(-1, 1).cpu()

    def update(self, states, targets):
        loss = nn.functional.mse_loss(self.model(torch.Tensor(states)), torch.Tensor(targets))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
"""
MAIN = """import torch
from agent import Agent
from env import make

env = make()
agent = Agent()
for step in range(1000):
    agent.update(env.states(), env.targets())

state = [env.reset()]
while True:
    action = agent.act(state)
    state, done = env.step(action.numpy()[0])
    state = [state]
    if done:
        break
"""
SEEDED = MAIN.replace("env = make()\n", "env = make()\ntorch.manual_seed(0)\nnoise = torch.rand_like\n")
FILES = {"agent.py": AGENT, "main.py": MAIN}


OPTIONS = Options(isolated=True, jobs=1, cache=False)


def fix(write: bool = True) -> FixOutcome:
    return engine.fix([Path()], OPTIONS, frozenset({"safe", "unsafe"}), write)


def check() -> tuple[FileReport, ...]:
    return engine.check([Path()], OPTIONS).files


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(FILES, tmp_path)
    return tmp_path


def test_a_file_fixed_before_another_gets_what_that_one_adds(project: Path) -> None:
    (project / "main.py").write_text(SEEDED)
    first = fix()
    assert not first.problems and {file.filename for file in first.files} == {"agent.py", "main.py"}
    assert not fix().files


@pytest.mark.parametrize(
    ("made", "given"),
    [
        ("torch.Tensor(states)", "states"),
        ("torch.Tensor(states)", "torch.autograd.Variable(torch.cat(states.rows))"),
        ("torch.Tensor(state)", "(state, None)"),
    ],
)
def test_a_module_is_not_moved_without_what_other_files_give_it(made: str, given: str, project: Path) -> None:
    (project / "agent.py").write_text(AGENT.replace(made, given))
    outcome = fix()
    assert "agent.py" not in {file.filename for file in outcome.files}
    (held,) = [f.fix.held for f in outcome.after.findings if f.code == "XLA017" and f.fix]
    assert held.startswith("other files pass `state")


def test_a_helper_that_only_seeds_chooses_no_device(project: Path) -> None:
    (project / "main.py").write_text(SEEDED)
    engine.fix([Path()], OPTIONS, frozenset({"safe"}), write=True)
    assert "seed_xla(0)" in Path("main.py").read_text() and Path("xla_compat.py").exists()
    found = {file.filename: [f.code for f in file.findings] for file in check()}
    assert "XLA017" in found["agent.py"]
    fix()
    assert "Linear(4, 2).to(device)" in Path("agent.py").read_text()


def test_the_report_after_fixing_is_that_of_the_files_on_disk() -> None:
    after = fix().after
    there = [f for f in check() if f.filename in FILES]
    assert [(f.filename, f.findings) for f in after.files] == [(f.filename, f.findings) for f in there]


def test_a_diff_shows_what_fixing_writes(project: Path) -> None:
    shown = {file.filename: file.new for file in fix(write=False).files}
    assert (project / "agent.py").read_text() == AGENT
    assert shown == {file.filename: file.new for file in fix().files}


def test_a_file_that_cannot_be_written_is_reported_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(changes: dict[Path, bytes], creates: dict[Path, bytes]) -> None:
        if any(path.name == "agent.py" for path in changes):
            raise WriteError("agent.py: no space")
        write_files(changes, creates)

    Path("main.py").write_text(SEEDED)
    monkeypatch.setattr("xlamig.engine.fixing.write_files", refuse)
    outcome = fix()
    assert outcome.problems == ("agent.py: no space",) and Path("agent.py").read_text() == AGENT
    assert [file.filename for file in outcome.files] == ["main.py"]
    there = [f for f in check() if f.filename in FILES]
    assert [(f.filename, f.findings) for f in outcome.after.files] == [
        (f.filename, f.findings) for f in there
    ]


def test_fixes_nothing_where_there_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("torch.cuda.synchronize()\n")
    outcome = engine.fix([tmp_path / "notes.md"], Options(), {"safe"}, write=True)
    assert (outcome.after.files, outcome.files, outcome.problems) == ((), (), ())


CONFIG = """import os

import torch

ROOT = os.path.expanduser("~")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
"""


def test_an_import_that_another_file_takes_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ways = {
        "by_star.py": "from config import *\nprint(torch.ones(2).to(DEVICE))\n",
        "by_name.py": "from config import DEVICE, torch\nprint(torch.ones(2).to(DEVICE))\n",
        "as_attribute.py": "import config\nprint(config.torch.ones(2).to(config.DEVICE))\n",
    }
    for name, text in ways.items():
        write({"config.py": CONFIG, name: text}, tmp_path)
        fix()
        fixed = (tmp_path / "config.py").read_text()
        (tmp_path / name).unlink()
        assert "is_available" not in fixed, name
        assert "import torch\n" in fixed, name


def test_an_import_that_no_other_file_takes_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    main = "import torch\nfrom config import DEVICE\nprint(torch.ones(2).to(DEVICE))\n"
    write({"config.py": CONFIG, "main.py": main}, tmp_path)
    fix()
    assert "import torch\n" not in (tmp_path / "config.py").read_text()


@pytest.mark.parametrize(("optimizer", "sparse"), [("SparseAdam", "True"), ("Adagrad", "False")])
def test_gradients_stay_sparse_for_an_optimizer_that_needs_them(
    optimizer: str, sparse: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    net = "import torch\n\nnet = torch.nn.Embedding(8, 4, sparse=True)\n"
    main = f"import torch\nfrom net import net\n\noptimizer = torch.optim.{optimizer}(net.parameters())\n"
    write({"net.py": net, "main.py": main}, tmp_path)
    fix()
    assert f"sparse={sparse}" in (tmp_path / "net.py").read_text()


@pytest.mark.parametrize("default", ["", ', default="cuda:0"'])
@pytest.mark.parametrize(
    "choice",
    [
        'device = torch.device(args.device if torch.cuda.is_available() else "cpu")',
        'device = args.device if torch.cuda.is_available() else "cpu"',
        'device = torch.device(args.device) if torch.cuda.is_available() else torch.device("cpu")',
        'if torch.cuda.is_available():\n    device = args.device\nelse:\n    device = "cpu"',
    ],
)
def test_the_device_that_the_user_names_stays(
    choice: str, default: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    main = f"""import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--device"{default})
args = parser.parse_args()
{choice}
model = torch.nn.Linear(2, 2).to(device)
"""
    write({"main.py": main}, tmp_path)
    fix()
    fixed = (tmp_path / "main.py").read_text()
    assert "is_available()" in fixed
    assert fixed.count("args.device") >= choice.count("args.device")
