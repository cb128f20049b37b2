"""Clocks around copies to the device, which take the time that the clock says, and around queued work."""

from __future__ import annotations

import pytest

from .said import in_step, said


def timed(body: str) -> list[str]:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return in_step(
        f"torch_xla.sync(wait=True)\nstart = time.time()\nif True:\n{lines}\nprint(time.time() - start)",
        "timing",
    )


@pytest.mark.parametrize(
    "body",
    [
        "z = torch.from_numpy(extra).to(device)",
        "z = torch.ones(2, 8).to(device, torch.float16)",
        "z = x.to(device)",
        "w = next(batches)\nw = w.cuda(non_blocking=True)",
        "for w in other:\n    w = w.to(device)",
    ],
)
def test_reports_nothing_around_copies_from_the_host(body: str) -> None:
    assert timed(body) == []


@pytest.mark.parametrize(
    "body",
    [
        "z = model(torch.ones(2, 8).to(device))",
        "z = torch.ones(2, 8).to(device) + 1",
        "z = (x * 2).to(device)",
        "z = x.to(torch.bfloat16)\nz = z @ z.T",
        "z = x.to(device, torch.bfloat16)",
    ],
)
def test_reports_work_that_is_queued(body: str) -> None:
    assert timed(body) == ["timing : time.time()"]


STEPS = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(loader):
    for x in loader:
        model(x.to(device)).sum().backward()
        optimizer.step()
        torch_xla.sync()

start = time.time()
BODY
total = time.time() - start
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("train(torch.utils.data.DataLoader([1]))", []),
        ("for epoch in range(9):\n    train(torch.utils.data.DataLoader([1]))", []),
        ("for x in range(9):\n    model(torch.ones(2, 8).to(device))", ["timing : time.time()"]),
        ("train([])\nmodel(torch.ones(2, 8).to(device))", ["timing : time.time()"]),
    ],
)
def test_a_whole_training_takes_the_time_that_the_clock_says(body: str, found: list[str]) -> None:
    assert said(STEPS.replace("BODY", body), "timing") == found


@pytest.mark.parametrize(
    ("use", "found"),
    [
        ("_ = time.time() - start", 0),
        ("took = time.time() - start", 0),
        ("took = time.time() - start\n    print(took)", 1),
        ("took = time.time() - start\n    return took, out", 1),
        ("meter.update(time.time() - start)", 1),
        ("meter.took = time.time() - start", 1),
        ("global took\n    took = time.time() - start", 1),
    ],
)
def test_a_time_that_nothing_reads(use: str, found: int) -> None:
    text = f"""
def run(x, meter):
    start = time.time()
    out = x @ x
    {use}

run(torch.ones(3, 3, device=torch_xla.device()), Meter())
"""
    assert len(said(text, "timing")) == found
