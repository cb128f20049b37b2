"""Regressions found in public repositories."""

from __future__ import annotations

import pytest

from .said import facts, in_step, said

SILENT = {
    "names of parameters": "[n for n, p in extra.named_parameters() if n in names or 'b' in n]",
    "a tensor of a given list": "z = torch.tensor(extra.decode(x).tokens); z[0].item(); z.tolist()",
    "sizes that are no tensors": "for h, w in extra.to(device).image_sizes: float(h)",
    "members of a set": "memo = set()\nmemo.add(x)\nif x in memo or x in {loss}: pass",
    "numbers with names of their own": "extra.accuracy.item(); extra.lossless.item()",
    "settings of what was moved": "net = extra['G'].to(device)\nif net.c_dim or net.num_classes: pass",
    "indices by dimension": "k = torch.nonzero(x > 0, as_tuple=True)[0].shape",
}
KEPT = {
    "h, w = x[x[:, 0] > 0].shape[1:]; torch.zeros(h, w, device=device)": False,
    "n, w = x[x[:, 0] > 0].shape; torch.zeros(w, device=device)": False,
    "n, w = x[x[:, 0] > 0].shape; torch.zeros(n, device=device)": True,
    "w = x[x[:, 0] > 0].shape[1]; torch.zeros(w, device=device)": False,
}
ARMS = """
device = torch_xla.device()
def train(model, loader, optimizer, flag):
    for x in loader:
        loss = model(x.to(device)).sum()
        loss.backward()
        optimizer.step()
        BODY
"""
EVALUATION = """
def run(model, loader, save):
    results = []
    for x in loader:
        y = model(x.to("cuda"))
        BODY
"""


@pytest.mark.parametrize("case", SILENT)
def test_reports_nothing(case: str) -> None:
    found = in_step(SILENT[case])
    assert [line for line in found if not line.startswith(("dynamic-shape nonzero", "transfer"))] == []


@pytest.mark.parametrize("code", KEPT)
def test_a_selection_keeps_all_dimensions_but_the_first(code: str) -> None:
    derived = [line for line in in_step(code) if line.startswith("dynamic-shape derived")]
    assert bool(derived) is KEPT[code]


@pytest.mark.parametrize(
    ("body", "several"),
    [
        ("loss.item() if flag else x.cpu()", False),
        ("if flag: a = loss.item()\n        else: a = (loss * 2).item()", False),
        ("if flag: a = loss.item()\n        a = (loss * 2).item()", True),
        ("a = loss.item(), (loss * 2).item()", True),
    ],
)
def test_reads_in_different_arms_are_not_several(body: str, several: bool) -> None:
    found = facts(ARMS.replace("BODY", body))
    assert any(getattr(fact, "nth", "") == "later" for fact in found) is several


@pytest.mark.parametrize(
    ("body", "boundary"),
    [
        ("results.append(y)", "none"),
        ("save(y.mean().item())", "read"),
        ("save(model.paint(y).image.tile(3).cpu())", "read"),
        ("if len(results) % 10 == 0: y.cpu()\n        results.append(y)", "none"),
    ],
)
def test_what_may_be_read_ends_a_round_of_an_evaluation(body: str, boundary: str) -> None:
    found = said(EVALUATION.replace("BODY", body), "step-boundary")
    assert [line.partition(":")[0] for line in found] == [f"step-boundary {boundary}"]


@pytest.mark.parametrize(
    ("drawn", "changes"),
    [
        ("np.random.randint(0, 9)", True),
        ("np.random.randint(0, 9, size=4)", False),
        ("np.random.randint(0, 9, 4)", False),
        ("np.random.randint(0, 9, size=None)", True),
        ("np.random.permutation(4)", False),
        ("np.random.choice(9)", True),
        ("np.random.choice(9, 4)", False),
        ("int(np.random.uniform())", True),
    ],
)
def test_an_index_that_is_an_array(drawn: str, changes: bool) -> None:
    found = in_step(f"import numpy as np\nx[{drawn}]", "changing")
    assert bool(found) is changes


def test_what_is_called_a_loss_is_one() -> None:
    assert "host-read item: extra.total_loss.item()" in in_step("extra.total_loss.item()")
    assert said("def show(loss):\n    print(loss.item())\n", "host-read") == []
