"""Slices that count from the end of a tensor that may be shorter."""

from __future__ import annotations

import pytest

from .said import in_step, said

SILENT = {
    "the last element": "x[:, -1:]",
    "a known size": "z = torch.zeros(4, 8, device=x.device); z[:, -8:]",
    "a size": "x[:, -y.shape[1]:]",
    "a clamped number": "n = min(n, x.shape[1])\nx[:, -n:]",
    "a number from a size": "n = y.size(1) // 2\nx[:, -n:]",
    "a tested size": "if x.shape[1] > n: x = x[:, -n:]",
    "a tested length": "z = x if len(x) <= n else x[-n:]",
    "a tested number": "size = x.shape[1]\nif size > n: x = x[:, -n:]",
    "an end": "x[:, :n]; x[:, : len(x) - 1]",
    "host tensors": "z = torch.randn(4); z[-n:]",
    "lists and text": "[1, 2][-n:]; 'text'[-n:]",
}
REPORTED = [
    "x[-n:]",
    "x.reshape(-1, n)[:, -8:]",
    "x[:, -n:]",
    "x[..., -n + 1 :]",
    "x[:, -n:] = 0",
    "x[:, -m.window:]",
]
GROWING = """
def generate(model, tokens, block):
    for _ in range(8):
        logits = model(tokens[:, -block:])
        tokens = torch.cat((tokens, logits[:, -1].argmax(-1, keepdim=True)), dim=1)
"""
WINDOW = """
class Window(nn.Module):
    def __init__(self, size):
        self.size, self.seen = size, None
        self.seen = {}
    def forward(self, x):
        both = torch.cat([self.seen, x], 1)
        self.seen = both[:, -self.size :]
        return self.seen
"""


@pytest.mark.parametrize("case", SILENT)
def test_silent_where_the_size_is_known_to_suffice(case: str) -> None:
    assert not [line for line in in_step(SILENT[case], sure=False) if line.startswith("negative-slice")]


@pytest.mark.parametrize("code", REPORTED)
def test_possible_where_nothing_is_known_of_the_size(code: str) -> None:
    assert [line for line in in_step(code, sure=False) if line.startswith("negative-slice")]
    assert not [line for line in in_step(code) if line.startswith("negative-slice")]


@pytest.mark.parametrize("empty", ["None", "torch.tensor([])", "torch.empty(0, 4)", "torch.zeros(2, 0, 4)"])
def test_likely_for_a_window_that_is_empty_at_first(empty: str) -> None:
    assert said(WINDOW.format(empty), "negative-slice")


@pytest.mark.parametrize("full", ["torch.zeros(2, size, 4)", "torch.zeros(10, 4)", "make(0)"])
def test_possible_for_a_window_that_is_full_at_first(full: str) -> None:
    assert not said(WINDOW.format(full), "negative-slice")


def test_likely_for_tokens_that_a_loop_appends() -> None:
    assert said(GROWING, "negative-slice") == ["negative-slice : tokens[:, -block:]"]
    assert not said(GROWING.replace("-block:", "-1:"), "negative-slice")


PADDED = """
def generate(model, tokens, block):
    mask = torch.ones_like(tokens).cuda()
    for _ in range(8):
        mask = mask[:, -block:]
        tokens = model(tokens, mask)
        mask = F.pad(mask, AMOUNTS, value=1)
"""


@pytest.mark.parametrize(("amounts", "count"), [("(0, 1)", 1), ("(0, 0)", 0), ("(0, block)", 0)])
def test_a_mask_that_is_padded_in_the_loop_grows(amounts: str, count: int) -> None:
    assert len(said(PADDED.replace("AMOUNTS", amounts), "negative-slice")) == count
