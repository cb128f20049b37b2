"""Lists of placeholders that a loop fills: their elements lie where what fills them does."""

from __future__ import annotations

import pytest

from .said import said

PROGRAM = """
device = torch_xla.device()
model = nn.Linear(8, 8).to(device)

def pick(batch):
    picked = LIST
    for i, row in enumerate(batch):
        picked[i] = FILL
    return picked

def main(loader):
    for batch in loader:
        batch = batch.to(device)
        picked = pick(model(batch))
        USE
        torch_xla.sync()

main([torch.ones(2, 8)] * 9)
"""
SILENT = {
    "numbers": ("[0] * len(batch)", "row.shape[0]", "float(picked[0])"),
    "texts": ("[None] * len(batch)", "str(i)", "int(picked[0])"),
    "tensors of the host": ("[None] * len(batch)", "torch.ones(3)", "picked[0].sum().item()"),
    "only whether there is one": ("[None] * len(batch)", "row", "x = 0 if picked[0] is None else 1"),
}
SAID = {
    "one placeholder for each": ("[None] * len(batch)", "row", "picked[0].sum().item()"),
    "a comprehension": ("[None for _ in batch]", "row.relu()", "picked[0].sum().item()"),
    "unless it is left": (
        "[None] * len(batch)",
        "row",
        "x = 0 if picked[0] is None else picked[0].sum().item()",
    ),
    "tensors": ("[torch.zeros(3)] * len(batch)", "row", "for one in picked: one.sum().item()"),
}


def reads(held: str, fill: str, use: str) -> list[str]:
    """Return the host reads of the loop."""
    return said(PROGRAM.replace("LIST", held).replace("FILL", fill).replace("USE", use), "host-read")


@pytest.mark.parametrize(("held", "fill", "use"), SILENT.values(), ids=SILENT)
def test_reads_no_element_of_the_host(held: str, fill: str, use: str) -> None:
    assert reads(held, fill, use) == []


@pytest.mark.parametrize(("held", "fill", "use"), SAID.values(), ids=SAID)
def test_reads_the_tensor_in_place_of_a_placeholder(held: str, fill: str, use: str) -> None:
    assert [line.partition(":")[0] for line in reads(held, fill, use)] == ["host-read item"]
