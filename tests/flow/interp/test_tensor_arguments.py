"""A function of torch takes the tensor first and the sizes after it; a method takes sizes alone."""

from __future__ import annotations

import pytest

from .said import in_step

SILENT = [
    "r, u = torch.split(tensor=helper(x), split_size_or_sections=4, dim=-1); torch.reshape(r, (-1, 8))",
    "z = helper(x).exp(); torch.reshape(z, (x.shape[0], -1))",
    "z = helper(x).exp(); torch.reshape(input=z, shape=(x.shape[0], -1))",
    "z = helper(x).exp(); torch.tile(z, (2, 1))",
]
SAID = {
    "n = helper(x).exp(); torch.reshape(x, (n, -1))": "dynamic-shape size: n",
    "n = helper(x).exp(); x.reshape(n, -1)": "dynamic-shape size: n",
    "n = x.argmax(); torch.reshape(x, (n, -1))": "dynamic-shape size: n",
    "n = x.argmax(); torch.zeros(n, 3, device=device)": "dynamic-shape size: n",
}


@pytest.mark.parametrize("code", SILENT)
def test_the_tensor_itself_is_no_size(code: str) -> None:
    assert in_step("from helpers import helper\n" + code, "dynamic-shape") == []


@pytest.mark.parametrize("code", SAID)
def test_a_tensor_among_the_sizes_is_one(code: str) -> None:
    assert SAID[code] in in_step("from helpers import helper\n" + code, "dynamic-shape")
