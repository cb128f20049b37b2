"""Lists with as many elements as a test of values lets through, and what is made of them."""

from __future__ import annotations

import pytest

from .said import said

TRAIN = """
from torch.utils.data import DataLoader
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def loss_of(x, y):
    BODY

for x, y in DataLoader(data):
    loss = loss_of(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def shapes(body: str) -> list[str]:
    text = TRAIN.replace("BODY", body.strip("\n").replace("\n", "\n    "))
    return [line for line in said(text, "dynamic-shape") if line.split()[1] in ("filtered:", "size:")]


JOINED = "return torch.stack(rows).mean()"
FILTERED = [
    "rows = [r for r, k in zip(x, y) if k > 0]",
    "rows = [r for r, k in zip(x, y) if not k > 0]",
    "rows = list(r for r in x if r.sum().item() > 3)",
    "rows = []\nfor i in range(4):\n    if (y == i).any(): rows.append(x[i])",
    "rows = []\nfor i in range(4):\n    if not (y == i).any(): continue\n    rows.append(x[i])",
    "rows = []\nfor i in range(4):\n    for j in range(5):\n        if y[j] == i: rows += [x[j]]",
    "rows = []\nfor i in range(4):\n    if y[i] > 1: rows.append(x[i])\n    rows.append(x[0])",
]


@pytest.mark.parametrize("body", FILTERED)
def test_values_decide_how_many_tensors_are_joined(body: str) -> None:
    (line,) = shapes(f"{body}\n{JOINED}")
    assert line.startswith("dynamic-shape filtered")


@pytest.mark.parametrize("joined", ["torch.cat(rows)", "torch.stack(rows, 1)", "torch.cat(tuple(rows))"])
def test_each_way_to_join_them(joined: str) -> None:
    assert len(shapes(f"{FILTERED[0]}\nreturn {joined}.mean()")) == 1


@pytest.mark.parametrize(
    "body",
    [
        "rows = [r for r in x]",
        "rows = [p.sum() for p in model.parameters() if p.requires_grad]",
        "rows = [r for i, r in enumerate(x) if i % 2]",
        "rows = [r for r in x if r is not None]",
        "rows = []\nfor i in range(4):\n    if i % 2: rows.append(x[i])",
        "rows = []\nfor i in range(4):\n    if y[i] > 1: rows.append(x[i])\n    else: rows.append(x[i] * 2)",
        "rows = []\nfor i in range(4):\n    rows.append(x[i])\n    if y[i] > 1: print(i)",
        "rows = []\nfor i in range(4):\n    rows.append(x[i])\n    if y[i] > 1: continue\n    print(i)",
        "for i in range(4):\n    rows = []\n    if y[i] > 1: continue\n    rows.append(x[i])",
        "rows = [r for r in x if r.sum() > 3]\nrows = [x[0]]",
    ],
)
def test_lists_of_one_length(body: str) -> None:
    assert shapes(f"{body}\n{JOINED}") == []


def test_their_number_is_a_size_that_values_decide() -> None:
    (line,) = shapes(f"{FILTERED[0]}\nreturn (x * torch.zeros(len(rows), device=device)[0]).sum()")
    assert line.startswith("dynamic-shape size")


def test_a_list_of_positions_picks_as_many_rows() -> None:
    keep = "keep = [i for i, k in enumerate(y) if k > 0]"
    (line,) = shapes(f"{keep}\nreturn x[keep].sum()")
    assert line.startswith("dynamic-shape filtered")
    others = "rest = list(set(range(8)) - set(keep))"
    (line,) = shapes(f"{keep}\n{others}\nreturn x[rest].sum()")
    assert line.startswith("dynamic-shape filtered")
    assert shapes(f"{keep}\nreturn x[keep[0]].sum()") == []


def test_a_number_that_a_loop_lessens_by_it() -> None:
    loop = "k = 5\nwhile k > 0:\n    top, at = x.view(-1).topk(k)\n    k -= len([w for w in at if w > 3])"
    assert [line.split()[1] for line in shapes(f"{loop}\nreturn top.sum()")] == ["size:"]


SAMPLES = "batch = Transition(*zip(*memory.sample(8)))\n"


@pytest.mark.parametrize(
    ("samples", "test", "told"),
    [
        (SAMPLES, "s is not None", 1),
        (SAMPLES, "s.dim() > 1", 0),
        ("batch = memory.sample(8)\n", "s is not None", 0),
        (f"{SAMPLES}batch = complete(batch)\n", "s is not None", 0),
    ],
)
def test_samples_that_lack_a_field_are_left_out(samples: str, test: str, told: int) -> None:
    body = f"{samples}rest = torch.cat([s for s in batch.next_state if {test}])\nreturn model(rest).mean()"
    assert len(shapes(body)) == told
