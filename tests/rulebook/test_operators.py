"""The table "operators": measured rows, joined with what people wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_books import VERDICT, api, arg, book, judge, page, reported

from xlamig.config.settings import TARGETS, Target
from xlamig.knowledge import operators
from xlamig.rulebook import Rulebook
from xlamig.rulebook.operators import OperatorTable

ROWS: dict[str, dict[str, Any]] = {
    "torch.add": {"status": "native"},
    "torch.median": {"status": "fallback", "aten": ["aten::median", "aten::median.dim"]},
    "Tensor.median": {"same": "torch.median"},
    "Tensor.count": {"status": "fallback"},
    "torch.amax": {
        "status": "conditional",
        "cases": [
            {"status": "error", "text": "an empty tensor"},
            {"status": "wrong-result", "when": {"dim": {"absent": True}}, "aten": ["aten::amax"]},
            {"status": "fallback", "when": {"p": ["inf", 3]}, "backward": True},
        ],
    },
    "torch.item": {"status": "native", "host_read": True},
}
WRITTEN = """
foreign-methods = ["mode"]
[row."torch.median"]
alias = ["torch.old_median"]
instead = "torch.kthvalue"
[row."torch.median".torch_xla]
severity = "info"
mechanism = "cpu-fallback"
message = "{name}: {row.instead}, not {row.torch_xla.aten}"
[row."torch.mine"]
instead = "nothing"
"""


SHIPPED = operators.DATA


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    about = {"target": "torch_xla", "versions": {}, "date": "", "command": "", "method": "", "seconds": 0}
    text = json.dumps({"about": about, "operators": ROWS})
    (tmp_path / "operators-torch_xla.json").write_text(text, encoding="utf-8")
    monkeypatch.setattr(operators, "DATA", tmp_path)
    operators.operators.cache_clear()
    yield
    operators.operators.cache_clear()


def match(row: str) -> str:
    return f'[[match]]\nfact = "api-use"\ntable = "operators"\nrow = {{ torch_xla = {{ {row} }} }}\n'


def rules(folder: Path, text: str, **settings: Any) -> Rulebook:
    return book(folder, page(text), tables={"api/operators.toml": WRITTEN}, **settings)


def names(found: Rulebook) -> set[str]:
    return set(found.interest.names)


def test_what_is_supported_is_not_looked_for(tmp_path: Path) -> None:
    found = rules(tmp_path, match('status = ["fallback", "error"]') + VERDICT)
    assert names(found) == {"torch.median", "Tensor.median", "unknown.median", "Tensor.count"}
    assert reported(found, api("torch.add"), api("torch.item"), api("torch.mine"), api("torch.amax")) == []


def test_other_keys_of_the_measured_row_can_be_asked_for(tmp_path: Path) -> None:
    found = rules(tmp_path, match("host_read = true") + VERDICT)
    assert names(found) == {"torch.item"}
    assert reported(found, api("torch.item"), api("torch.median")) == ["XLA001"]


def test_nothing_is_known_of_a_target_without_data(tmp_path: Path) -> None:
    text = (match('status = "fallback"') + VERDICT).replace("torch_xla", "torch_tpu")
    assert names(rules(tmp_path, text, target="torch_tpu")) == set()


def test_a_row_is_joined_with_what_people_wrote_of_it(tmp_path: Path) -> None:
    text = match('status = "fallback"') + '[[verdict]]\ntarget = "torch_xla"\nfrom-row = true\n'
    found = rules(tmp_path, text)
    for name in ("torch.median", "Tensor.median"):
        (judgement,) = judge(found, api(name))
        expected = f"{name}: torch.kthvalue, not aten::median, aten::median.dim"
        assert (judgement.finding.message, judgement.finding.severity) == (expected, "info")
    assert found.interest.aliases == {"torch.old_median": "torch.median"}
    assert reported(found, api("Tensor.count")) == []


def test_a_row_may_be_written_under_any_name_of_its_operator(tmp_path: Path) -> None:
    text = page(match('status = "fallback"') + VERDICT, message="{row.instead}")
    written = '[row."Tensor.median"]\ninstead = "torch.kthvalue"\n'
    found = book(tmp_path, text, tables={"api/operators.toml": written})
    messages = [j.finding.message for j in judge(found, api("torch.median"), api("Tensor.count", 5, 9))]
    assert messages == ["torch.kthvalue", ""]


def test_a_method_of_an_unknown_object_is_possible_at_most(tmp_path: Path) -> None:
    found = rules(tmp_path, match('status = "fallback"') + VERDICT)
    assert [j.finding.confidence for j in judge(found, api("unknown.median"))] == ["possible"]
    assert [j.finding.confidence for j in judge(found, api("Tensor.median"))] == ["certain"]


@pytest.mark.parametrize("name", ["unknown.count", "unknown.mode", "unknown.add"])
def test_a_method_that_other_objects_have_says_nothing(tmp_path: Path, name: str) -> None:
    ROWS_WITH_MODE = {**ROWS, "Tensor.mode": {"status": "fallback"}}
    document = json.loads((tmp_path / "operators-torch_xla.json").read_text())
    (tmp_path / "operators-torch_xla.json").write_text(json.dumps({**document, "operators": ROWS_WITH_MODE}))
    found = rules(tmp_path, match('status = "fallback"') + VERDICT)
    assert name not in names(found) and "Tensor.mode" in names(found)
    assert reported(found, api(name)) == []


@pytest.mark.parametrize(
    ("call", "status"),
    [
        ({"args": (arg("dim", 1),)}, "conditional"),
        ({"args": (arg("dim", 1),), "complete": False}, "conditional"),
        ({"complete": False}, "conditional"),
        ({"via": "reference"}, "conditional"),
        ({}, "wrong-result"),
    ],
)
def test_arguments_decide_between_cases(tmp_path: Path, call: dict[str, Any], status: str) -> None:
    text = page(match("status = { present = true }") + VERDICT, message="{row.torch_xla.status}")
    (judgement,) = judge(book(tmp_path, text), api("torch.amax", **call))
    assert judgement.finding.message == status


def test_a_method_always_has_its_input(tmp_path: Path) -> None:
    case = {"status": "fallback", "when": {"input": {"absent": True}}}
    rows = {
        "torch.where": {"status": "conditional", "cases": [case]},
        "Tensor.where": {"same": "torch.where"},
    }
    document = json.loads((tmp_path / "operators-torch_xla.json").read_text())
    (tmp_path / "operators-torch_xla.json").write_text(json.dumps({**document, "operators": rows}))
    found = rules(tmp_path, match('status = "fallback"') + VERDICT)
    assert names(found) == {"torch.where"}
    assert reported(found, api("torch.where"), api("Tensor.where")) == ["XLA001"]


@pytest.mark.parametrize(("value", "codes"), [(2, []), (3, ["XLA001"]), (float("inf"), ["XLA001"])])
def test_a_case_of_the_gradient_says_so(tmp_path: Path, value: float, codes: list[str]) -> None:
    found = rules(tmp_path, match('status = "conditional", backward = "fallback"') + VERDICT)
    assert names(found) == {"torch.amax"}
    assert reported(found, api("torch.amax", args=(arg("dim", 0), arg("p", value)))) == codes


def test_methods_of_tensors_matter_only_beside_torch(tmp_path: Path) -> None:
    found = rules(tmp_path, match('status = "fallback"') + VERDICT)
    assert "median" in found.interest.methods
    assert not found.may_matter("x.median()\n")
    assert found.may_matter("import torch\nx.median()\n")


def test_patterns_on_rows_nest(tmp_path: Path) -> None:
    table = '[row."torch.f"]\na = { b = { c = "x", not = "y" } }\n[row."torch.g"]\na = { b = 1 }\n'
    for pattern, codes in (
        ("a = { b = { c = 'x' } }", ["XLA001"]),
        ("a = { b = { c = { not = 'x' } } }", ["XLA001"]),
        ("a = { b = { c = { present = true } } }", ["XLA001"]),
        ("a = { c = { b = 'x' } }", []),
    ):
        text = f'[[match]]\nfact = "api-use"\ntable = "t"\nrow = {{ {pattern} }}\n'
        found = book(tmp_path, page(text + VERDICT), tables={"api/t.toml": table})
        assert reported(found, api("torch.f"), api("torch.g")) == codes


@pytest.mark.parametrize("target", TARGETS)
def test_every_measured_row_can_be_asked(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "DATA", SHIPPED)
    table = OperatorTable(target, None)
    found = [row for name in table.names(lambda values: True) if (row := table.find(name))]
    assert found and all(row.row_for(api(row.name)).values[target]["status"] for row in found)
