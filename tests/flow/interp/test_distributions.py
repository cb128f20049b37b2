"""Checks of torch's distributions in classes that derive from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

HEAD = """import torch
from pyro import distributions as pyro
from torch.distributions import Distribution, Normal, TransformedDistribution, constraints


"""
OWN = """class Own(Distribution):
    arg_constraints = {held}

    def __init__(self, loc, validate_args=None):
        self.loc = loc
        super().__init__(loc.shape{given})
"""


def checked(text: str) -> list[tuple[int, str]]:
    """Return the rows of the module, from 1, that XLA110 reports, and how sure it is."""
    options = Options(
        {"select": ["XLA110"], "confidence": "possible"},
        isolated=True,
        stdin=("own.py", (HEAD + text).encode()),
    )
    found = [one for finding in engine.check([Path("own.py")], options).findings for one in finding.places]
    return sorted((one.place.location.row - HEAD.count("\n"), one.confidence) for one in found)


@pytest.mark.parametrize(
    ("held", "given", "found"),
    [
        ('{"loc": constraints.real}', ", validate_args=validate_args", [(6, "likely")]),
        ('{"loc": constraints.real}', "", [(6, "likely")]),
        ('{"loc": constraints.real}', ", validate_args=False", []),
        ('{"loc": constraints.dependent}', ", validate_args=validate_args", []),
        ("{}", "", []),
    ],
)
def test_constructor_checks_what_has_a_constraint(
    held: str, given: str, found: list[tuple[int, str]]
) -> None:
    assert checked(OWN.format(held=held, given=given)) == found


def method(base: str, call: str, before: str = "") -> str:
    return f"{before}class Own({base}):\n    def log_prob(self, value):\n        return {call}\n"


MIXIN = "class Scored:\n    def log_prob(self, value):\n        return value\n\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (method("Normal", "super().log_prob(value)"), [(3, "likely")]),
        (method("Normal, Scored", "super().log_prob(value)", MIXIN), [(7, "likely")]),
        (method("Scored, Normal", "super().log_prob(value)", MIXIN), []),
        (method("Distribution", "super().log_prob(value)"), []),
        (method("TransformedDistribution", "self.base_dist.log_prob(value)"), [(3, "likely")]),
        (method("pyro.Folded", "super().log_prob(value)"), [(3, "likely")]),
        (method("pyro.torch_distribution.TorchDistributionMixin", "super().log_prob(value)"), []),
        (method("torch.nn.Module", "self.base_dist.sample(value)"), []),
        (method("object", "self.base_dist.sample(value)"), []),
    ],
)
def test_methods_of_torch_check_the_value(text: str, found: list[tuple[int, str]]) -> None:
    assert checked(text) == found


def test_object_is_a_distribution_by_its_name() -> None:
    lines = "    return {0}.log_prob(batch.cuda())\n"
    text = "def loss_fn(prior_dist, other, batch):\n" + lines
    step = "for batch in loader:\n    loss_fn(a, b, batch).backward()\n    optimizer.step()\n"
    assert checked(text.format("prior_dist") + step) == [(2, "likely")]
    assert checked(text.format("other") + step) == [(2, "possible")]
    own = "class Policy:\n    def log_prob(self, x):\n        return x\n\n"
    assert checked(own + text.format("other") + step) == []


def test_object_is_a_distribution_by_its_annotation() -> None:
    lines = "def loss_fn(other: {0}, batch):\n    return other.log_prob(batch.cuda())\n"
    step = "for batch in loader:\n    loss_fn(a, batch).backward()\n    optimizer.step()\n"
    assert checked(lines.format("Distribution") + step) == [(2, "likely")]
    assert checked(lines.format("Scorer") + step) == [(2, "possible")]


@pytest.mark.parametrize(
    ("made", "asked", "found"),
    [
        ("Normal(0.0, 1.0)", "cdf(batch)", [(4, "likely")]),
        ("Normal(0.0, scale=1.0)", "log_prob(batch)", [(4, "likely")]),
        ("Normal(0.0, 1.0, validate_args=False)", "cdf(batch)", []),
        ("Normal(0.0, 1.0)", "cdf(torch.ones(3))", []),
        ("Normal(0.0, 1.0)", "sample((3,))", []),
        ("Normal(batch, 1.0)", "log_prob(batch)", [(3, "likely")]),
    ],
)
def test_distribution_of_numbers_checks_what_it_is_asked(
    made: str, asked: str, found: list[tuple[int, str]]
) -> None:
    text = f"""for batch in loader:
    batch = batch.cuda()
    prior = {made}
    loss = prior.{asked}
    loss.sum().backward()
    optimizer.step()
"""
    assert checked(text) == found


def test_distribution_made_once_checks_what_it_is_asked() -> None:
    text = "prior = Normal(torch.zeros(3).cuda(), 1.0)\nfor batch in loader:\n"
    text += "    prior.log_prob(batch.cuda()).sum().backward()\n    optimizer.step()\n"
    assert checked(text) == [(3, "likely")]


def test_constructor_that_runs_once_is_not_reported() -> None:
    own = OWN.format(held='{"loc": constraints.real}', given="")
    assert checked(own + "\nprior = Own(torch.zeros(4).cuda())\n") == []


@pytest.mark.parametrize(
    ("switch", "found"),
    [
        ("Distribution.set_default_validate_args(False)", []),
        ("Distribution._validate_args = False", []),
        ("Distribution.set_default_validate_args(__debug__)", [(6, "likely")]),
        ("Other._validate_args = False", [(6, "likely")]),
        ("checks = Distribution._validate_args", [(6, "likely")]),
    ],
)
def test_only_false_switches_the_checks_off(switch: str, found: list[tuple[int, str]]) -> None:
    own = OWN.format(held='{"loc": constraints.real}', given="")
    assert checked(f"{own}\n{switch}\n") == found
