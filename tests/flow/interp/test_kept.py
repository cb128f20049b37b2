"""Tensors that containers, objects and callers keep from step to step, and that a step makes longer."""

from __future__ import annotations

import pytest
from tests.flow.interp.said import said

ATTENTION = """
class Attention(nn.Module):
    def __init__(self):
        self.parts = [None] * 4
        self.alive = torch.ones(8, 1).cuda()
    def forward(self, k, cache=None, batch=None, i=0):
        BODY
        return k
@torch.no_grad()
def generate(k, count):
    model = Attention().cuda()
    cache = {}
    for _ in range(count):
        k = model(k.cuda(), cache, {"x": k}, 0)
        torch_xla.sync()
"""

GROWS = {
    "entry of a dict of the caller": "k = torch.cat([cache['k'], k]); cache['k'] = k",
    "entry of an entry": "old = cache.get(self.key, {}); k = torch.cat([old['k'], k]); old['k'] = k",
    "element of a list": "self.parts[i] = torch.cat([self.parts[i], k], 1)",
    "pair in a list": "k = torch.cat([self.parts[i][0], k], 1); self.parts[i] = (k, k)",
    "beams that are picked": "self.alive = torch.cat([self.alive.index_select(0, i), k], -1)",
    "view of what is kept": "self.alive = torch.cat([self.alive.view(-1, 4).float(), k], 1)",
    "packed by einops": "self.alive, _ = einops.pack([self.alive, k], 'b *')",
}
CONSTANT = {
    "dict of this step": "parts = {'k': k}; parts['k'] = torch.cat([parts['k'], k])",
    "dict that the caller makes for each step": "batch['x'] = torch.cat([batch['x'], k])",
    "list of this step": "skips = [None] * 4; skips[i] = torch.cat([skips[i], k])",
    "attribute set in this step": "self.parts = [k]; self.parts[i] = torch.cat([self.parts[i], k])",
    "window": "self.alive = torch.cat([self.alive, k], 1)[:, -64:]",
    "rows that are replaced": "self.alive = torch.cat([self.alive.index_select(0, i), k], 0)",
    "another entry": "cache['k'] = torch.cat([cache['v'], k])",
}


def growing(body: str) -> bool:
    imports = "import einops\nimport torch_xla\n"
    lines = body.replace("; ", "\n        ")
    return bool(said(imports + ATTENTION.replace("BODY", lines), "changing-shape"))


@pytest.mark.parametrize("case", GROWS)
def test_reports_what_grows_where_it_is_kept(case: str) -> None:
    assert growing(GROWS[case])


@pytest.mark.parametrize("case", CONSTANT)
def test_reports_nothing_that_keeps_its_length(case: str) -> None:
    assert not growing(CONSTANT[case])


@pytest.mark.parametrize(
    ("parameter", "result", "grows"),
    [
        ("layer_past", "out, (k, k)", True),
        ("layer_past", "out, None", False),
        ("layer_past", "out, (k[:, -9:], None)", False),
        ("context", "out, (k, k)", False),
    ],
)
def test_a_cache_that_is_returned_grows(parameter: str, result: str, grows: bool) -> None:
    text = f"""
    class Attention(nn.Module):
        def forward(self, x, {parameter}=None):
            k = self.key(x)
            if {parameter} is not None:
                k = torch.cat([{parameter}[0], k], dim=1)
            out = x @ k
            return {result}
    """
    assert bool(said(text, "changing-shape")) == grows


def test_a_layer_that_pads_lengthens_no_variable_of_its_caller() -> None:
    layers = """
class Part(nn.Module):
    def forward(self, x):
        x = F.pad(x, (0, 1))
        return x
class Net(nn.Module):
    def __init__(self):
        self.layers = nn.ModuleList([Part(), Part()])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
def train(loader):
    net = Net().cuda()
    for x in loader:
        net(x.cuda()).sum().backward()
        torch_xla.sync()
"""
    assert not said("import torch_xla\nimport torch.nn.functional as F\n" + layers, "changing-shape")
