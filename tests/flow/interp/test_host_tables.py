"""Tables that the host computes of nothing but numbers, and sends to the device every step."""

from __future__ import annotations

import pytest

from xlamig.facts import Transfer

from .said import facts

TEXT = """
def inverse(n, base=10000):
    return 1.0 / (base ** (torch.arange(0, n, 2, dtype=torch.float) / n))

def drawn(n):
    return torch.arange(n).float() * torch.rand(n)

def train(model, loader, optimizer):
    model = model.to("cuda")
    for step, (x, y) in enumerate(loader):
        x = x.to("cuda")
        BODY
        out = model(x) * t.to("cuda")
        out.sum().backward()
        optimizer.step()

train(nn.Linear(8, 8), torch.utils.data.DataLoader([1]), torch.optim.SGD([], lr=0.1))
"""


def is_sent_again(body: str) -> bool:
    text = TEXT.replace("BODY", body.replace("; ", "\n        "))
    return any(isinstance(fact, Transfer) and fact.via == "constant" for fact in facts(text))


@pytest.mark.parametrize(
    "body",
    [
        "t = torch.arange(8)",
        "t = inverse(16)",
        "t = torch.einsum('i,j->ij', torch.arange(8), inverse(8)).sin()",
        "t = torch.cat([inverse(8), inverse(8)], dim=-1)[None, :]",
        "t = torch.zeros(8, 8); t[:, 0::2] = torch.arange(8)[:, None]",
        "t = torch.triu(torch.ones(8, 8), diagonal=1).bool()",
        "t = torch.tensor([1, 2, 3]).repeat(2)",
        "t = torch.arange(x.shape[1]).unsqueeze(0).expand(x.shape[0], -1)",
    ],
)
def test_a_table_of_numbers_is_the_same_every_step(body: str) -> None:
    assert is_sent_again(body)


@pytest.mark.parametrize(
    "body",
    [
        "t = drawn(8)",
        "t = torch.arange(8) * step",
        "t = torch.full((8,), step)",
        "t = torch.arange(8)[torch.randperm(8)]",
        "t = torch.zeros(8); t[0] = y[0]",
        "t = torch.zeros(8); t.fill_(y)",
        "t = torch.zeros(8); t[step] = 1",
        "t = torch.eye(8)[y]",
        "t = torch.zeros(8); t += y",
        "t = torch.ones(8).masked_fill(y > 3, 0)",
        "t = torch.ones(8) if step else y.clone()",
        "t = torch.tensor([1.0, 2.0]).mean()",
        "t = torch.arange(8, device='cuda') + 1",
    ],
)
def test_another_table_has_other_values(body: str) -> None:
    assert not is_sent_again(body)
