"""Numbers that come with a batch, known by the name of a list of lengths or because the loader gives them."""

from __future__ import annotations

import pytest

from .said import said

FORWARD = """
LENGTHS = read()
class Cut(nn.Module):
    def __init__(self, lens):
        self.lens = lens
    def forward(self, x: torch.Tensor, y, lengths, others):
        BODY
"""
TRAINING = """
from torch.utils.data import DataLoader
def train(data, model, optimizer):
    model.cuda()
    for ids, found, names in DataLoader(data):
        x = model(ids.cuda())
        BODY
        optimizer.zero_grad()
        x.sum().backward()
        optimizer.step()
"""


def changing(program: str, body: str) -> list[str]:
    return said(program.replace("BODY", body.replace("\n", "\n        ")), "changing-constant")


@pytest.mark.parametrize(
    "body",
    [
        "for i, n in enumerate(self.lens): x[i, n:] = 0",
        "for i, n in enumerate(LENGTHS): x[i, n:] = 0",
        "for i, n in enumerate(others): x[i, n:] = 0",
        "for n, i in zip(others, lengths): x[0, n:] = 0",
        "lengths = [4] * 3\nfor i, n in enumerate(lengths): x[i, n:] = 0",
        "for i, n in enumerate(lengths): y[i] = y[i][:n]",
        "host = torch.zeros(4, 8)\nfor i, n in enumerate(lengths): host[i, n:] = 0",
        "x[torch.arange(4), lengths - 1]",
        "for n in lengths: torch.arange(n)",
        "for n in lengths: x * n",
    ],
)
def test_leaves_settings_and_what_is_on_the_host(body: str) -> None:
    assert changing(FORWARD, body) == []


@pytest.mark.parametrize(
    ("body", "number"),
    [
        ("for i, n in enumerate(lengths): x[i, n:] = 0", "length: n"),
        ("for row, n in zip(x, lengths.tolist()): row[:n]", "length: n"),
        ("[x[i, : lengths[i]] for i in range(4)]", "length: lengths[i]"),
        ("for n in lengths: x.narrow(1, 0, n)", "attribute: n"),
        ("[row[:n] for row, n in zip(x, lengths)]", "length: n"),
        ("for i in range(4):\n    n = int(lengths[i])\n    x[i, n - 1]", "index: n - 1"),
        ("for i in range(4): x[i, : others['src_lens'][i]]", "length: others['src_lens'][i]"),
    ],
)
def test_elements_of_what_is_called_lengths_differ(body: str, number: str) -> None:
    assert changing(FORWARD, body) == [f"changing-constant {number}"]


@pytest.mark.parametrize(
    "body", ["x[found[0]]", "x[0, found[0] + 1]", "n = len(found)\nx[:n]", "names[: found[0]]"]
)
def test_leaves_indices_that_may_be_tensors_and_sizes_of_batches(body: str) -> None:
    assert changing(TRAINING, body) == []


@pytest.mark.parametrize(
    ("body", "number"),
    [
        ("x = x[:, : found[0]]", "length: found[0]"),
        ("for n in found:\n    if n + 1 < 9: x = x[:, n + 1]", "index: n + 1"),
        ("counts = [len(t) for t in names]\nx = x[:, : counts[0]]", "length: counts[0]"),
    ],
)
def test_numbers_of_the_batch_differ(body: str, number: str) -> None:
    assert changing(TRAINING, body) == [f"changing-constant {number}"]


COLLATE = """
from torch.utils.data import DataLoader
def collate(samples):
    counts = [LENGTH for s in samples]
    return torch.stack([s["x"] for s in samples]), {"counts": counts}
def train(data, model, optimizer):
    model.cuda()
    for x, more in DataLoader(data, collate_fn=collate):
        x = model(x.cuda())
        USE
        optimizer.zero_grad()
        x.sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("length", "said_"), [("4", False), ("len(s['words'])", True)])
@pytest.mark.parametrize("use", ["x[0, more['counts'][0] :] = 0", "x.new_zeros(sum(more['counts']))"])
def test_lengths_that_a_collate_function_lists_differ(length: str, said_: bool, use: str) -> None:
    program = COLLATE.replace("LENGTH", length).replace("USE", use)
    assert bool(said(program, "changing-constant")) is said_


@pytest.mark.parametrize(("use", "sure"), [("", False), ("\n            x = x + parts", True)])
def test_a_write_through_data_is_read_where_its_tensor_is(use: str, sure: bool) -> None:
    program = """
    @torch.no_grad()
    def evaluate(loader, model):
        model.cuda()
        parts = torch.zeros(4, 8, device="cuda")
        for x, lengths in loader:
            x = model(x.cuda())
            for i, n in enumerate(lengths): parts.data[i, n:] = 0USE
            print(x.sum().item())
    """
    assert bool(said(program.replace("USE", use), "changing-constant")) is sure
