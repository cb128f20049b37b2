"""Modules and optimizers that an unknown function makes of settings."""

from __future__ import annotations

import pytest

from xlamig.facts import ModuleMove

from .said import facts

PROGRAM = """
import hydra, lib
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2)

class Workspace:
    def __init__(self, cfg):
        self.model: Policy = MODEL
        self.optimizer = OPTIMIZER

    def run(self, cfg, device):
        self.model.to(device)

Workspace(lib.cfg).run(lib.cfg, torch.device("cuda"))
"""
INSTANTIATED = "hydra.utils.instantiate(cfg.policy)"


def moves(model: str, optimizer: str) -> list[str]:
    text = PROGRAM.replace("MODEL", model).replace("OPTIMIZER", optimizer)
    return [fact.via for fact in facts(text) if isinstance(fact, ModuleMove)]


@pytest.mark.parametrize("model", [INSTANTIATED, "lib.build_policy(cfg)", "Policy()"])
@pytest.mark.parametrize(
    "optimizer",
    [
        "hydra.utils.instantiate(cfg.optimizer, params=self.model.parameters())",
        "lib.make_optimizer(self.model.parameters(), cfg)",
        "torch.optim.AdamW(self.model.parameters())",
    ],
)
def test_an_optimizer_holds_the_parameters_before_a_move(model: str, optimizer: str) -> None:
    assert moves(model, optimizer) == ["optimizer"]


@pytest.mark.parametrize(
    ("model", "optimizer"),
    [
        (f"{INSTANTIATED}.to(device)", "lib.make_optimizer(self.model.parameters(), cfg)"),
        (INSTANTIATED, "lib.make_optimizer(cfg)"),
        (INSTANTIATED, "lib.Norm(cfg.parameters())"),
        ("lib.load(cfg)", "lib.make_optimizer(self.model.parameters(), cfg)"),  # may be anywhere
    ],
)
def test_knows_no_optimizer_of_other_parameters(model: str, optimizer: str) -> None:
    assert moves(model, optimizer) == []
