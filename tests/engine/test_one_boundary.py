"""A step that a loop of one file and a function of another could end gets one boundary."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine
from xlamig.engine import Options

SOLVER = """import torch


class Solver:
    def __init__(self, device):
        self.device = device
        self.model = torch.nn.Linear(4, 2).to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def update(self, x, y):
        loss = torch.nn.functional.mse_loss(self.model(x.to(self.device)), y.to(self.device))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {returned}
"""
LOOP = """def fit(solver, data):
    for epoch in range(3):
        total = 0
        for x, y in data:
            total += {step}
        print(epoch, total)
"""
MAIN = """import torch
from {loop} import fit
from {solver} import Solver

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = [(torch.randn(8, 4), torch.randn(8, 2)) for _ in range(100)]
fit(Solver(device), data)
"""


def boundaries(files: dict[str, str]) -> dict[str, int]:
    """Return how many boundaries each file has when it is fixed, of those that get one."""
    write(files, Path())
    options = Options(isolated=True, jobs=1, cache=False)
    fixed = engine.fix([Path()], options, frozenset({"safe", "unsafe"}), write=False)
    assert not fixed.problems and "XLA403" not in {f.code for f in fixed.after.findings}
    counted = {file.filename: file.new.count("step_boundary()") for file in fixed.files}
    return {name: count for name, count in counted.items() if count}


def program(returned: str, step: str, solver: str = "solver", loop: str = "engine") -> dict[str, str]:
    files = {f"{solver}.py": SOLVER.format(returned=returned), f"{loop}.py": LOOP.format(step=step)}
    return files | {"main.py": MAIN.format(loop=loop, solver=solver)}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("solver", "loop"), [("solver", "engine"), ("algorithm", "engine")])
def test_the_function_that_reads_below_its_update_ends_the_step(solver: str, loop: str) -> None:
    found = boundaries(program("loss.item()", "solver.update(x, y)", solver, loop))
    assert found == {f"{solver}.py": 1}


def test_the_loop_ends_the_step_where_it_reads_itself() -> None:
    assert boundaries(program("loss", "solver.update(x, y).item()")) == {"engine.py": 1}


def test_a_loop_that_calls_no_such_function_ends_its_own_steps() -> None:
    alone = LOOP.format(step="update(model, optimizer, x, y)").replace("fit(solver, data)", "fit(data)")
    head = """import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def update(model, optimizer, x, y):
    loss = model(x.to(device)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return 1


"""
    tail = "\n\nfit([(torch.randn(8, 4), torch.randn(8, 2))] * 100)\n"
    files = program("loss.item()", "solver.update(x, y)") | {"alone.py": head + alone + tail}
    assert boundaries(files) == {"alone.py": 1, "solver.py": 1}


def test_a_loop_keeps_its_sum_on_the_device_without_a_second_boundary() -> None:
    steps = SOLVER.format(returned="loss")
    main = f"""{steps}

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
solver = Solver(device)
for epoch in range(3):
    total = 0
    for x, y in [(torch.randn(8, 4), torch.randn(8, 2))] * 100:
        loss = solver.update(x, y)
        total += loss.item()
    print(total)
"""
    assert boundaries({"main.py": main}) == {"main.py": 1}
