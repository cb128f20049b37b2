"""Single aten operators: what `ops`, `check` and `trace` say about them, which has to be the same."""

from __future__ import annotations

import pytest

from xlamig.config.settings import TARGETS
from xlamig.knowledge import aten
from xlamig.knowledge.operators import Operator, Operators, operators
from xlamig.observations import Event
from xlamig.observe import explain
from xlamig.rulebook.operators import OperatorTable

XLA: Operators = operators("torch_xla")
FALLBACKS = sorted(
    {
        name
        for operator in XLA
        for part in (operator, *operator.cases)
        for name in (*part.aten, *(operator.backward_aten if part is operator else ()))
    }
)


def answers(name: str) -> list[Operator]:
    found = XLA.find(name)
    return [*([found] if found else []), *XLA.through(name)]


@pytest.mark.parametrize("target", TARGETS)
def test_check_and_ops_say_the_same_of_every_operator(target: str) -> None:
    table = OperatorTable(target, None)
    measured = operators(target)
    other = [
        operator.name
        for operator in measured
        if (row := table.find(operator.name)) is None
        or row.values[target]["status"] != operator.status
        or tuple(row.values[target].get("aten", ())) != operator.aten
        or row.values[target].get("backward") != operator.backward
    ]
    assert other == []


def test_ops_knows_every_operator_that_a_trace_can_name() -> None:
    unknown = [name for name in FALLBACKS if not answers(name)]
    assert unknown == []


def test_ops_says_that_some_call_of_it_leaves_the_device() -> None:
    quiet = [
        name
        for name in FALLBACKS
        if all(one.status == "native" and one.backward in (None, "native") for one in answers(name))
        and not any(name.partition(".")[0] == row.aten for row in aten.one_device())
    ]
    # The dispatcher has kernels for these, which hand some calls to the CPU; the rows that found out say so.
    assert all(XLA.dispatch(name) == "kernel" for name in quiet)


def test_trace_sends_every_fallback_to_the_rule_that_check_uses() -> None:
    for name in FALLBACKS:
        event = Event("operator", "fallback", None, "step", 1, 0, 1, 1, 0, 0.0, 0.0, 1, operators=(name,))
        rule = explain._event(event).rule
        assert rule == ("XLA208" if name.startswith("torchvision::") else "XLA501")


def test_no_table_counts_what_is_the_cpu_client_s_alone() -> None:
    assert [name for name in FALLBACKS if aten.is_client_only(name)] == []


@pytest.mark.parametrize(
    ("name", "only"),
    [
        ("aten::upsample_nearest2d_backward", True),
        ("aten::upsample_bilinear2d_backward", True),
        ("aten::upsample_nearest2d_backward.grad_input", True),
        ("aten::upsample_bicubic2d_backward", False),
        ("aten::upsample_nearest2d", False),
        ("aten::median", False),
    ],
)
def test_client_only(name: str, only: bool) -> None:
    assert aten.is_client_only(name) is only


@pytest.mark.parametrize(
    ("name", "found", "status"),
    [
        ("aten::_weight_norm_interface", "aten::_weight_norm_interface", "fallback"),
        ("nn.utils.weight_norm", "torch.nn.utils.weight_norm", "conditional"),
        (
            "torch.nn.utils.parametrizations.weight_norm",
            "torch.nn.utils.parametrizations.weight_norm",
            "conditional",
        ),
        ("nn.Upsample", "torch.nn.Upsample", "conditional"),
        ("torch.nn.modules.upsampling.Upsample", "torch.nn.Upsample", "conditional"),
        ("Tensor.unfold", "Tensor.unfold", "fallback"),
        ("torch.Tensor.unfold", "Tensor.unfold", "fallback"),
        ("aten::median.dim", "torch.median", "fallback"),
        ("torch.ops.aten.im2col.default", "aten::im2col", "fallback"),
        ("aten::upsample_nearest2d_backward", "aten::upsample_nearest2d_backward", "native"),
    ],
)
def test_names_are_found_however_they_are_written(name: str, found: str, status: str) -> None:
    operator = XLA.find(name)
    assert operator is not None
    assert (operator.name, operator.status) == (found, status)


@pytest.mark.parametrize("name", ["aten::", "aten::no_such_operator", "torch.ops.aten.nope", "nn.utils.nope"])
def test_names_of_nothing(name: str) -> None:
    assert XLA.find(name) is None
