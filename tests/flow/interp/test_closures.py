"""Functions that optimizers call for the loss and its gradients."""

from __future__ import annotations

import pytest

from .said import facts

TEXT = """
net = nn.Linear(4, 1).to(torch_xla.device())
x = torch.randn(8, 4, device=torch_xla.device())
opt = torch.optim.LBFGS(net.parameters(), max_iter=20000)
count = 0

def closure():
    global count
    opt.zero_grad()
    loss = net(x).sum()
    loss.backward()
    count += 1
    HERE
    return loss

STEP
"""
EVERY_STEP = ("opt.step(closure)", "opt.step(closure=closure)", "opt.step(lambda: closure())")
OTHER = (
    ("closure()", "once"),
    ("env.step(closure)", "unknown"),
    ("for _ in range(9): opt.step(closure)", "step"),
)


def frequencies(here: str, step: str) -> set[str]:
    """Return how often the host reads tensors."""
    text = TEXT.replace("STEP", step).replace("HERE", here)
    return {fact.frequency for fact in facts(text) if fact.kind == "host-read"}


@pytest.mark.parametrize("step", EVERY_STEP)
def test_the_closure_of_an_optimizer_runs_every_step(step: str) -> None:
    assert frequencies("loss.item()", step) == {"step"}
    assert frequencies("if count % 100 == 0: loss.item()", step) == {"interval"}


@pytest.mark.parametrize("step", EVERY_STEP)
def test_a_closure_may_read_nothing(step: str) -> None:
    assert frequencies("print(count)", step) == set()
    assert frequencies("last = loss.detach()", step) == set()


@pytest.mark.parametrize(("step", "frequency"), OTHER)
def test_a_function_runs_as_often_as_its_call(step: str, frequency: str) -> None:
    assert frequencies("loss.item()", step) == {frequency}
