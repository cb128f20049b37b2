"""The proof that what is loaded is moved before it is used."""

from __future__ import annotations

import pytest
from reading import facts_in

from xlamig.facts import ApiUse

LOAD = "x = torch.load(f, map_location='cuda')"


def proof(source: str) -> str:
    uses = facts_in(f"import torch\n{source}".replace("LOAD", LOAD), ApiUse)
    return next(use for use in uses if use.name == "torch.load").proofs.get("moved-later", "")


@pytest.mark.parametrize(
    "source",
    [
        "LOAD",
        "LOAD\ny = x['mask'] + z",
        "LOAD\nmodel.load_state_dict(y)",
        "LOAD\ny.to(device)",
        "LOAD\nmodel.load_state_dict(xx)",
        "model.load_state_dict(y)\nLOAD",
        "def f():\n LOAD\ndef g(x): model.load_state_dict(x)",
        "x, y = torch.load(f), 1\nmodel.load_state_dict(x)",
        "x = torch.load(f)['model']\nmodel.load_state_dict(x)",
        "use(torch.load(f))\nmodel.load_state_dict(x)",
    ],
)
def test_it_may_be_used_where_it_is(source: str) -> None:
    assert proof(source) == ""


@pytest.mark.parametrize(
    "source",
    [
        "LOAD\n# x.to(device) later\ny = x + z",
        "LOAD\ny = 'x.to(device)'\ny = x + z",
        "LOAD\nif a: x = x.to(device)\ny = x + z",
        "LOAD\ny = x + z\nx = x.to(device)",
        "LOAD\nmodel.load_state_dict(x['model'])\ny = x['mask'] + z",
        "LOAD\ndef g(x): model.load_state_dict(x)",
        "LOAD\nother.x.to(device)",
    ],
)
def test_some_of_it_may_be_used_where_it_is(source: str) -> None:
    assert proof(source) == ""


@pytest.mark.parametrize(
    ("source", "by"),
    [
        ("model.load_state_dict(torch.load(f))", "load_state_dict"),
        ("LOAD\nmodel.load_state_dict(x)", "x"),
        ("LOAD\nmodel.load_state_dict(x['model'], strict=False)", "x"),
        ("LOAD\nx = x.to(device)", "x"),
        ("def f():\n LOAD\n model.load_state_dict( x )", "x"),
    ],
)
def test_it_is_moved_first(source: str, by: str) -> None:
    assert proof(source) == by
