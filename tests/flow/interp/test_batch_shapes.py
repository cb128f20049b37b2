"""Batches of the host that have another shape each time, and those that have not."""

from __future__ import annotations

import pytest

from .said import in_step, said

TRAIN = """
from torch.utils.data import DataLoader, Dataset
from dataclasses import dataclass
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
SETUP

for batch in BATCHES:
    BODY
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ONCE = "loss = model(batch.to(device)).sum()"


def shapes(setup: str, batches: str, body: str = ONCE) -> list[str]:
    lines = body.strip("\n").replace("\n", "\n    ")
    text = TRAIN.replace("SETUP", setup).replace("BATCHES", batches).replace("BODY", lines)
    return [line for line in said(text, "changing-shape") if line.startswith("changing-shape batch")]


def collated(body: str) -> list[str]:
    lines = "\n    ".join(body.splitlines())
    return shapes(f"def collate(batch):\n    {lines}", "DataLoader(data, 4, collate_fn=collate)")


@pytest.mark.parametrize(
    "body",
    [
        "return torch.stack([torch.tensor(s) for s in batch])",
        "return torch.tensor([s + [0] * (16 - len(s)) for s in batch])",
        "out = torch.zeros(len(batch), 16)\nfor i, s in enumerate(batch): out[i, : len(s)] = s\nreturn out",
        "return torch.stack([F.pad(s, (0, 16 - len(s))) for s in batch])",
        "return torch.stack([s[:16] for s in batch])",
        "i = random.randint(0, 4)\nreturn torch.stack([s[i : i + 16] for s in batch])",
        "return torch.randint(0, random.randint(2, 9), (4, 8))",
        "return torch.stack([s.mean(0) for s in batch])",
        "n = max(len(s) for s in batch)\nn = (n + 63) // 64 * 64\nreturn torch.zeros(len(batch), n)",
        "n = max(len(s) for s in batch)\nn += -n % 64\nreturn torch.zeros(len(batch), n)",
        "n = max(len(s) for s in batch)\nif n % 64: n += 64 - n % 64\nreturn torch.zeros(len(batch), n)",
        "n = math.ceil(max(len(s) for s in batch) / 64) * 64\nreturn torch.zeros(len(batch), n)",
        "batch = sorted(batch, key=lambda s: s.weight)\nreturn torch.zeros(len(batch), 64)",
    ],
)
def test_batches_of_one_shape(body: str) -> None:
    assert collated(body) == []


LONGEST = "n = max(len(s) for s in batch)\n"


@pytest.mark.parametrize(
    ("body", "at"),
    [
        (LONGEST + "return torch.tensor([s + [0] * (n - len(s)) for s in batch])", "torch.tensor("),
        (LONGEST + "return torch.stack([F.pad(s, (0, n - len(s))) for s in batch])", "torch.stack("),
        (LONGEST + "return torch.zeros(len(batch), n)", "torch.zeros("),
        ("n = max(map(len, batch))\nreturn torch.zeros(len(batch), n).long()", "torch.zeros("),
        (
            "n = torch.tensor([len(s) for s in batch])\nreturn torch.zeros(len(batch), n.max().item())",
            "torch.zeros(",
        ),
        ("n = random.randint(2, 9)\nreturn torch.randn(4, n) * 2", "torch.randn("),
        (LONGEST + "return batch[0].new(len(batch), n).fill_(0)", "batch[0].new("),
        (LONGEST + "return torch.LongTensor(len(batch), n).zero_()", "torch.LongTensor("),
        (LONGEST + "n = n + n % 2\nreturn torch.zeros(len(batch), n)", "torch.zeros("),
        (
            "size = [max(s) for s in zip(*[x.shape for x in batch])]\nreturn torch.zeros(*(4, *size))",
            "torch.zeros(",
        ),
        ("n = 0\nfor s in batch:\n    if len(s) > n: n = len(s)\nreturn torch.zeros(4, n)", "torch.zeros("),
        (
            "batch = sorted(batch, key=lambda s: len(s))\nreturn torch.zeros(4, len(batch[-1]))",
            "torch.zeros(",
        ),
        ("batch.sort(key=lambda s: s.size(0))\nreturn torch.zeros(4, batch[-1].size(0))", "torch.zeros("),
        ("n = len(max(batch, key=len))\nreturn torch.zeros(4, n)", "torch.zeros("),
        (
            "n, order = torch.tensor([len(s) for s in batch]).sort(descending=True)\n"
            "return torch.zeros(4, n[0])",
            "torch.zeros(",
        ),
        ("n = int(torch.randint(2, 9, (1,)))\nreturn torch.stack(batch)[:, :n]", "torch.stack(batch)[:, :n]"),
    ],
)
def test_batches_as_long_as_their_longest(body: str, at: str) -> None:
    (found,) = collated(body)
    assert found.startswith(f"changing-shape batch: {at}")


SAMPLES = """
def make(n):
    return {"x": torch.randn(n, 8), "kind": torch.tensor(1)}

