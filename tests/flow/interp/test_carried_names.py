"""Names that an iteration may set again before it uses what an earlier one left."""

from __future__ import annotations

import pytest

from .said import said

PROGRAM = """
def decode(model: nn.Module, loader, count):
    for batch in loader:
        ids = batch.to("cuda")
        kept = None
        for i in range(count):
            token = model(ids).argmax(-1)
            BODY
        print(kept)
decode(nn.Linear(3, 3).to("cuda"), torch.utils.data.DataLoader([1]), 3)
"""


def grown(body: str) -> list[str]:
    lines = body.replace("\n", "\n            ")
    return [line.split(": ")[1] for line in said(PROGRAM.replace("BODY", lines), "changing-shape")]


@pytest.mark.parametrize(
    "body",
    [
        "if i == 0:\n    kept = token\nelse:\n    kept = token * 2\nkept = torch.cat([kept, token], 1)",
        "kept = token\nif i > 0:\n    kept = torch.cat([kept, token], 1)",
        "with torch.no_grad():\n    kept = token\nkept = torch.cat([kept, token], 1)",
        "kept = token\nkept = torch.cat([kept[token], token], 1)",
    ],
)
def test_what_each_iteration_sets_first_does_not_grow(body: str) -> None:
    assert grown(body) == []


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("if kept is None:\n    kept = token\nelse:\n    kept = CAT", "torch.cat([kept, token], 1)"),
        ("if i == 0:\n    kept = token\nelse:\n    kept = CAT", "torch.cat((kept, token), dim=-1)"),
        ("if kept is None:\n    kept = token\nkept = CAT", "torch.cat([kept, token], 1)"),
        ("if i == 0:\n    kept = token\nelse:\n    kept = CAT", "torch.cat([kept[token], token], 1)"),
        ("if i == 0:\n    kept = token\nelse:\n    kept = CAT.detach()", "torch.cat([kept, token], 1)"),
        ("kept = token if i == 0 else CAT", "torch.cat((kept.contiguous(), token), 1)"),
        ("kept = token if i == 0 else CAT", "torch.cat((kept[token.view(-1)], token), dim=1)"),
    ],
)
def test_what_only_the_first_iteration_sets_grows(body: str, call: str) -> None:
    assert grown(body.replace("CAT", call)) == [call]
