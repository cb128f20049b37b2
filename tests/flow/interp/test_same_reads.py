"""Reads of values that no iteration of a loop changes, which one copy before the loop serves."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .said import facts

HEAD = """
device = torch_xla.device()
net = nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
LOOP = """
def train(loader, fixed, optimizer):
    kept, weights = [], torch.rand(8, device=device).softmax(0)
    MADE
    for batch in loader:
        x = batch.to(device)
        loss = (net(x) * weights).sum()
        BODY
        loss.backward()
        optimizer.step()
        torch_xla.sync()

train([torch.ones(2, 8)] * 9, torch.ones(8, device=device), optimizer)
"""
CLASS = """
class Trainer(nn.Module):
    def __init__(self):
        super().__init__()
        self.centers = MADE

    def update(self):
        OTHER

    def fit(self, loader):
        for batch in loader:
            loss = net(batch.to(device)).sum()
            self.update()
            print(self.centers.cpu())
            loss.backward()
            optimizer.step()
            torch_xla.sync()

Trainer().fit([torch.ones(2, 8)] * 9)
"""


def reads(text: str) -> list[str]:
    """Return the tensors of which each iteration reads the same values."""
    found = facts(HEAD + text)
    return [fact.tensor for fact in found if isinstance(fact, HostRead) and fact.over == "same"]


def in_loop(body: str, made: str = "pass") -> list[str]:
    return reads(LOOP.replace("BODY", body.replace("; ", "\n        ")).replace("MADE", made))


@pytest.mark.parametrize(
    "body",
    [
        "kept.append(x.cpu())",
        "kept.append(loss.cpu())",
        "kept.append(weights.cpu()); weights = weights * 2",
        "kept.append(weights.cpu()); weights += 1",
        "kept.append(weights.cpu()); weights[0] = 1",
        "kept.append(weights.cpu()); weights.mul_(2)",
        "kept.append(weights.cpu()); weights.data.mul_(2)",
        "kept.append(weights.cpu()); torch.mul(weights, 2, out=weights)",
        "kept.append(weights.cpu()); torch.distributed.broadcast(weights, 0)",
        "kept.append(weights.cpu()); weights, other = x, x",
        "kept.append(weights[len(kept)].cpu())",
        "kept.append((weights * loss).cpu())",
        "kept.append(weights.add(loss).cpu())",
        "kept.append(weights.bernoulli().cpu())",
        "kept.append(net.weight.cpu())",
        "kept.append([weights.cpu() for weights in x])",
        "kept.append({k: v.item() for k, v in comm.reduce_dict({'a': loss}).items()})",
        "kept.append(sum(v.item() for k, v in comm.reduce_dict({'a': loss}).items()))",
        "kept.extend(map(lambda weights: weights.cpu(), x))",
    ],
)
def test_reads_of_what_an_iteration_changes_are_not_the_same(body: str) -> None:
    assert in_loop(body) == []


@pytest.mark.parametrize(
    "made",
    [
        "weights = nn.Parameter(weights)",
        "weights = torch.rand(8, device=device, requires_grad=True)",
        "weights.requires_grad_()",
        "optimizer = torch.optim.SGD([weights], lr=0.1)",
    ],
)
def test_reads_of_what_is_trained_are_not_the_same(made: str) -> None:
    assert in_loop("kept.append(weights.cpu())", made) == []


@pytest.mark.parametrize(
    ("body", "tensor"),
    [
        ("kept.append(weights.cpu())", "weights"),
        ("kept.append(weights.detach().cpu())", "weights.detach()"),
        ("kept.append(weights[0].item())", "weights[0]"),
        ("kept.append(fixed.cpu().numpy())", "fixed"),
        ("for row in batch: kept.append(x.cpu())", "x"),
        ("kept.append([x.cpu() for row in batch])", "x"),
    ],
)
def test_reads_of_what_was_made_before_the_loop_are_the_same(body: str, tensor: str) -> None:
    assert in_loop(body) == [tensor]


@pytest.mark.parametrize(
    ("made", "other"),
    [
        ("torch.rand(8, device=device)", "self.centers = self.centers * 2"),
        ("torch.rand(8, device=device)", "self.centers.mul_(2)"),
        ("nn.Parameter(torch.rand(8, device=device))", "pass"),
    ],
)
def test_an_attribute_that_another_method_changes_is_not_the_same(made: str, other: str) -> None:
    assert reads(CLASS.replace("MADE", made).replace("OTHER", other)) == []


def test_an_attribute_that_nothing_changes_is_the_same() -> None:
    made = "torch.rand(8, device=device)"
    assert reads(CLASS.replace("MADE", made).replace("OTHER", "pass")) == ["self.centers"]