samples = [make(COUNT) for _ in range(100)]
def batches():
    for i in range(0, 100, 4):
        yield BATCH
"""


@pytest.mark.parametrize(
    ("count", "batch"),
    [
        ("32", 'torch.cat([s["x"] for s in samples[i : i + 4]])'),
        ("random.randint(3, 9)", 'torch.stack([s["kind"] for s in samples[i : i + 4]])'),
        ("random.randint(3, 9)", 'torch.stack([s["x"].sum(0) for s in samples[i : i + 4]])'),
    ],
)
def test_samples_of_one_shape(count: str, batch: str) -> None:
    assert shapes(SAMPLES.replace("COUNT", count).replace("BATCH", batch), "batches()") == []


@pytest.mark.parametrize("rng", ["random", "random.Random(0)"])
def test_samples_with_shapes_of_their_own(rng: str) -> None:
    setup = f"rng = {rng}\n" + SAMPLES.replace("COUNT", "rng.randint(3, 9)")
    found = shapes(setup.replace("BATCH", 'torch.cat([s["x"] for s in samples[i : i + 4]])'), "batches()")
    assert found == ['changing-shape batch: torch.cat([s["x"] for s in samples[i : i + 4]])']


def test_a_size_that_is_drawn_once_is_one() -> None:
    assert shapes("n = random.randint(3, 9)\ndata = [torch.randn(n, 8)] * 100", "data") == []


def test_the_longest_of_all_samples_is_one() -> None:
    setup = "n = max(len(s) for s in texts)\ndata = [torch.tensor(s + [0] * (n - len(s))) for s in texts]"
    assert shapes(setup, "data") == []


def test_each_field_of_an_instance_is_its_own() -> None:
    setup = """
@dataclass
class Batch:
    x: torch.Tensor
    y: torch.Tensor

    def to(self, device):
        return Batch(self.x.to(device), self.y.to(device))

def batches():
    for i in range(9):
        yield Batch(torch.randn(random.randint(3, 9), 8), torch.ones(8))
"""
    found = shapes(setup, "batches()", "batch = batch.to(device)\nloss = model(batch.x).sum()")
    assert found == ["changing-shape batch: torch.randn(random.randint(3, 9), 8)"]


def test_a_function_that_calls_itself_for_what_is_inside() -> None:
    setup = f"""
def collate(batch):
    {LONGEST.strip()}
    return {{"x": {{"ids": torch.zeros(4, n)}}}}

def move(x):
    if isinstance(x, dict):
        return {{k: move(v) for k, v in x.items()}}
    return x.to(device)
"""
    body = 'loss = model(move(batch)["x"]["ids"]).sum()'
    found = shapes(setup, "DataLoader(data, 4, collate_fn=collate)", body)
    assert found == ["changing-shape batch: torch.zeros(4, n)"]


EPISODE = """
values, rewards = [], []
state, done = env.reset(), False
LOOP:
    value = model(torch.tensor(state).to(device))
    state, reward, done = env.step()
    values.append(value)
    rewards.append(reward)
    END
