"""Masks that depend on sizes alone select as many elements in every step."""

from __future__ import annotations

from textwrap import indent

import pytest

from xlamig.facts import DynamicShape

from .said import facts

HEAD = """
import numpy as np
class Loss(nn.Module):
    def __init__(self, size, device, reach=2):
        super().__init__()
        self.reach = reach
        self.size, self.device, self.rank = size, device, 0
        INIT
    def helper(self, n):
        mask = torch.ones((n, n), dtype=bool)
        mask = mask.fill_diagonal_(0)
        for i in range(n // 2):
            mask[i, n // 2 + i] = 0
        return mask
    def of_labels(self, labels):
        return labels[:, None] == labels[None]
    def both(self, n, labels):
        return torch.arange(n).to(self.device), labels
    def forward(self, x, labels, n):
        x = x.to(self.device)
BODY
loss = Loss(8, torch_xla.device()).to(torch_xla.device())
for x, y in [(torch.ones(8, 8), torch.ones(8))] * 9:
    value = loss(x, y.to(torch_xla.device()), 8)
    value.sum().backward()
    torch_xla.sync()
"""


def fixed(body: str, init: str = "pass") -> list[bool]:
    text = HEAD.replace("INIT", init).replace("BODY", indent(body.replace("; ", "\n"), " " * 8))
    found = [f for f in facts(text) if isinstance(f, DynamicShape) and f.confidence != "possible"]
    return [fact.fixed for fact in found]


@pytest.mark.parametrize(
    "body",
    [
        "return x[x > 0]",
        "mask = torch.rand(x.shape, device=x.device) > 0.5; return x[mask]",
        "mask = torch.from_numpy(np.random.rand(8, 8) > 0.5).to(x.device); return x[mask]",
        "mask = torch.eye(8, device=x.device).bool(); mask[labels.long()] = True; return x[mask]",
        "mask = torch.zeros_like(x).bool(); mask.scatter_(1, labels.long()[:, None], True); return x[mask]",
        "mask = torch.eye(8, device=x.device); mask *= labels; return x[mask.bool()]",
        "return x[torch.arange(8, device=x.device) < labels.sum().item()]",
        "mask = torch.zeros(8, device=x.device).bool(); top = int(labels.max()); "
        "[None for i in range(top)]; mask[:top] = True; return x[mask]",
        "mask = torch.zeros(8, device=x.device).bool(); top = int(labels.max())\n"
        "for i in range(0, top + 1):\n    mask[i] = True\nreturn x[mask]",
        "mask = torch.zeros(8, device=x.device).bool()\nfor low, high in self.spans(labels):\n"
        "    for i in range(low, high):\n        mask[i] = True\nreturn x[mask]",
        "return x[torch.arange(8, device=x.device) < labels[:, None]]",
        "return x[self.of_labels(labels)]",
        "return x.masked_select(labels[:, None] == labels)",
        "return x[labels.nonzero()]",
        "ids = torch.cat([labels for _ in range(2)]); return x[(ids[None] == ids[:, None])[:8]]",
        "ids = torch.cat([torch.arange(i) for i in labels.tolist()]).to(x.device); "
        "return x[ids[None] == ids]",
        "y = labels.view(-1, 1); return x[torch.eq(y, y.T)]",
        "x[labels[:, None] == labels] = labels.float(); return x",
        "y, z = torch.meshgrid(labels, labels); return x[y == z]",
        "y, z = self.of_labels(labels), torch.eye(8); return x[y]",
        "y, z = self.both(n, labels); return x[y[None] == z]",
    ],
)
def test_what_values_decide_is_not_fixed(body: str) -> None:
    found = fixed(body)
    assert found
    assert not any(found)


@pytest.mark.parametrize(
    "body",
    [
        "return x[~torch.eye(8, dtype=torch.bool, device=x.device)].view(8, -1)",
        "h, w = x.shape; mask = np.ones((h, w)) - np.eye(h); mask = torch.from_numpy(mask); "
        "mask = mask.type(torch.bool).to(x.device); return x[mask].view(h, -1)",
        "mask = torch.triu(torch.ones(x.size(0), x.size(1), device=x.device), 1) == 1; return x[mask]",
        "mask = torch.ones_like(x).triu(1).bool(); return x[mask]",
        "mask = torch.eye(self.size).bool().to(x.device); return x[~mask]",
        "mask = torch.eye(n).bool().to(x.device); return x[~mask]",
        "b = x.shape[0]; labels = torch.cat([torch.arange(b // 2) for _ in range(2)]); return x",
        "ids = torch.arange(x.shape[0], device=x.device); return x[ids[:, None] != ids[None]]",
        "return x.masked_select(~torch.eye(8, dtype=torch.bool, device=x.device))",
        "return x[self.helper(self.size).to(x.device)]",
        "ids = torch.cat([torch.arange(self.size) for _ in range(n)])\n"
        "ids = (ids[None] == ids[:, None]).float()\n"
        "ids = ids.to(x.device); return x[ids.bool()]",
        "y = torch.arange(n, device=x.device).view(-1, 1); return x[torch.eq(y, y.T)]",
        "mask = torch.eye(8, device=x.device).bool(); mask[0, 1] = True; return x[mask]",
        "i = torch.eye(8, device=x.device).nonzero(); return x + i.shape[0]",
        "x[torch.eye(8, device=x.device).bool()] = 0; return x",
        "x[torch.eye(8, device=x.device).bool()] += labels; return x",
        "y, z = torch.meshgrid(torch.arange(n), torch.arange(n)); return x[(y < z).to(x.device)]",
        "y, _ = self.both(n, labels); return x[y[None] == y[:, None]]",
        "i = torch.arange(n, device=x.device); return x[(i[None] - i[:, None]).abs() <= self.reach]",
    ],
)
def test_what_sizes_decide_is_fixed(body: str) -> None:
    assert all(fixed(body))


@pytest.mark.parametrize(
    "init",
    [
        "self.mask = self.helper(size).to(device)",
        "self.mask = torch.eye(size, dtype=torch.bool, device=device)",
        "self.register_buffer('mask', torch.eye(size, dtype=torch.bool, device=device))",
    ],
)
def test_what_a_constructor_makes_of_sizes_is_fixed(init: str) -> None:
    assert fixed("return x[self.mask.bool()]", init) == [True]
    changed = "self.mask = self.of_labels(labels); return x[self.mask.bool()]"
    assert fixed(changed, init) == [False]


OF_LENGTHS = """
    def of_lengths(self, lengths):
        longest = max(lengths)
        steps = torch.arange(longest, device=lengths.device).expand(len(lengths), longest)
        return steps < lengths.unsqueeze(1)
    def of_labels"""


def test_a_parameter_whose_length_is_a_size_is_no_number() -> None:
    text = HEAD.replace("\n    def of_labels", OF_LENGTHS).replace("INIT", "pass")
    found = facts(text.replace("BODY", " " * 8 + "return x[~self.of_lengths(self.lengths_of(labels))]"))
    assert [f.fixed for f in found if isinstance(f, DynamicShape) and f.via == "mask-read"] == [False]
