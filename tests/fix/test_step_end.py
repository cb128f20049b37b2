"""One boundary per iteration, below everything that belongs to the step."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

HEAD = "import torch\nfrom torch import nn\n\n\ndef train(model, teacher, ema, loader, sched):\n"
LOOP = """    device = torch.device("xla")
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = torch.zeros((), device=device)
    for x in loader:
        loss = model(x.to(device)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
EMA = """        with torch.no_grad():
            for a, b in zip(model.parameters(), teacher.parameters()):
                b.data.mul_(0.9).add_(0.1 * a.detach().data)
"""


def fixed(tail: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *select: str) -> list[str]:
    """The statements after the update, with the loop's indentation taken away."""
    (folder / "train.py").write_text(HEAD + LOOP + tail)
    monkeypatch.chdir(folder)
    options = engine.Options({"select": list(select)}, isolated=True, jobs=1, cache=False)
    outcome = engine.fix([Path()], options, frozenset({"safe"}), write=True)
    assert not outcome.problems
    text = (folder / "train.py").read_text()
    rest = text[text.index("optimizer.step()\n") + len("optimizer.step()\n") :]
    return [line.removeprefix("        ") for line in rest.splitlines()]


@pytest.mark.parametrize(
    "tail",
    [
        EMA,
        "        sched.step()\n",
        "        ema.update(model)\n",
        "        total += loss.detach()\n",
        "        count = 1\n        optimizer.zero_grad(set_to_none=True)\n",
        f"{EMA}        sched.step()\n        total += loss.detach()\n",
        "        if ema is not None:\n            ema.update(model)\n",
        "        model.soft_update()\n",
        "        teacher.ema.update(model)\n",
        "        if sched.warm:\n            ema.update(model)\n",
        "        if count % 10 == 0 and loader:\n            teacher.load_state_dict(model.state_dict())\n",
        "        if sched is not None:\n            n = 1\n        else:\n            ema.update(model)\n",
    ],
)
def test_the_boundary_stands_below_what_belongs_to_the_step(
    tail: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = fixed(tail, tmp_path, monkeypatch, "XLA401")
    assert lines[-1] == "step_boundary()" and lines.count("step_boundary()") == 1


@pytest.mark.parametrize(
    "tail",
    [
        "        print(loss.item())\n        sched.step()\n",
        "        if loss > 1:\n            ema.update(model)\n",
        "        if sched is not None:\n            ema.update(model)\n            print(loss.item())\n",
        "        if sched is not None:\n            ema.update(model)\n            continue\n",
        "        if sched is not None:\n            count = 1\n",
        "        bad = loss > 1\n        if bad:\n            ema.update(model)\n",
        "        history.append(float(loss))\n",
        "        name = 'x'\n",
    ],
)
def test_the_boundary_stands_above_what_reads_or_branches(
    tail: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fixed(tail, tmp_path, monkeypatch, "XLA401")[0] == "step_boundary()"


AGAIN = "        {}\n        again.backward()\n        optimizer.step()\n"


@pytest.mark.parametrize(
    ("between", "boundaries"),
    [
        ("again = model(x).log_softmax(1).mean()", 1),
        ("again = -torch.log(model(x)).mean()", 1),
        ("again = catalog(fingerprint(x)).mean()", 1),
        ("log(loss); again = model(x).mean()", 2),
        ("self.log_metrics(loss); again = model(x).mean()", 2),
        ("logger.info(loss); again = model(x).mean()", 2),
    ],
)
def test_two_updates_share_a_boundary_unless_a_value_is_read(
    between: str, boundaries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = fixed(AGAIN.format(between), tmp_path, monkeypatch, "XLA401")
    assert lines.count("step_boundary()") == boundaries


def test_a_wait_in_each_iteration_is_the_only_boundary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tail = f"{EMA}        torch.cuda.synchronize()\n        print(loss.item())\n"
    lines = fixed(tail, tmp_path, monkeypatch, "XLA401", "XLA005")
    assert lines.count("wait_for_device()") == 1 and "step_boundary()" not in lines


def test_a_boundary_that_the_file_defines_itself_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = "\n\nif __name__ == '__main__':\n    train()\n"
    for name in ("one", "two", "three"):  # no helper serves these
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.py").write_text(f"{HEAD}{LOOP}{runs}")
    lines = fixed(runs, tmp_path, monkeypatch, "XLA401")
    assert lines.count("step_boundary()") == 1
    text = (tmp_path / "two" / "main.py").read_text()
    assert text.count("def step_boundary(") == 1 and text.count("        step_boundary()\n") == 1