loss = torch.stack(values).sum() - torch.tensor(rewards).to(device).sum()
"""


@pytest.mark.parametrize(
    ("loop", "end", "ends"),
    [
        ("for t in range(64)", "pass", False),
        ("while len(rewards) < 64", "pass", False),
        ("for t in range(64)", "if t == last: break", False),
        ("while not done", "pass", True),
        ("for t in range(64)", "if done: break", True),
        ("while True", "if random.random() < 0.1: break", False),
    ],
)
def test_an_episode_is_as_long_as_it_takes(loop: str, end: str, ends: bool) -> None:
    found = shapes("env = make()", "range(100)", EPISODE.replace("LOOP", loop).replace("END", end))
    assert found == (
        ["changing-shape batch: torch.stack(values)", "changing-shape batch: torch.tensor(rewards)"]
        if ends
        else []
    )


COLLATOR = """
class Collate:
    def __call__(self, batch):
        BODY
"""


def of_collator(body: str) -> list[str]:
    """Return the events of a collate function in a file without a loop of steps."""
    text = COLLATOR.replace("BODY", "\n        ".join(body.splitlines()))
    return said(text, "changing-shape")


@pytest.mark.parametrize(
    "body",
    [
        "return torch.zeros(len(batch), 16)",
        "return torch.stack([F.pad(s, (0, 16 - len(s))) for s in batch])",
        "n = max(self.widths)\nreturn torch.zeros(len(batch), n)",
        "n = max(s.weight for s in batch)\nreturn torch.zeros(len(batch), n)",
    ],
)
def test_a_collate_function_by_itself_with_one_shape(body: str) -> None:
    assert of_collator(body) == []


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ("n = max(len(s) for s in batch)\nreturn torch.zeros(len(batch), n)", "torch.zeros(len(batch), n)"),
        ("n = max([s[1].size(1) for s in batch])\nreturn torch.full((4, n), 0)", "torch.full((4, n), 0)"),
        (
            "n = max(s['x'].shape[0] for s in batch)\nreturn torch.stack([F.pad(s, (0, n)) for s in batch])",
            "torch.stack([F.pad(s, (0, n)) for s in batch])",
        ),
    ],
)
def test_a_collate_function_by_itself_that_pads_to_the_longest(body: str, at: str) -> None:
    assert of_collator(body) == [f"changing-shape batch: {at}"]


def test_a_dataset_knows_its_longest_sample() -> None:
    text = """
    class Texts(torch.utils.data.Dataset):
        def __init__(self, texts):
            self.longest = max(len(t) for t in texts)

        def __getitem__(self, i):
            return torch.zeros(max(len(t) for t in self.texts))
    """
    assert said(text, "changing-shape") == []


def test_the_longest_of_what_values_decide_is_told_as_that() -> None:
    body = "kept = [x[x > 0]]\nn = max(k.shape[0] for k in kept)\ntorch.zeros(n, device=device)"
    assert in_step(body, "changing") == []
    assert "dynamic-shape derived: n" in in_step(body, "dynamic")


COLLATED = """
def collate(items):
    tokens = torch.nn.utils.rnn.pad_sequence(items, batch_first=True)
    return {"inputs": tokens[:, :-1], "targets": tokens[:, 1:]}

device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([torch.ones(9)], collate_fn=collate)
kept = {"inputs": torch.ones(8)}
for batch in loader:
    loss = model(SOURCE["inputs"].to(device)).mean()
    loss.backward()
    optimizer.step()
"""


def test_a_mapping_that_a_collate_function_makes_is_a_batch() -> None:
    found = said(COLLATED.replace("SOURCE", "batch"), "transfer")
    assert found == ['transfer batch: batch["inputs"].to(device)']


def test_a_mapping_made_before_the_loop_is_kept() -> None:
    found = said(COLLATED.replace("SOURCE", "kept"), "transfer")
    assert found == ['transfer constant: kept["inputs"].to(device)']


@pytest.mark.parametrize("size", ["longest", "16"])
def test_follows_a_batch_that_may_have_another_part(size: str) -> None:
    setup = f"""
def collate(batch):
    longest = max([len(s) for s in batch])
    _, order = torch.sort(torch.LongTensor([len(s) for s in batch]))
    padded = torch.zeros(len(batch), {size})
    if len(batch) > 4:
        return padded, order, order
    return padded, order
"""
    body = "loss = model(batch[0].to(device)).sum()"
    found = shapes(setup, "DataLoader(data, 4, collate_fn=collate)", body)
    made = ["changing-shape batch: torch.zeros(len(batch), longest)"]
    assert found == (made if size == "longest" else [])
