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


POLICY = """
class Policy(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.length = length
        self.layer = nn.Linear(3, 3)
    def get_action(self, states):
        RESHAPED
        CUT
        return self.forward(states)[0, -1]
    def forward(self, states):
        return self.layer(states)
@torch.no_grad()
def play(env, policy):
    policy.cuda().eval()
    states = torch.from_numpy(env.reset()).reshape(1, -1).cuda()
    for _ in range(1000):
        action = policy.get_action(states)
        state = env.step(action.cpu().numpy())[0]
        states = torch.cat([states, torch.from_numpy(state).cuda().reshape(1, -1)], dim=0)
play(make(), Policy(20))
"""
CUT = "states = states[:, -self.length:]"
MISSING = "pad = torch.zeros(1, self.length - states.shape[1], 3"


def test_a_window_of_what_the_caller_lets_grow_is_likely() -> None:
    code = POLICY.replace("RESHAPED", "states = states[None]").replace("CUT", CUT)
    assert said(code, "negative-slice")


@pytest.mark.parametrize("reshaped", ["states[-1].reshape(1, 1, 3)", "states.sum(0).view(1, 1, 3)"])
def test_a_window_of_fixed_size_stays_possible(reshaped: str) -> None:
    code = POLICY.replace("RESHAPED", f"states = {reshaped}").replace("CUT", CUT)
    assert not said(code, "negative-slice")


@pytest.mark.parametrize("given, count", [(", device=states.device)", 1), (")", 0)])
def test_what_is_filled_up_on_the_device_began_shorter(given: str, count: int) -> None:
    code = f"""
    class Policy(nn.Module):
        def get_action(self, states):
            states = states.reshape(1, -1, 3)
            {CUT}
            {MISSING}{given}
            return self.layer(torch.cat([pad, states], 1))
    """
    assert len(said(code, "negative-slice")) == count


def test_filling_up_another_tensor_says_nothing_of_this_one() -> None:
    code = f"""
    class Policy(nn.Module):
        def get_action(self, states, other):
            {CUT}
            {MISSING.replace("states", "other")}, device=states.device)
            return self.layer(states), pad
    """
    assert not said(code, "negative-slice")
