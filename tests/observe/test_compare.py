"""A port held against its reference: what differs, what rounding explains, and the advice."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from tests.observe.trained import GRADIENTS, TRAINED

from xlamig.observations import Check, Group, Mark, Operation, Optimizer, Spot, Training
from xlamig.observe import compare
from xlamig.observe.difference import first_difference

FIRST, HEAD = TRAINED.parameters
TIED = (("Net.first.weight", "Net.head.weight"),)


def failing(port: Training, reference: Training = TRAINED, shaken: Training | None = None) -> list[Check]:
    return [c for c in compare.checks(port, reference, shaken or reference, 0.02) if not c.passed]


def with_gradients(*steps: dict[str, Mark]) -> Training:
    return replace(TRAINED, optimizers=(replace(TRAINED.optimizers[0], gradients=steps),))


def scaled(factor: float) -> dict[str, Mark]:
    return {name: (mark[0] * factor, mark[1] * factor) for name, mark in GRADIENTS.items()}


def test_the_same_run_passes() -> None:
    assert failing(TRAINED) == []


@pytest.mark.parametrize(
    ("changed", "title"),
    [
        ({"parameters": (FIRST,)}, "it has the reference's parameters"),
        ({"parameters": (FIRST, HEAD, replace(HEAD, name="B"))}, "it has the reference's parameters"),
        ({"parameters": (replace(FIRST, shape=(3, 4)), HEAD)}, "it has the reference's parameters"),
        ({"ties": TIED}, "the same parameters are tied"),
        ({"losses": TRAINED.losses[:-1]}, "optimizers step as often"),
        ({"losses": (2.0, 1.8, 1.5, 1.2, 1.0, 0.9, 0.8, 0.6)}, "the losses are the reference's"),
        ({"losses": (2.0, math.nan, 1.5, 1.2, 1.0, 0.9, 0.8, 0.7)}, "the losses are the reference's"),
        ({"losses": (-2.0, *TRAINED.losses[1:])}, "the losses are the reference's"),
        ({"started": {**TRAINED.started, "Net.first.weight": (3.1, 1.0)}}, "it starts from the same values"),
        ({"state": {**TRAINED.state, "Net.norm.mean": (0.0, 0.0)}}, "8 steps do the same to each tensor"),
        ({"outputs": {"Net": ((4.5, 1.0),)}}, "evaluation gives the same outputs"),
    ],
)  # fmt: skip
def test_one_check_fails(changed: dict[str, Any], title: str) -> None:
    assert title in [check.title for check in failing(replace(TRAINED, **changed))]


def test_lost_weight_tying_names_the_parameters_and_its_rule() -> None:
    (check,) = failing(TRAINED, replace(TRAINED, ties=TIED))
    assert check.rule == "XLA406"
    assert "`Net.first.weight`, `Net.head.weight` are one parameter in the reference" in check.found


def test_a_frozen_layer() -> None:
    frozen = replace(TRAINED, parameters=(replace(FIRST, change=None), HEAD))
    titles = [check.title for check in failing(frozen)]
    assert "the same parameters train" in titles


def test_what_a_disturbance_like_rounding_changes_proves_nothing() -> None:
    port = replace(TRAINED, losses=(*TRAINED.losses[:-1], 0.75))
    shaken = replace(TRAINED, losses=(*TRAINED.losses[:-1], 0.72))
    assert failing(port, shaken=shaken) == []
    assert failing(port) != []


def test_the_port_may_rename_its_classes() -> None:
    port = replace(
        TRAINED,
        parameters=tuple(replace(one, name=one.name.replace("Net", "Ported")) for one in TRAINED.parameters),
        started={name.replace("Net", "Ported"): mark for name, mark in TRAINED.started.items()},
        state={name.replace("Net", "Ported"): mark for name, mark in TRAINED.state.items()},
        outputs={"Ported": ((4.0, 1.0),)},
        optimizers=(
            replace(
                TRAINED.optimizers[0],
                gradients=({name.replace("Net", "Ported"): m for name, m in GRADIENTS.items()},) * 3,
            ),
        ),
    )
    assert failing(port) == []
    wrong = replace(port, outputs={"Ported": ((5.0, 1.0),)})
    assert [check.title for check in failing(wrong)] == ["evaluation gives the same outputs"]


@pytest.mark.parametrize(
    ("port", "advice"),
    [
        (with_gradients(scaled(4.0), GRADIENTS, GRADIENTS), "reduction"),
        (with_gradients(GRADIENTS, scaled(2.0), GRADIENTS), "zero_grad"),
        (with_gradients({"Net.head.weight": (2.0, -1.0)}), "no gradient here"),
        (with_gradients({**GRADIENTS, "Net.other": (1.0, 1.0)}), "Freeze"),
        (with_gradients({**GRADIENTS, "Net.first.weight": (1.0, -0.9)}), "targets"),
    ],
)
def test_gradients_say_what_usually_causes_their_difference(port: Training, advice: str) -> None:
    check = next(check for check in failing(port) if check.title == "the gradients are the reference's")
    assert advice in check.advice


def test_faint_gradients_are_rounding() -> None:
    reference = with_gradients({**GRADIENTS, "Net.bias": (1e-7, 1e-7)})
    assert failing(with_gradients({**GRADIENTS, "Net.bias": (5e-6, 5e-6)}), reference) == []


@pytest.mark.parametrize(("noise", "passes"), [(1.03, True), (1.001, False)])
def test_a_disturbance_that_cancels_out_in_one_tensor(noise: float, passes: bool) -> None:
    names = ("Net.a", "Net.b", "Net.c")
    reference = with_gradients(dict.fromkeys(names, (1.0, 0.5)))
    shaken = with_gradients({**dict.fromkeys(names, (noise, 0.5)), "Net.c": (1.0, 0.5)})
    port = with_gradients({**dict.fromkeys(names, (1.0, 0.5)), "Net.c": (1.05, 0.5)})
    assert (not failing(port, reference, shaken)) is passes


def test_random_numbers_in_another_order_are_named() -> None:
    port = replace(TRAINED, losses=(2.5, *TRAINED.losses[1:]), draws=(9, *TRAINED.draws[1:]))
    assert "random numbers" in failing(port)[0].advice


# ------------------------------------------------------------------------------ the line


def operation(name: str, value: float, row: int = 1) -> Operation:
    return Operation(name, Spot("train.py", row, 1, row, 9), ((value, value),))


def test_the_first_operation_with_another_value() -> None:
    port = [operation("torch.add", 1.0), operation("torch.mul", 2.5, 7), operation("torch.sum", 3.0, 8)]
    there = [operation("torch.add", 1.0), operation("torch.mul", 2.0, 5), operation("torch.sum", 2.0, 6)]
    found = first_difference(port, there, 0.02)
    assert found and found.port and found.reference
    assert (found.port.spot, found.reference.spot) == (port[1].spot, there[1].spot)


def test_an_operation_of_the_reference_that_the_port_lacks() -> None:
    there = [operation("torch.mean", 1.0), operation("torch.add", 2.0, 5)]
    found = first_difference(there[:1], there, 0.02)
    assert found and found.port is None and found.reference is there[1]


def test_copies_to_the_device_are_no_difference() -> None:
    port = [operation("torch.Tensor.to", 1.0), operation("torch.mean", 1.0)]
    assert first_difference(port, port[1:], 0.02) is None


def test_optimizers_are_matched_in_order() -> None:
    other = Optimizer("Adam", None, 8, (GRADIENTS,) * 3)
    assert [c.title for c in failing(replace(TRAINED, optimizers=(other,)))] == ["optimizers step as often"]


def test_a_parameter_that_only_the_port_trains() -> None:
    reference = replace(TRAINED, parameters=(FIRST, replace(HEAD, change=None)))
    (check,) = [c for c in failing(TRAINED, reference) if c.title == "the same parameters train"]
    assert "change only here" in check.found


# ------------------------------------------------------------------------------ hyperparameters


def with_hyperparameters(changes: dict[int, tuple[Group, ...]]) -> Training:
    return replace(TRAINED, optimizers=(replace(TRAINED.optimizers[0], hyperparameters=changes),))


SCHEDULED = {1: ({"lr": 0.1, "betas": (0.9, 0.99)},), 4: ({"lr": 0.01, "betas": (0.9, 0.99)},)}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({1: SCHEDULED[1]}, "`lr` of SGD is 0.1, the reference's 0.01 from step 4 on"),
        ({1: ({"lr": 0.2},), 4: SCHEDULED[4]}, "`lr` of SGD is 0.2, the reference's 0.1 from step 1 on"),
        ({1: ({"lr": 0.1, "betas": (0.9, 0.9)},)}, "`betas` of SGD is (0.9, 0.9)"),
        ({1: (*SCHEDULED[1], *SCHEDULED[1])}, "SGD has 2 groups of parameters, the reference 1"),
    ],
)
def test_other_hyperparameters_are_named_with_their_step(
    changes: dict[int, tuple[Group, ...]], found: str
) -> None:
    (check,) = failing(with_hyperparameters(changes), with_hyperparameters(SCHEDULED))
    assert found in check.found
    assert check.spot == TRAINED.optimizers[0].spot


@pytest.mark.parametrize(
    "changes",
    [
        SCHEDULED,
        {1: ({"lr": 0.1 + 1e-9},), 4: ({"lr": 0.01, "betas": (0.9, 0.99)},)},
        {1: ({"lr": 0.1, "own": 3.0},), 4: ({"lr": 0.01},)},
        {**SCHEDULED, 9: ({"lr": 7.0},)},  # after the last step
    ],
)
def test_hyperparameters_that_compute_the_same(changes: dict[int, tuple[Group, ...]]) -> None:
    assert failing(with_hyperparameters(changes), with_hyperparameters(SCHEDULED)) == []


# ------------------------------------------------------------------------------ averages


def with_averages(*after_one: Mark) -> Training:
    names = [f"variable average[{i}]" for i in range(len(after_one))]
    return replace(
        TRAINED,
        started=TRAINED.started | dict.fromkeys(names, (1.0, 1.0)),
        after_one=dict(zip(names, after_one, strict=True)),
    )


UPDATED, STILL = (1.2, 0.9), (1.0, 1.0)


@pytest.mark.parametrize(
    ("averages", "passes"),
    [
        ((UPDATED, UPDATED, UPDATED), True),
        (((1.22, 0.89), UPDATED, UPDATED), True),
        ((STILL, UPDATED, UPDATED), True),  # one of three may be chaotic
        ((STILL, STILL, UPDATED), False),
        ((STILL, STILL, STILL), False),
    ],
)
def test_averages_that_the_first_step_leaves_behind(averages: tuple[Mark, ...], passes: bool) -> None:
    failed = failing(with_averages(*averages), with_averages(UPDATED, UPDATED, UPDATED))
    assert (not failed) is passes
    assert passes or "`variable average`" in failed[0].found


def test_averages_that_the_reference_updates_later() -> None:
    assert failing(with_averages(UPDATED), with_averages(STILL))
