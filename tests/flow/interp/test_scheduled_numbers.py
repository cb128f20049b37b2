"""Numbers that a schedule computes from the step: with options, attributes, defaults and base classes."""

from __future__ import annotations

import pytest

from .projects import facts_by_module
from .said import IMPORTS, said

TRAINING = """
import argparse

class Scheduled(nn.Module):
    def __init__(self, total):
        super().__init__()
        self.now, self.total = 0, total

    def tick(self):
        self.now += 1

    @property
    def part(self):
        return min(1.0, self.now / self.total)

class Power(Scheduled):
    def forward(self, x):
        return x ** 2

class Sampler:
    def __init__(self):
        self.rays = 1024

    def set(self, n, target=DEFAULT):
        self.rays = max(64, target // n)

def main(args):
    model, power, sampler = nn.Linear(8, 8).to("xla"), Power(100), Sampler()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step in range(args.steps):
        x = torch.ones(8, 8).to("xla")
        sampler.set(32 + step)
        loss = power(model(x)).sum() + sampler.rays
        y = x.detach()
        LINE
        power.tick()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int)
main(parser.parse_args())
"""


def constants(line: str, default: str = "1 << 16") -> list[str]:
    text = TRAINING.replace("LINE", line).replace("DEFAULT", default)
    return said(text, "changing-constant")


@pytest.mark.parametrize(
    "number",
    [
        "args.first + (args.last - args.first) * step / args.steps",
        "step / args.steps",
        "max(args.least, step / args.steps)",
        "power.now",
        "power.part",
        "1 + 2 * power.part",
    ],
)
def test_a_number_that_a_schedule_computes(number: str) -> None:
    assert constants(f"y = y ** ({number})")


@pytest.mark.parametrize(
    "line",
    [
        "y = y ** (args.first * 2 + args.last)",
        "y = y ** args.power",
        "y = y * (step / args.steps)",
        "print(step / args.steps)",
        "optimizer.param_groups[0]['lr'] = args.lr * step / args.steps",
        "args.data.T * step",
        "y = y ** power.total",
    ],
)
def test_a_number_that_stays_or_is_no_part_of_the_program(line: str) -> None:
    assert constants(line) == []


@pytest.mark.parametrize("default", ["1 << 16", "64 * 64", "65536"])
def test_a_default_that_is_arithmetic_is_a_number(default: str) -> None:
    assert constants("y = torch.linspace(0, 1, sampler.rays, device=y.device)", default)


def test_an_option_stays_one_in_another_file() -> None:
    schedule = "def part(step, total):\n    return step / total\n"
    text = IMPORTS + "from schedule import part\n" + TRAINING.replace("DEFAULT", "1")
    text = text.replace("LINE", "y = y ** part(step, args.steps)")
    found = facts_by_module({"schedule": schedule, "train": text})
    assert [fact.kind for fact in found["train"] if fact.kind == "changing-constant"]
