"""Where a boundary goes, and where none is written."""

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


def written(body: str, **settings: object) -> str:
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
        # there is one
        f"""
        import torch_xla
        for x in loader:
            {LOSS}
            loss.backward()
            optimizer.step()
            torch_xla.sync()
        """,
        # on the host
        """
        host = nn.Linear(4, 4)
        own = torch.optim.SGD(host.parameters(), lr=0.1)
        for x in loader:
            host(x).sum().backward()
            own.step()
        """,
        # a library ends the step
        """
        import accelerate
        accelerator = accelerate.Accelerator()
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
        for x in loader:
            accelerator.backward(model(x).sum())
            optimizer.step()
        """,
        # layers of one model
        """
        def forward(layers, x):
            for layer in layers:
                x = layer(x)
            return x
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
        (  # micro-batches
            f"""
            for x in loader:
                for part in x.chunk(8):
                    {LOSS}
                    loss.backward()
                optimizer.step()
            """,
            "loss.backward() | step_boundary()\noptimizer.step() | step_boundary()",
        ),
        (  # an attack inside a step
            f"""
            def attack(model, x, steps):
                for _ in range(steps):
                    x.requires_grad_()
                    {LOSS}
                    x = x.detach() + torch.autograd.grad(loss, [x])[0].sign()
                return x

            for x in loader:
                x = attack(model, x.to(device), 10)
                {LOSS}
                loss.backward()
                optimizer.step()
            """,
            "x = x.detach() + torch.autograd.grad(loss, [x])[0].sign() | step_boundary()"
            "\noptimizer.step() | step_boundary()",
        ),
        (  # the rows of a Jacobian call no model
            """
            for x in loader:
                y = model(x.to(device).requires_grad_())
                rows = []
                for i in range(y.shape[1]):
                    rows.append(torch.autograd.grad(y[:, i].sum(), x, retain_graph=True)[0])
                torch.stack(rows).square().sum().backward()
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
        (  # an evaluation that ends early
            """
            results = []
            for x in loader:
                y = model(x.to(device))
                if len(x) < 3:
                    continue
                results.append(y)
            """,
            "results.append(y) | step_boundary()",
        ),
        (  # several optimizers that step one after the other
            f"""
            other = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in loader:
                {LOSS}
                loss.backward()
                optimizer.step()
                {LOSS}
                loss.backward()
                other.step()
                print(loss.item())
            """,
            "other.step() | step_boundary()",
        ),
        (  # a closure that is called more than once
            f"""
            optimizer = torch.optim.LBFGS(model.parameters())
            for x in loader:
                def closure():
                    optimizer.zero_grad()
                    {LOSS}
                    loss.backward()
                    return loss
                optimizer.step(closure)
            """,
            "optimizer.step(closure) | step_boundary()",
        ),
        (  # a step in a method of another class
            """
            class Trainer:
                def __init__(self, model):
                    self.model = model
                    self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

                def train_step(self, x):
                    loss = self.model(x.to(device)).sum()
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
                    return loss

            trainer = Trainer(model)
            for x in loader:
                loss = trainer.train_step(x)
                print(loss.item())
            """,
            "loss = trainer.train_step(x) | step_boundary()",
        ),
    ],
)
def test_one_is_written(body: str, expected: str) -> None:
    assert written(body) == expected


ACCUMULATES = f"""
for i, x in enumerate(loader):
    {LOSS}
    loss.backward()
    total += loss.item()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
        print(total)
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (ACCUMULATES, ["loss.backward() | step_boundary()", "optimizer.zero_grad() | step_boundary()"]),
        (  # the second optimizer waits for its turn
            f"""
            other = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(loader):
                {LOSS}
                loss.backward()
                optimizer.step()
                other.zero_grad()
                if i % 5 == 0:
                    {LOSS}
                    loss.backward()
                    other.step()
                    print(loss.item())
            """,
            ["other.zero_grad() | step_boundary()", "other.step() | step_boundary()"],
        ),
        (  # a value is read between two updates
            f"""
            other = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in loader:
                {LOSS}
                loss.backward()
                optimizer.step()
                print(loss.item())
                {LOSS}
                loss.backward()
                other.step()
            """,
            ["optimizer.step() | step_boundary()", "other.step() | step_boundary()"],
        ),
        (  # a test that the loop changes
            f"""
            for x in loader:
                {LOSS}
                loss.backward()
                ready = len(x) > 3
                if ready:
                    optimizer.step()
            """,
            ["loss.backward() | step_boundary()", "optimizer.step() | step_boundary()"],
        ),
    ],
)
def test_one_is_written_for_each_graph(body: str, expected: list[str]) -> None:
    assert written(body).splitlines() == expected


MICRO = """
for i, x in enumerate(loader):
    {loss}
    loss.backward()
    {above}
    if {test}:
        optimizer.step()
        optimizer.zero_grad()
        {tail}
    {below}
