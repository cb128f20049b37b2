"""The result of a layer without parameters lies where its input does, and not where the layer was made."""

from __future__ import annotations

import pytest

from .said import said

TEXT = """
def train(model, loader, kind):
    model = model.to(torch_xla.device())
    optimizer = torch.optim.Adam(model.parameters())
    measure = nn.BCELoss()
    for x, label in loader:
        if kind in ["graph"]:
            x = x
        else:
            x = x.to(torch_xla.device())
        score = encode(x)
        label = label.to(torch_xla.device())
        part = nn.Sigmoid()
        loss = BODY
        loss.backward()
        optimizer.step()
        torch_xla.sync()

train(nn.Linear(3, 1), torch.utils.data.DataLoader([1]), open("kind").read())
"""


@pytest.mark.parametrize(
    ("body", "missing"),
    [
        ("measure(part(score), label)", []),
        ("measure(nn.ReLU()(part(score)), label)", []),
        ("measure(part(score.cpu()), label)", ["transfer missing: part(score.cpu())"]),
        ("measure(score.cpu(), label)", ["transfer missing: score.cpu()"]),
    ],
)
def test_what_a_loss_gets(body: str, missing: list[str]) -> None:
    found = said(TEXT.replace("BODY", body), "transfer")
    assert [one for one in found if one.startswith("transfer missing")] == missing
