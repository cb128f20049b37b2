"""Spot checks of the probe of torch_tpu against its known behaviour."""

from __future__ import annotations

import json
from typing import Any

import pytest

from xlamig.knowledge.operators import DATA, Case, Operators, operators

DOCUMENT: dict[str, Any] = json.loads((DATA / "operators-torch_tpu.json").read_text("utf-8"))
ROWS: dict[str, dict[str, Any]] = DOCUMENT["operators"]
OWN = {name: row for name, row in ROWS.items() if "same" not in row}


@pytest.fixture
def table() -> Operators:
    return operators("torch_tpu")


def cases(table: Operators, name: str, **when: Any) -> list[Case]:
    return [case for case in table[name].cases if case.when == when]


def test_provenance(table: Operators) -> None:
    known = table.provenance
    assert (known.versions["torch"], known.versions["torch_tpu"]) == ("2.13.0", "0.2.0")
    assert known.command == "python tools/operators_torch_tpu.py"
    assert "no TPU" in known.method
    assert sum(DOCUMENT["about"]["aten_overloads"].values()) > 3000


def test_no_row_claims_what_cannot_be_known_without_a_tpu() -> None:
    statuses = {row["status"] for row in OWN.values()}
    assert statuses == {"native", "error", "conditional", "unknown"}  # torch_tpu has no fallback


def test_every_row_says_how_much_was_seen() -> None:
    for name, row in OWN.items():
        unknown = row["status"] == "unknown"
        assert ("known" in row, "note" in row) == (False, True) if unknown else True, name
        assert unknown or row["known"] in ("probe", "registry"), name


def test_what_only_the_registry_says_has_neither_cases_nor_a_message() -> None:
    for name, row in OWN.items():
        if row.get("known") == "registry":
            assert row["status"] in ("native", "error"), name
            assert "error" not in row, name


def test_errors_name_an_operator_or_the_message() -> None:
    for name, row in OWN.items():
        if row["status"] == "error":
            assert row.get("aten") or row.get("error"), name


@pytest.mark.parametrize(
    ("name", "aten"),
    [
        ("torch.median", "aten::median"),
        ("Tensor.median", "aten::median.dim_values"),
        ("torch.nn.functional.mish", "aten::mish.out"),
        ("torch.nn.Mish", "aten::mish.out"),
        ("torch.std_mean", "aten::std_mean.correction"),
        ("torch.linalg.cholesky", "aten::linalg_cholesky_ex.L"),
        ("torch.linalg.det", "aten::_linalg_det.result"),
        ("torch.linalg.slogdet", "aten::_linalg_slogdet.sign"),
        ("torch.nonzero_static", "aten::nonzero_static"),
        ("torch.nn.HuberLoss", "aten::huber_loss"),
        ("torch.special.erfc", "aten::erfc.out"),
        ("Tensor.erfc_", "aten::erfc.out"),
    ],
)
def test_operators_without_a_kernel(table: Operators, name: str, aten: str) -> None:
    operator = table[name]
    assert operator.status == "error"
    assert aten in operator.aten
    assert "is not implemented for TPU" in operator.error


@pytest.mark.parametrize(
    "name",
    ["torch.add", "torch.fft.fft", "torch.nn.LSTM", "torch.nn.functional.cross_entropy", "torch.topk",
     "torch.isin", "torch.searchsorted", "torch.linalg.qr", "torch.nn.functional.grid_sample",
     "Tensor.scatter_reduce"],
)  # fmt: skip
def test_operators_with_a_kernel(table: Operators, name: str) -> None:
    assert table[name].status in ("native", "conditional")
    assert not [case for case in table[name].cases if case.status == "error" and case.when]


def test_arguments_that_decide(table: Operators) -> None:
    name = "torch.nn.functional.interpolate"
    assert table[name].status == "conditional"
    (trilinear,) = cases(table, name, mode="trilinear")
    assert (trilinear.status, trilinear.aten) == ("error", ("aten::upsample_trilinear3d.out",))
    assert cases(table, name, antialias=True)[0].status == "error"
    assert not cases(table, name, mode="bilinear")
    (unsorted,) = cases(table, "torch.unique", sorted=False)
    assert "sorted=False is not yet supported" in unsorted.error


def test_types_that_decide(table: Operators) -> None:
    for name in ("torch.matmul", "torch.bmm", "torch.mv", "torch.nn.functional.conv2d"):
        words = [case.text for case in table[name].cases if case.status == "error"]
        assert any("int64" in text for text in words), name
        assert not any("float32" in text for text in words), name


def test_gradients_that_are_missing(table: Operators) -> None:
    pool = table["torch.nn.functional.adaptive_max_pool2d"]
    assert (pool.status, pool.backward) == ("native", "error")
    assert pool.backward_aten == ("aten::adaptive_max_pool2d_backward.grad_input",)
    (linear,) = cases(table, "torch.nn.functional.interpolate", mode="linear")
    assert linear.backward
    assert table["torch.nn.functional.gelu"].backward is None


def test_values_that_are_read(table: Operators) -> None:
    for name in ("torch.nonzero", "torch.unique", "Tensor.item", "torch.linalg.inv", "torch.masked_select"):
        assert table[name].host_read, name
    for name in ("torch.nonzero", "torch.unique", "torch.masked_select"):
        assert table[name].dynamic_shape, name
    assert not table["torch.where"].host_read


def test_random_numbers_need_a_tpu_to_be_tried() -> None:
    for name in ("torch.randn", "torch.rand", "torch.bernoulli", "torch.nn.Dropout"):
        assert (ROWS[name]["status"], ROWS[name]["known"]) == ("native", "registry"), name


def test_a_form_in_place_has_a_row_of_its_own_where_it_differs(table: Operators) -> None:
    assert table["torch.mvlgamma"].status == "native"
    assert table["Tensor.mvlgamma_"].aten == ("aten::mvlgamma.out",)
    assert table["Tensor.add_"].same_as == "torch.add"


def test_what_was_not_tried_is_unknown(table: Operators) -> None:
    assert table["Tensor.coalesce"].status == "unknown"
    assert table["Tensor.coalesce"].note == "made of other operators"
