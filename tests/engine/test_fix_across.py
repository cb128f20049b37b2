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
        return self.model(state).clamp(-1, 1)

    def update(self, states, targets):
        loss = nn.functional.mse_loss(self.model(states), targets)
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
    agent.update(torch.Tensor(env.states()), torch.Tensor(env.targets()))

state = torch.Tensor([env.reset()])
while True:
    action = agent.act(state)
    state, done = env.step(action.numpy()[0])
    state = torch.Tensor([state])
    if done:
        break
"""
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
    first = fix()
    assert not first.problems and {file.filename for file in first.files} == {"agent.py", "main.py"}
    assert not fix().files


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

    monkeypatch.setattr("xlamig.engine.fixing.write_files", refuse)
    outcome = fix()
    assert outcome.problems == ("agent.py: no space",) and Path("agent.py").read_text() == AGENT
    assert [file.filename for file in outcome.files] == ["main.py"]
    there = [f for f in check() if f.filename in FILES]
    assert [(f.filename, f.findings) for f in outcome.after.files] == [
        (f.filename, f.findings) for f in there
    ]
