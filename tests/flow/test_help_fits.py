"""Advice for a place whose surroundings leave the usual advice without effect, or make it do harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.findings import Finding


def found(text: str, code: str) -> list[Finding]:
    options = engine.Options({"select": [code]}, isolated=True, stdin=("run.py", text.encode()))
    return list(engine.check([Path("run.py")], options).findings)


SCORES = """import torch
@torch.no_grad()
def evaluate(model, loader, out, stats, file):
    model.to("xla")
    for name, x in loader:
        y = model(x.to("xla")).sum()
        {line}
"""


@pytest.mark.parametrize(
    ("line", "help_"),
    [
        ("print(f'{name} {y}')", "Log only every few hundred steps"),
        ("text = f'{name} {y}'; print(text)", "Log only every few hundred steps"),
        ("stats.set_postfix(score=f'{y:.2f}')", "Log only every few hundred steps"),
        ("out.append(f'{name} {y}')", "Keep `y` itself in a list"),
        ("text = '{} {}'.format(name, y); out.append(text)", "Keep `y` itself in a list"),
        ("file.write('%s %f' % (name, y))", "Keep `y` itself in a list"),
    ],
)
def test_texts_that_a_program_keeps_are_no_log(line: str, help_: str) -> None:
    (finding,) = found(SCORES.format(line=line), "XLA104")
    assert (finding.help or "").startswith(help_)


SAMPLER = """import torch
@torch.no_grad()
def sample(model, x, alphas, n):
    model.to("xla"); x = x.to("xla"); alphas = alphas.to("xla")
    for i in range(n):
        e = model(x)
        {line}
        x = x * a
        print(x.sum().item())
    return x
"""


@pytest.mark.parametrize(
    ("line", "codes", "help_"),
    [
        ("a = torch.full((4, 1), alphas[i], device=x.device)", ["XLA109"], "Expand the element"),
        ("a = torch.full((4, 1), fill_value=alphas[i])", ["XLA109"], "Expand the element"),
        ("a = torch.full((4,), e.sum().item())", ["XLA101"], "Expand the element"),
        ("a = torch.full_like(x, float(e.max()))", ["XLA101"], "Expand the element"),
        ("a = torch.full((int(e.max()),), 3)", ["XLA101"], "Use the largest size"),
        ("a = torch.full((e.argmax(),), 3, device=x.device)", ["XLA109"], "Compute with the tensor"),
        ("a = alphas[i].expand(4, 1)", ["XLA301"], "Keep the position on the device"),
        ("a = torch.full((4,), i / n, device=x.device) * alphas[i]", ["XLA301"], "Keep the position"),
        ("a = alphas.index_select(0, i * torch.ones(1, device=x.device).long()).expand(4, 1)", [], ""),
    ],
)
def test_what_fills_a_tensor_is_expanded(line: str, codes: list[str], help_: str) -> None:
    text = SAMPLER.format(line=line)
    options = engine.Options(
        {"select": ["XLA101", "XLA109", "XLA301"]}, isolated=True, stdin=("run.py", text.encode())
    )
    findings = [f for f in engine.check([Path("run.py")], options).findings if "x.sum()" not in f.message]
    assert [finding.code for finding in findings] == codes
    assert all((finding.help or "").startswith(help_) for finding in findings)


LOSSES = """import torch
def train(model, loader, optimizer, extra=False):
    model.to("xla")
    for x in loader:
        more = torch.tensor({number}, device="xla")
        if extra:
            more = model(x.to("xla")).mean()
        loss = model(x.to("xla")).sum() + more
        loss.backward()
        optimizer.step()
        print(more.item())
"""


@pytest.mark.parametrize(
    ("number", "help_"),
    [
        ("0.0", "Log every few steps"),
        ("0", "Log every few steps"),
        ("2.5", "Take `more` from the CPU's copy"),
        ("[0.0, 1.0]", "Compute this from the Python numbers"),
    ],
)
def test_a_zero_stands_for_what_an_option_computes(number: str, help_: str) -> None:
    text = f"{LOSSES.format(number=number)}train(model, loader, optimizer)\n"
    (finding,) = found(text, "XLA101")
    assert (finding.help or "").startswith(help_)


EPISODE = """import random
import torch
class World:
    def act(self, action):
        {test}
        return self.place
