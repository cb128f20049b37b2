"""A GradScaler by which nothing in the program scales a loss."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

TRAINER = """
import torch
from torch.cuda.amp import GradScaler
class Trainer:
    def train(self, optimizer, scaler=None):
        raise NotImplementedError
    def run(self, optimizer):
        scaler = GradScaler()
        self.train(optimizer, scaler)
"""
IGNORES = """
from base import Trainer
class Own(Trainer):
    def train(self, optimizer, scaler=None):
        self.model(self.batch).mean().backward()
        optimizer.step()
"""
USES = {
    "in an override": IGNORES.replace("self.model(self.batch).mean()", "scaler.scale(self.loss())"),
    "unscaled": IGNORES.replace("optimizer.step", "scaler.unscale_(optimizer); optimizer.step"),
    "handed to a library": IGNORES.replace("optimizer.step()", "engine.fit(self.model, scaler)"),
    "handed on by keyword": IGNORES.replace("optimizer.step()", "fit(self.model, grad_scaler=scaler)"),
}


def severities(own: str, folder: Path) -> list[tuple[str, bool]]:
    write({"base.py": TRAINER, "own.py": own}, folder)
    report = engine.check(
        [folder], engine.Options({"select": ["XLA803"]}, isolated=True, jobs=1, cache=False)
    )
    return [(f.severity, f.no_action) for f in (*report.findings, *report.aside)]


@pytest.mark.parametrize("case", USES)
def test_a_scaler_that_may_scale_stays_a_warning(case: str, tmp_path: Path) -> None:
    assert severities(USES[case], tmp_path) == [("warning", False)]


def test_a_scaler_that_an_override_ignores_asks_for_no_change(tmp_path: Path) -> None:
    assert severities(IGNORES, tmp_path) == [("info", True)]