"""


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"test": "(i + 1) % args.accum == 0 or i + 1 == len(loader)"},
        {"test": "not i % args.accum", "tail": "updates += 1"},
        {"above": "seen += 1", "tail": "scheduler.step()", "below": "print(loss.item())"},
    ],
)
def test_a_branch_that_updates_every_nth_time_ends_the_step(parts: dict[str, str]) -> None:
    parts = {"above": "", "test": "(i + 1) % 4 == 0", "tail": "", "below": "", **parts}
    last = next(filter(None, (parts["tail"], "optimizer.zero_grad()")))
    assert written(MICRO.format(loss=LOSS, **parts)) == f"{last} | step_boundary()"


@pytest.mark.parametrize(
    "parts",
    [
        {"above": "print(loss.item())"},  # a value is read in between
        {"above": "ready = loss > 1", "test": "ready"},  # so does the test
        {"test": "loss < 1"},
        {"tail": "print(loss.item())"},
        {"tail": "validate(model)"},  # its steps are others
        {"tail": "continue"},
        {"tail": "pass\n    else:\n        count = 1"},
    ],
)
def test_two_end_what_a_read_or_a_branch_parts(parts: dict[str, str]) -> None:
    parts = {"above": "", "test": "(i + 1) % 4 == 0", "tail": "", "below": "", **parts}
    lines = written(MICRO.format(loss=LOSS, **parts)).splitlines()
    assert lines == ["loss.backward() | step_boundary()", "optimizer.zero_grad() | step_boundary()"]


CALLED = """
def step(x):
    optimizer.zero_grad()
    {loss}
    loss.backward()
    optimizer.step()
    {below}
    return {result}

for x in loader:
    value = step(x)
    print(value)
"""


@pytest.mark.parametrize("select", [["XLA401"], ["XLA101", "XLA401"], ["XLA101", "XLA401", "XLA403"]])
@pytest.mark.parametrize("below", ["", "scheduler.step()"])
def test_a_function_that_reads_below_its_update_ends_the_step(select: list[str], below: str) -> None:
    code = CALLED.format(loss=LOSS, below=below, result="loss.item()")
    assert written(code, select=select) == f"{below or 'optimizer.step()'} | step_boundary()"


@pytest.mark.parametrize("result", ["loss", "loss.detach()"])
def test_the_loop_ends_the_step_of_a_function_that_reads_nothing(result: str) -> None:
    found = written(CALLED.format(loss=LOSS, below="", result=result), select=["XLA101", "XLA401"])
    assert found == "value = step(x) | step_boundary()"


METHOD = """
from elsewhere import Base

class Net({base}):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4).to(device)

    {decorator}
    def sample(self, x, count):
        x = x.to(device)
        for _ in range(count):
            x = self.net(x)
        return x

{call}
"""
SAMPLES = "x = self.net(x) | step_boundary()"


@pytest.mark.parametrize("base", ["nn.Module", "Base"])
def test_a_method_that_a_forward_elsewhere_may_call_gets_none(base: str) -> None:
    assert written(METHOD.format(base=base, decorator="", call="")) == ""


@pytest.mark.parametrize(
    ("base", "decorator", "call"),
    [
        ("nn.Module", "@torch.no_grad()", ""),
        ("Base", "@torch.inference_mode()", ""),
        ("nn.Module", "", "Net().sample(torch.ones(4), 100)"),
        ("Base", "", "def main():\n    return Net().sample(torch.ones(4), 100)"),
        ("object", "", ""),
    ],
)
def test_a_method_that_samples_gets_one(base: str, decorator: str, call: str) -> None:
    assert written(METHOD.format(base=base, decorator=decorator, call=call)) == SAMPLES


def test_accumulated_gradients_stay_in_the_graph_of_the_update() -> None:
    found = written(ACCUMULATES, **{"accumulate-in-graph": True})
    assert found == "optimizer.zero_grad() | step_boundary()"


def test_native_code() -> None:
    body = f"for x in loader:\n    {LOSS}\n    loss.backward()\n    optimizer.step()\n"
    assert written(body, strategy="native") == "optimizer.step() | torch_xla.sync()"