def run(world, env, model, optimizer, n):
    model.to("xla")
    for _ in range(n):
        out = model(torch.ones(1, 6).to("xla"))
        world.act(out.detach().argmax())
        out.sum().backward()
        optimizer.step()
run(World(), env, model, optimizer, 9)
"""
ONCE = "Read the number that is compared once"


@pytest.mark.parametrize(
    ("test", "help_"),
    [
        ("if action == 1: self.place -= 1", ONCE),
        ("if action == 1: self.place, self.done = 0, True", "Compute both results"),
        ("if action == 1: self.place = 0\n        else: self.place = 1; self.done = True", ONCE),
        ("if action == 1:\n            if random.random() < 0.5: self.place -= 1", ONCE),
        ("if action == 1: place = 0", "Compute both results"),
        ("if action == 1: self.place = action * 2", "Compute both results"),
        ("if action == 1: self.last = self.model(self.place)", "Compute both results"),
        ("if action == 1: self.hits += 1", "Add the comparison itself"),
        ("while action > self.place: self.env.step(1)", ONCE),
        ("while action > self.place: self.place = self.place * 2", "Test every few steps"),
    ],
)
def test_an_environment_of_the_host_needs_one_number(test: str, help_: str) -> None:
    (finding,) = found(EPISODE.format(test=test), "XLA106")
    assert (finding.help or "").startswith(help_)


SOLVER = """import torch
class Solver:
    def advance(self, t, dt, y, model):
        {check}
        return t + dt, y + dt * model(y)
def run(solver, model, n):
    model.to("xla")
    t, dt, y = torch.zeros(1, device="xla"), torch.ones(1, device="xla"), torch.ones(3, 6, device="xla")
    for _ in range(n):
        t, y = solver.advance(t, dt, y, model)
        print(y.sum().item())
run(Solver(), model, 9)
"""


@pytest.mark.parametrize(
    ("check", "help_"),
    [
        ("assert t + dt > t, 'underflow'", "Keep the check"),
        ("assert t < dt + t", "Keep the check"),
        ("if not t - dt < t: raise ValueError", "Keep the check"),
        ("assert t + dt > y.sum()", "Drop the check"),
        ("assert (y > 0).all(), f'{t + dt} {t}'", "Drop the check"),
        ("if t > 3: raise ValueError", "Drop the check"),
    ],
)
def test_a_check_of_progress_ends_a_loop(check: str, help_: str) -> None:
    findings = found(SOLVER.format(check=check), "XLA106")
    assert [(finding.help or "")[: len(help_)] for finding in findings] == [help_]


@pytest.mark.parametrize(
    ("line", "help_"),
    [
        ("import torch.optim", "Call the module itself, move its inputs"),
        ("optimizer = torch.optim.SGD(net.parameters(), 0.1)", "Start one process per device"),
        ("from torch.optim import SGD\nSGD(net.parameters(), 0.1).step()", "Start one process per device"),
    ],
)
def test_an_unused_import_trains_nothing(line: str, help_: str) -> None:
    text = f"import torch\n{line}\nnet = torch.nn.DataParallel(torch.nn.Linear(2, 2))\nnet.eval()\nnet(x)\n"
    (finding,) = found(text, "XLA704")
    assert (finding.help or "").startswith(help_)


SHOWN = """import torch
from torch.utils.data import DataLoader
from torch.utils.tensorboard import SummaryWriter
net = torch.nn.Linear(3, 3).to("xla")
optimizer = torch.optim.SGD(net.parameters())
writer = SummaryWriter("runs")
for i, x in enumerate(DataLoader(data)):
    x = x.to("xla")
    y = net(x)
    y.sum().backward()
    optimizer.step()
    if i % 50 == 0:
        image = {value}[0, 0:1].repeat(3, 1, 1)
        writer.add_image("image", image, i)
"""


@pytest.mark.parametrize(
    ("value", "help_"),
    [("x", "Compute `image` from the CPU's copy"), ("y", "Call `torch_xla.sync()` before")],
)
def test_an_image_of_the_batch_is_shown_from_the_cpu(value: str, help_: str) -> None:
    (finding,) = found(SHOWN.format(value=value), "XLA104")
    assert finding.help is not None
    assert finding.help.startswith(help_)
