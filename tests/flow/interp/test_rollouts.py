"""Storages that a loop of environment steps fills: each position is a program of its own."""

from __future__ import annotations

import pytest

from .said import said

STORAGE = """
class Storage:
    def __init__(self, n, p):
        self.obs = torch.zeros(n + 1, p, 8)
        self.n = n
        self.step = 0

    def to(self, device):
        self.obs = self.obs.to(device)

    def insert(self, obs):
        self.obs[self.step + 1].copy_(obs)
        COUNT
"""
TRAINING = """
device = torch_xla.device()
policy = nn.Linear(8, 2).to(device)
opt = torch.optim.SGD(policy.parameters(), 0.1)

def main(envs, args):
    rollouts = Storage(args.num_steps, 4)
    rollouts.to(device)
    for update in range(100):
        for step in range(args.num_steps):
            with torch.no_grad():
                action = policy(rollouts.obs[step])
            obs = envs.step(READ)
            rollouts.insert(torch.from_numpy(obs))
        loss = policy(rollouts.obs[:-1]).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        torch_xla.sync()

main(None, None)
"""


def positions(count: str = "self.step = (self.step + 1) % self.n", read: str = "action.cpu().numpy()") -> str:
    """Return the indices that are different every step, for what counts and what is read."""
    text = STORAGE.replace("COUNT", count) + TRAINING.replace("READ", read)
    return " ".join(line.partition(": ")[2] for line in said(text, "changing-constant"))


@pytest.mark.parametrize(
    "count",
    ["self.step = (self.step + 1) % self.n", "self.step += 1", "self.step = self.step + 1"],
)
def test_counts_positions_of_each_environment_step(count: str) -> None:
    assert positions(count) == "self.step + 1 step"


def test_a_loop_that_reads_nothing_is_one_graph() -> None:
    assert positions(read="action") == "self.step + 1"


def test_a_number_that_no_method_counts_stays() -> None:
    assert positions("self.last = self.step") == "step"


def test_a_flag_is_no_counter() -> None:
    assert positions("self.step = self.find(self.n)") == "step"


@pytest.mark.parametrize(
    "moved",
    [
        "self.obs = self.obs.cpu()",
        'self.obs = self.obs.to("cpu")',
    ],
)
def test_what_a_method_keeps_on_the_host(moved: str) -> None:
    text = STORAGE.replace("self.obs = self.obs.to(device)", moved).replace("COUNT", "self.step += 1")
    assert said(text + TRAINING.replace("READ", "action.cpu().numpy()"), "changing-constant") == []


def test_a_batch_is_on_the_host_until_it_is_moved() -> None:
    text = """
    class Batch:
        def __init__(self, x):
            self.x = x

        def to(self, device):
            self.x = self.x.to(device)
            return self

    def collate(rows):
        batch = Batch(torch.stack(rows))
        return batch, batch.x.max().item()
    """
    assert said(text, "host-read") == []
