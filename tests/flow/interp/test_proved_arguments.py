"""Arguments that a caller only guesses are tensors, and that the callee's uses prove to be."""

from __future__ import annotations

import pytest

from .said import said

HEAD = """
class Head(nn.Module):
    def forward(self, feats, labels=None, extra=None):
        out = self.conv(feats)
        return self.losses(out, labels, extra)

    def losses(self, out, labels, extra):
        USE
        return out
"""
PROVED = {
    "n = labels.sum(dim=2).max()\n        if n > 3: out = out + 1": "host-read truth: n > 3",
    "n = (labels.sum(dim=2) > 0).sum(dim=1)\n        k = int(n[0])": "host-read item: int(n[0])",
    "y = labels.mean(dim=(1, 2), keepdim=True)\n        k = y.max().item()": "host-read item: y.max().item()",
    "cut = labels[..., :5] if extra else labels\n        n = cut.any(dim=1)\n        k = n.sum().item()": (
        "host-read item: n.sum().item()"
    ),
    "y = labels.unsqueeze(0)\n        k = labels.max().item()": "host-read item: labels.max().item()",
    "y = F.one_hot(labels.to(torch.int64))\n        if y.sum() > 2: out = out + 1": (
        "host-read truth: y.sum() > 2"
    ),
    "m = labels.sum(dim=1) > 0\n        out = out[m]": "dynamic-shape mask-read: out[m]",
}
GUESSED = {
    "an axis, as of arrays": "n = labels.sum(axis=2).max()\n        if n > 3: out = out + 1",
    "a position, as of arrays": "n = labels.sum(2).max()\n        if n > 3: out = out + 1",
    "a dimension by its name": "n = labels.sum(dim='time').max()\n        if n > 3: out = out + 1",
    "a dictionary": "n = labels['boxes'].sum(dim=1)\n        if labels: out = out + 1",
    "a list": "n = [y.sum(dim=1) for y in labels]\n        if labels: out = out + 1",
    "a function of an object": "n = extra.max(labels, dim=1)\n        if extra > 3: out = out + 1",
    "a list, after a test": "if isinstance(labels, list): n = labels[0]\n        if labels: out = out + 1",
}


@pytest.mark.parametrize("use", PROVED)
def test_a_use_in_the_callee_proves_the_argument(use: str) -> None:
    assert PROVED[use] in said(HEAD.replace("USE", use))


@pytest.mark.parametrize("case", GUESSED)
def test_other_uses_leave_it_a_guess(case: str) -> None:
    assert said(HEAD.replace("USE", GUESSED[case])) == []


PICKING = """
def pick(w):
    return torch.nonzero(w.contiguous()[:, 0] > 0)
def run(parts):
    return pick(CALL)
"""


@pytest.mark.parametrize("given", ["parts", "torch.stack(parts(3), 0)"])
def test_a_tensor_of_unknown_parts_is_where_an_unknown_argument_is(given: str) -> None:
    found = said(PICKING.replace("CALL", given))
    assert found == ["dynamic-shape nonzero: torch.nonzero(w.contiguous()[:, 0] > 0)"]


def test_a_tensor_of_parts_on_the_host_stays_there() -> None:
    assert said(PICKING.replace("CALL", "torch.stack([torch.ones(2).cpu()], 0)")) == []
