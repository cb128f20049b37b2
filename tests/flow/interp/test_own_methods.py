"""Loops that call a module by a method of its own, or that a method of a module has."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead, StepBoundary

from .said import facts

DECODER = """
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.cell, self.out = nn.Embedding(9, 8), nn.GRUCell(8, 8), nn.Linear(8, 9)
        self.blocks = nn.ModuleList([Block() for _ in range(8)])
        self.names = []

    def step(self, token, state):
        state = self.cell(self.emb(token), state)
        return self.out(state), state

    def note(self, token, state):
        self.names.append(str(len(self.names)))
        return token, state

    def sample(self, state, limit=20):
        token = torch.ones(4, dtype=torch.long, device=state.device)
        done, kept = torch.zeros(4, dtype=torch.bool, device=state.device), []
        while TEST and len(kept) < limit:
            state = self.cell(self.emb(token), state)
            token = self.out(state).argmax(-1)
            done = done | (token == 2)
            kept.append(token)
        return torch.stack(kept, 1)

    def forward(self, x):
        for block in self.blocks:
            x = block.mixed(x)
        return x

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def mixed(self, x):
        return x + self.lin(x)
"""
PROGRAM = """
device = torch_xla.device()
net = Decoder().to(device).eval()
token = torch.zeros(1, dtype=torch.long, device=device)
state = torch.zeros(1, 8, device=device)
with torch.no_grad():
    RUN
"""
LOOP = "for i in range(100):\n        token, state = net.METHOD(token, state)"


def found(run: str, test: str = "len(kept) < 9") -> list[tuple[str, str]]:
    """Return the kind and the boundary of each loop of steps."""
    text = DECODER.replace("TEST", test) + PROGRAM.replace("RUN", run)
    return [(fact.loop, fact.boundary) for fact in facts(text) if isinstance(fact, StepBoundary)]


@pytest.mark.parametrize(
    "run", [LOOP.replace("METHOD", "note"), "x = net(state)", "x = net.step(token, state)"]
)
def test_leaves_methods_without_parts_and_layers_of_a_forward_pass_alone(run: str) -> None:
    assert found(run) == []


def test_leaves_a_model_of_the_host_alone() -> None:
    on_host = PROGRAM.replace("torch_xla.device()", "torch.device('cpu')").replace("RUN", LOOP)
    text = DECODER.replace("TEST", "len(kept) < 9") + on_host.replace("METHOD", "step")
    assert not any(isinstance(fact, StepBoundary) for fact in facts(text))


def test_takes_repeated_calls_of_a_module_s_method_for_steps() -> None:
    assert found(LOOP.replace("METHOD", "step")) == [("decoding", "none")]


@pytest.mark.parametrize(("test", "steps"), [("not done.all()", ["step"]), ("len(kept) < 9", [])])
def test_a_loop_that_asks_the_device_whether_to_go_on_decodes(test: str, steps: list[str]) -> None:
    text = DECODER.replace("TEST", test) + PROGRAM.replace("RUN", "x = net.sample(state)")
    assert [fact.frequency for fact in facts(text) if isinstance(fact, HostRead)] == steps
