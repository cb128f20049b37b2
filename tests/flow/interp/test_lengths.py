"""Lengths that each sample has of its own, and what follows from indices of such lengths."""

from __future__ import annotations

import pytest

from .said import in_step, said

FORWARD = """
class Packed(nn.Module):
    def forward(self, x: torch.Tensor, PARAMETER):
        for i in range(x.shape[0]):
            n = NAME[i]
            y = x[i, :n]
            z = torch.arange(n, device=x.device)
        return y
"""
FOLLOWS = {
    "k = x.nonzero(); x[k]": "dynamic-shape derived: k",
    "k = x.nonzero(); x.gather(0, k)": "dynamic-shape derived: k",
    "k = x.nonzero(); x[k] = 0": "dynamic-shape derived: k",
    "k = x.nonzero(); x.index_add_(0, k, loss)": "dynamic-shape derived: k",
}


@pytest.mark.parametrize("parameter", ["lengths: list[int]", "seq_lens: List[int]", "n_tokens: list[int]"])
def test_each_sample_has_another_length(parameter: str) -> None:
    name = parameter.partition(":")[0]
    found = said(FORWARD.replace("PARAMETER", parameter).replace("NAME", name), "changing")
    assert found == ["changing-constant length: n", "changing-constant attribute: n"]


@pytest.mark.parametrize("parameter", ["dims: list[int]", "sizes: list[int]", "lengths: dict[str, int]"])
def test_other_lists_are_settings(parameter: str) -> None:
    name = parameter.partition(":")[0]
    assert said(FORWARD.replace("PARAMETER", parameter).replace("NAME", name), "changing") == []


def test_a_variable_is_what_its_annotation_says() -> None:
    body = "lengths: list[int] = extra.get('lengths')\nfor k in range(4): x[k, : lengths[k]]"
    assert "changing-constant length: lengths[k]" in in_step(body)


def test_padded_to_the_longest() -> None:
    body = "k = [r[r > 0] for r in x]\nn = max(r.shape[0] for r in k)\nm = max(n, 8)\nmax(r.ndim for r in k)"
    assert in_step(body, "dynamic")[1:] == ["dynamic-shape derived: max(r.shape[0] for r in k)"]


@pytest.mark.parametrize(("device", "sure"), [("extra.device", True), ("'cpu'", False)])
def test_who_names_a_device_seldom_means_the_host(device: str, sure: bool) -> None:
    body = f"n = int(x.sum().item())\ntorch.zeros(n, device={device})"
    assert ("dynamic-shape size: n" in in_step(body, "dynamic")) == sure


@pytest.mark.parametrize("code", FOLLOWS)
def test_an_index_with_as_many_elements_as_the_values_say(code: str) -> None:
    assert FOLLOWS[code] in in_step(code)


@pytest.mark.parametrize(
    "code", ["k = x.topk(2)[1]; x.gather(0, k); x[k]", "k = x.argsort(); x[k]; x.index_select(0, k[0])"]
)
def test_an_index_of_fixed_size(code: str) -> None:
    assert in_step(code, "dynamic") == []


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ("if extra is None: extra = torch.ones_like(x)\nextra.sum().item()", True),
        ("if extra is not None: pass\nelse: extra = torch.ones_like(x)\nextra.sum().item()", True),
        ("if extra is None: extra = 3\nextra.item()", False),
    ],
)
def test_what_stands_in_for_a_tensor_is_one(body: str, read: bool) -> None:
    assert bool(in_step(body, "host-read")) is read
