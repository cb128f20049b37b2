"""Where a boundary goes, and where none is written because the place is a choice."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from xlamig import engine

HEAD = """import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
"""


def written(body: str, **settings: str) -> str:
    """Return the loop `body` after `--fix`."""
    source = (HEAD + textwrap.dedent(body)).encode()
    overrides = {"select": ["XLA401", "XLA402"], **settings}
    options = engine.Options(overrides, isolated=True, jobs=1, cache=False, stdin=("a.py", source))
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe"}), write=False)
    assert outcome.stdin is not None and not outcome.problems
    lines = outcome.stdin.text.splitlines()
    calls = ("step_boundary()", "torch_xla.sync()")
    found = [n for n, line in enumerate(lines) if line.endswith(calls) and line not in source.decode()]
    return "\n".join(f"{lines[n - 1].strip()} | {lines[n].strip()}" for n in found)


LOSS = "loss = model(x.to(device)).sum()"


@pytest.mark.parametrize(
    "body",
    [
        # gradients are summed over several rounds
        f"""
        for i, x in enumerate(loader):
            {LOSS}
            loss.backward()
            if (i + 1) % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
        """,
        # several optimizers
        f"""
        other = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in loader:
            {LOSS}
            loss.backward()
            optimizer.step()
            other.step()
        """,
        # a test that the loop changes
        f"""
        for x in loader:
            {LOSS}
            loss.backward()
            ready = len(x) > 3
            if ready:
                optimizer.step()
        """,
        # an evaluation that ends early
        """
        results = []
        for x in loader:
            y = model(x.to(device))
            if len(x) < 3:
                continue
            results.append(y)
        """,
        # there is one
        f"""
        import torch_xla
        for x in loader:
            {LOSS}
            loss.backward()
            optimizer.step()
            torch_xla.sync()
        """,
    ],
)
def test_none_is_written(body: str) -> None:
    assert written(body) == ""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            f"""
            for x in loader:
                {LOSS}
                loss.backward()
                optimizer.step()  # new parameters
                scheduler.step()
            """,
            "scheduler.step() | step_boundary()",
        ),
        (
            f"""
            for x in loader:
                {LOSS}; loss.backward(); optimizer.step()
            """,
            f"for x in loader: | {LOSS}; loss.backward(); optimizer.step(); step_boundary()",
        ),
        (  # an update for each backward pass, not in every iteration
            f"""
            for i, x in enumerate(loader):
                if i > 100:
                    {LOSS}
                    loss.backward()
                    optimizer.step()
            """,
            "optimizer.step() | step_boundary()",
        ),
        (  # a setting decides how to update
            f"""
            scaler = torch.amp.GradScaler()
            for x in loader:
                {LOSS}
                loss.backward()
                if args.amp:
                    scaler.step(optimizer)
                    scaler.update()
                else:
                    optimizer.step()
                print("next")
            """,
            "optimizer.step() | step_boundary()",
        ),
        (
            f"""
            for x in loader:
                for part in x.chunk(8):
                    {LOSS}
                    loss.backward()
                optimizer.step()
            """,
            "optimizer.step() | step_boundary()",
        ),
        (
            """
            results = []
            for x in loader:
                y = model(x.to(device))
                results.append(y)
            """,
            "results.append(y) | step_boundary()",
        ),
    ],
)
def test_one_is_written(body: str, expected: str) -> None:
    assert written(body) == expected


def test_native_code() -> None:
    body = f"for x in loader:\n    {LOSS}\n    loss.backward()\n    optimizer.step()\n"
    assert written(body, strategy="native") == "optimizer.step() | torch_xla.sync()"
