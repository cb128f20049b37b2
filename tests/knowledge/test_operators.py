"""The generated tables, and how they are asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from xlamig.knowledge.aten import made_of
from xlamig.knowledge.operators import DATA, STATUSES, Operators, operators

TABLES = sorted(path.stem.removeprefix("operators-") for path in DATA.glob("operators-*.json"))


def made(**rows: Any) -> Operators:
    about = {"target": "t", "versions": {}, "date": "", "command": "", "method": "", "seconds": 0}
    return Operators(
        {"about": about, "operators": {key.replace("__", "."): row for key, row in rows.items()}}
    )


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest) -> Operators:
    return operators(request.param)


def test_torch_xla_has_a_table() -> None:
    assert "torch_xla" in TABLES


def test_a_target_without_a_table_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        operators("nowhere")


# ------------------------------------------------------------------------------ the files


def test_one_operator_per_line(table: Operators) -> None:
    lines = (DATA / f"operators-{table.target}.json").read_text("utf-8").splitlines()
    rows = [line for line in lines if line.startswith(('"torch.', '"Tensor.'))]
    written = {name for row in rows for name in json.loads(f"{{{row.rstrip(',')}}}")}
    assert len(rows) == len(written)
    assert set(table.names) - written <= {made.name for made in made_of()}


def test_names_are_canonical_and_in_order(table: Operators) -> None:
    assert list(table.names) == sorted(table.names)
    assert all(name.startswith(("torch.", "Tensor.")) for name in table.names)


def test_provenance_is_complete(table: Operators) -> None:
    about = table.provenance
    assert about.target == table.target and table.target in about.versions and "torch" in about.versions
    assert about.date and about.method and about.seconds >= 0
    assert "tools/operators_" in about.command


def problems(table: Operators) -> Iterator[str]:
    for operator in table:
        for case in (operator, *operator.cases):
            if case.status not in STATUSES:
                yield f"{operator.name}: status {case.status}"
            if any("::" not in name for name in case.aten):
                yield f"{operator.name}: {case.aten}"
        if operator.same_as and (operator.same_as not in table or table[operator.same_as].same_as):
            yield f"{operator.name}: known as {operator.same_as}"
        if operator.status == "fallback" and not operator.aten:
            yield f"{operator.name}: falls back, nothing says what"
        if operator.status == "conditional" and all(case.backward for case in operator.cases):
            yield f"{operator.name}: conditional without a case"
        if operator.status == "unknown" and not operator.note:
            yield f"{operator.name}: unknown without a reason"
        if any(not case.when and not case.text for case in operator.cases):
            yield f"{operator.name}: a case without a condition"
        if operator.backward == operator.status:
            yield f"{operator.name}: a gradient that does not differ"


def test_rows_are_sound(table: Operators) -> None:
    assert list(problems(table)) == []


def test_the_check_of_rows_finds_mistakes() -> None:
    table = made(
        torch__a={"status": "fallback"}, torch__b={"status": "conditional"}, torch__c={"status": "x"}
    )
    assert len(list(problems(table))) == 3


# ------------------------------------------------------------------------------ what it knows


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("torch.matmul", "native"),
        ("torch.nn.functional.scaled_dot_product_attention", "native"),
        ("torch.median", "fallback"),
        ("torch.nn.functional.huber_loss", "fallback"),
        ("torch.fft.fft", "fallback"),
        ("torch.amax", "conditional"),
        ("torch.nn.functional.interpolate", "conditional"),
    ],
)
def test_status_on_torch_xla(name: str, status: str) -> None:
    assert operators("torch_xla")[name].status == status


@pytest.mark.parametrize(
    ("name", "when", "status"),
    [
        ("torch.amax", {"dim": {"absent": True}}, "wrong-result"),
        ("torch.norm", {"p": ["inf", "-inf"]}, "wrong-result"),
        ("torch.scatter_reduce", {"reduce": "mean"}, "fallback"),
        ("torch.scatter_reduce", {"include_self": False}, "fallback"),
        ("torch.nn.functional.interpolate", {"mode": "bicubic"}, "fallback"),
    ],
)
def test_cases_on_torch_xla(name: str, when: dict[str, Any], status: str) -> None:
    found = [case.status for case in operators("torch_xla")[name].cases if case.when == when]
    assert found == [status]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Tensor.unfold", "torch.nn.functional.unfold"),
        ("torch.maximum", "torch.max"),
        ("torch.minimum", "torch.min"),
        ("torch.special.round", "torch.round"),
        ("torch.linalg.norm", "torch.norm"),
        ("torch.triplet_margin_loss", "torch.nn.functional.triplet_margin_loss"),
    ],
)
def test_a_name_in_common_is_no_operator_in_common(table: Operators, name: str, other: str) -> None:
    assert table.known_as(name) != table.known_as(other)


@pytest.mark.parametrize(
    ("name", "other"), [("torch.relu", "torch.nn.functional.relu"), ("torch.special.expit", "torch.sigmoid")]
)
def test_other_names_of_an_operator_share_its_row(table: Operators, name: str, other: str) -> None:
    assert table.known_as(name) == table.known_as(other)


@pytest.mark.parametrize(
    ("name", "aten"),
    [
        ("Tensor.unfold", "aten::unfold_copy"),
        ("torch.nn.functional.unfold", "aten::im2col"),
        ("torch.nn.Unfold", "aten::im2col"),
        ("torch.nn.functional.fold", "aten::col2im"),
    ],
)
def test_the_operator_that_is_not_lowered(name: str, aten: str) -> None:
    assert operators("torch_xla")[name].aten == (aten,)


def test_float64_and_complex_numbers() -> None:
    cases = {case.text: case.status for case in operators("torch_xla")["torch.fft.fft"].cases}
    assert cases["for float64 tensors"] == "wrong-result"


def test_a_wrong_gradient_is_told_apart() -> None:
    elu = operators("torch_xla")["torch.nn.functional.elu"]
    assert (elu.status, elu.backward) == ("native", "wrong-result")


def test_hidden_reads_and_dynamic_shapes() -> None:
    table = operators("torch_xla")
    assert table["torch.linalg.inv"].host_read
    assert table["torch.nonzero"].dynamic_shape
    assert not table["torch.add"].host_read and not table["torch.median"].dynamic_shape


# ------------------------------------------------------------------------------ names


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("median", "torch.median"),
        ("torch.median", "torch.median"),
        ("torch.median()", "torch.median"),
        ("x.median", "Tensor.median"),
        ("Tensor.median", "Tensor.median"),
        ("torch.Tensor.median", "Tensor.median"),
        ("aten::median", "torch.median"),
        ("aten::median.dim_values", "torch.median"),
        ("torch.ops.aten.median.default", "torch.median"),
        ("aten::linalg_inv", "torch.linalg.inv"),
        ("aten::unfold", "Tensor.unfold"),
        ("unfold", "torch.nn.functional.unfold"),
        ("F.mish", "torch.nn.functional.mish"),
        ("mish", "torch.nn.functional.mish"),
        ("nn.LSTM", "torch.nn.LSTM"),
        ("LSTM", "torch.nn.LSTM"),
        ("nn.functional.mish", "torch.nn.functional.mish"),
        ("linalg.inv", "torch.linalg.inv"),
        ("x.lerp_", "Tensor.lerp_"),
    ],
)
def test_spellings(asked: str, name: str) -> None:
    found = operators("torch_xla").find(asked)
    assert found is not None and found.name == name


@pytest.mark.parametrize("asked", ["np.median", "numpy.median", "math.exp", "torch.no_such_thing", "", "."])
def test_no_operator(asked: str) -> None:
    assert operators("torch_xla").find(asked) is None


def test_another_name_has_the_same_knowledge() -> None:
    table = made(torch__a={"status": "fallback", "aten": ["aten::a"]}, Tensor__a={"same": "torch.a"})
    assert (table["Tensor.a"].status, table["Tensor.a"].same_as) == ("fallback", "torch.a")


def test_not_run_is_neither_supported_nor_missing() -> None:
    table = made(torch__a={"status": "unknown", "note": "no sample"})
    found = table.find("a")
    assert found is not None and found.status == "unknown"
    assert table.find("b") is None


def test_nearest_names() -> None:
    table = made(torch__median={"status": "native"}, torch__mean={"status": "native"})
    assert table.nearest("torch.medain")[0] == "torch.median"
    assert table.nearest("F.zzz") == ()


def test_operators_behind_an_aten_operator() -> None:
    table = made(torch__a={"status": "fallback", "aten": ["aten::_a.x"]}, torch__b={"status": "native"})
    assert [operator.name for operator in table.through("aten::_a")] == ["torch.a"]
