"""An optimizer whose class comes with the options updates the parameters, by its name and its methods."""

from __future__ import annotations

import pytest

from .said import said

TEXT = """
import argparse

class Instructor:
    def __init__(self, opt):
        self.opt = opt
        self.model = nn.Linear(3, 3).to(torch_xla.device())

    def train(self, NAME, loader):
        for x in loader:
            loss = self.model(x.to(torch_xla.device())).sum()
            loss.backward()
            NAME.step(GIVEN)

    def run(self):
        self.train(self.opt.maker(3), torch.utils.data.DataLoader([1]))

parser = argparse.ArgumentParser()
parser.add_argument("--maker", default="adam")
opt = parser.parse_args()
opt.maker = {"adam": torch.optim.Adam}[opt.maker]
Instructor(opt).run()
"""


@pytest.mark.parametrize(
    ("name", "given", "found"),
    [
        ("optimizer", "", ["step-boundary none: optimizer.step()"]),
        ("opt", "", ["step-boundary none: opt.step()"]),
        ("scheduler", "", []),
        ("env", "loss", []),
    ],
)
def test_a_step_of_what_the_options_make(name: str, given: str, found: list[str]) -> None:
    lines = said(TEXT.replace("NAME", name).replace("GIVEN", given), "step-boundary")
    assert [line for line in lines if ".step(" in line] == found
