from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_books import MATCH, VERDICT, api, arg, book, guard, judge, page, reported

from xlamig.facts import Argument, DeviceChoice, Environment, Package, Value

STAR = {"complete": False}  # a call with *args or **kwargs
LOOP, BOTH = frozenset({"loop"}), frozenset({"loop", "no-grad"})


@pytest.mark.parametrize(
    ("pattern", "fitting", "other"),
    [
        ('via = "call"', api(), api(via="import")),
        ('via = ["call", "with"]', api(via="with"), api(via="import")),
        ('via = { not = "call" }', api(via="import"), api()),
        ('via = { not = ["call", "with"] }', api(via="import"), api(via="with")),
        ('scope = "Trainer.*"', api(scope="Trainer.fit"), api(scope="Trainer")),
        ('scope = "a.b"', api(scope="a.b"), api(scope="axb")),
        ("scope = { absent = true }", api(), api(scope="f")),
        ("scope = { present = true }", api(scope="f"), api()),
        ('scope = { not = { absent = true } }', api(scope="f"), api()),
        ('scope = { not = "f", present = true }', api(scope="g"), api()),
        ("complete = false", api(**STAR), api()),
        ('context = "no-grad"', api(context=BOTH), api(context=LOOP)),
        ('context = { not = "loop" }', api(), api(context=BOTH)),
        ("context = { absent = true }", api(), api(context=LOOP)),
        ('guards = "cuda"', api(guards=(guard("hasattr"), guard("cuda"))), api(guards=(guard("hasattr"),))),
        ('guards = { not = "cuda" }', api(guards=(guard("hasattr"),)), api(guards=(guard("cuda"),))),
        ('proofs = "p"', api(proofs={"p": "x"}), api(proofs={"q": "x"})),
        ('proofs = { p = "x" }', api(proofs={"p": "x"}), api(proofs={"p": "y"})),
        ("related = { absent = true }", api(), None),
        ("unless = { via = 'import' }", api(), api(via="import")),
        ("unless = [{ via = 'import' }, { scope = 'f' }]", api(), api(scope="f")),
        ("unless = { via = 'call', scope = 'f' }", api(), api(scope="f")),
        ("keyword = 'k'", api(args=(arg("k", 1),)), api(args=(arg("j", 1),))),
        ("keyword = ['k', 'j']", api(args=(arg("j", 1),)), api()),
    ],
)  # fmt: skip
def test_a_field(tmp_path: Path, pattern: str, fitting: Any, other: Any) -> None:
    rules = book(tmp_path, page(f"{MATCH}{pattern}\n{VERDICT}", guarded="ignore"))
    assert reported(rules, fitting) == ["XLA001"]
    if other is not None:
        assert reported(rules, other) == []


@pytest.mark.parametrize(
    ("pattern", "argument", "fits"),
    [
        ('"nccl"', arg("a", "nccl"), True),
        ('"nccl"', arg("a", "gloo"), False),
        ('"nccl*"', arg("a", "nccl:gloo"), True),
        ('"cuda*"', arg("a", "cuda:*", "pattern"), True),
        ('"cuda*"', arg("a", "cuda:0", "device"), True),
        ('"torch.float16"', arg("a", "torch.float16", "api"), True),
        ('"cuda"', arg("a", "cuda", "expression"), False),
        ('{ not = "cuda" }', arg("a", "cuda", "expression"), True),
        ("true", arg("a", True), True),
        ("true", arg("a", 1), False),
        ("1", arg("a", True), False),
        ("1", arg("a", 1.0), True),
        ("0", arg("a", False), False),
        ("1.5", arg("a", 1.5), True),
        ('"1"', arg("a", 1), False),
        ("{ present = true }", arg("a", None), True),
        ("{ absent = true }", arg("a", None), False),
        ("{ absent = true }", arg("b", 1), True),
        ("{ present = true }", arg("b", 1), False),
        ("{ not = 1 }", arg("b", 1), True),
        ("{ not = 1 }", arg("a", 1), False),
        ('{ kind = "expression" }', arg("a", "x.y", "expression"), True),
        ('{ kind = ["constant", "device"] }', arg("a", "x.y", "expression"), False),
        ('{ kind = "constant" }', arg("b", 1), False),
        ('{ not = { kind = "cuda-test" } }', arg("a", "d.type == 'cuda'", "cuda-test"), False),
        ('{ text = "*.state_dict()" }', arg("a", "m.state_dict()"), False),
        ('{ text = "*.state_dict()" }', arg("a", "m.state_dict", "expression"), False),
        ('{ text = "*.state_dict()" }', arg("a", "m.state_dict()", "expression"), True),
        ('{ text = ["x", "*device*"] }', arg("a", "self.device", "expression"), True),
        ('{ not = { text = "val*" } }', arg("b", 1), True),
        ('{ text = "None" }', arg("a", "None"), False),
        ('{ text = "None" }', arg("a", None), True),
        ('["x", { absent = true }]', arg("b", 1), True),
        ('["x", { kind = "expression" }]', arg("a", "y"), False),
    ],
)  # fmt: skip
def test_an_argument(tmp_path: Path, pattern: str, argument: Argument, fits: bool) -> None:
    rules = book(tmp_path, page(f"{MATCH}args = {{ a = {pattern} }}\n{VERDICT}"))
    assert (reported(rules, api(args=(argument,))) == ["XLA001"]) is fits


@pytest.mark.parametrize(
    ("pattern", "items", "fits"),
    [
        ('{ has = "a" }', [], False),
        ('{ has = "a" }', ["b"], False),
        ('{ has = "a" }', ["b", "a"], True),
        ('{ has = ["a", "c"] }', ["b", "c"], True),
        ('{ has = { not = "a" } }', ["a", "b"], True),
        ('{ has = { kind = "expression" } }', ["a"], False),
        ('{ not = { has = "a" } }', ["b"], True),
        ('{ not = { has = "a" } }', ["a"], False),
        ('{ only = "a" }', [], False),
        ('{ only = "a" }', ["a", "b"], False),
        ('{ only = "a" }', ["a", "a"], True),
        ('{ only = ["a", "b*"] }', ["a", "bc"], True),
        ('{ only = "a", has = "b" }', ["a"], False),
        ('"a"', ["a"], False),
        ('{ kind = "sequence" }', [], True),
    ],
)
def test_a_sequence(tmp_path: Path, pattern: str, items: list[str], fits: bool) -> None:
    value = Value("sequence", "['a']", tuple(Value("constant", item) for item in items))
    argument = replace(arg("a", 1), value=value)
    rules = book(tmp_path, page(f"{MATCH}args = {{ a = {pattern} }}\n{VERDICT}"))
    assert (reported(rules, api(args=(argument,))) == ["XLA001"]) is fits


@pytest.mark.parametrize("pattern", ['{ has = "a" }', '{ only = "a" }', '{ only = { not = "b" } }'])
@pytest.mark.parametrize("call", [api(), api(args=(arg("a", "a"),)), api(**STAR)])
def test_what_is_no_sequence_has_no_elements(tmp_path: Path, pattern: str, call: Any) -> None:
    rules = book(tmp_path, page(f"{MATCH}args = {{ a = {pattern} }}\n{VERDICT}"))
    assert reported(rules, call) == []


def test_all_arguments_have_to_fit(tmp_path: Path) -> None:
    rules = book(tmp_path, page(f"{MATCH}args = {{ a = 1, b = 2 }}\n{VERDICT}"))
    assert reported(rules, api(args=(arg("a", 1), arg("b", 3)))) == []
    assert reported(rules, api(args=(arg("a", 1), arg("b", 2)))) == ["XLA001"]


@pytest.mark.parametrize("pattern", ["{ absent = true }", "{ not = 1 }", '["x", { absent = true }]'])
def test_an_argument_that_may_stand_in_kwargs_is_not_absent(tmp_path: Path, pattern: str) -> None:
    rules = book(tmp_path, page(f"{MATCH}args = {{ a = {pattern} }}\n{VERDICT}"))
    assert reported(rules, api()) == ["XLA001"]
    assert reported(rules, api(**STAR)) == []


def test_what_may_stand_in_kwargs_is_enough_for_a_possible_verdict(tmp_path: Path) -> None:
    possible = VERDICT.replace('"error"\nm', '"info"\nm') + 'confidence = "possible"\n'
    rules = book(
        tmp_path,
        page(f"{MATCH}args = {{ a = {{ absent = true }} }}\n{VERDICT}{possible}"),
        confidence="possible",
    )
    (sure,) = judge(rules, api())
    assert (sure.finding.severity, sure.finding.confidence) == ("error", "certain")
    (unsure,) = judge(rules, api(**STAR))
    assert (unsure.finding.severity, unsure.finding.confidence) == ("info", "possible")


def test_a_match_that_asks_for_complete_takes_absence_at_its_word(tmp_path: Path) -> None:
    rules = book(tmp_path, page(f"{MATCH}complete = false\nargs = {{ a = {{ absent = true }} }}\n{VERDICT}"))
    assert reported(rules, api(**STAR)) == ["XLA001"]


def test_an_unless_that_may_hold_is_no_sure_match(tmp_path: Path) -> None:
    rules = book(tmp_path, page(f"{MATCH}unless = {{ args = {{ a = {{ absent = true }} }} }}\n{VERDICT}"))
    assert reported(rules, api(**STAR)) == []
    assert reported(rules, api(args=(arg("a", 1),), **STAR)) == ["XLA001"]


def test_any_match_will_do_and_a_sure_one_comes_first(tmp_path: Path) -> None:
    other = '[[match]]\nfact = "device-choice"\ndevice = "cuda*"\n'
    unsure = MATCH + "args = { a = { absent = true } }\n"
    rules = book(tmp_path, page(unsure + MATCH + other + VERDICT))
    device = DeviceChoice(span=(5, 6), statement=(5, 6), via="literal", device="cuda:0")
    assert reported(rules, api(**STAR), device) == ["XLA001", "XLA001"]
    assert reported(rules, api("torch.g")) == []


def test_a_when_on_a_field_of_another_kind_counts_it_as_missing(tmp_path: Path) -> None:
    other = '[[match]]\nfact = "environment"\nvariable = "X"\n'
    when = VERDICT + 'when = { args = { a = { absent = true } }, via = { not = "import" } }\n'
    rules = book(tmp_path, page(MATCH + other + when))
    assert reported(rules, Environment(span=(0, 1), statement=(0, 1), variable="X", access="write")) == [
        "XLA001"
    ]
    assert reported(rules, api(args=(arg("a", 1),))) == []


@pytest.mark.parametrize(
    ("pattern", "value", "fits"),
    [
        ('value = { not = ["0", ""] }', Value("constant", "1"), True),
        ('value = { not = ["0", ""] }', Value("constant", "0"), False),
        ('value = { not = ["0", ""] }', Value("expression", "x"), True),
        ('value = { not = ["0", ""] }', None, True),
        ("value = { present = true }", None, False),
    ],
)
def test_what_a_variable_is_set_to(tmp_path: Path, pattern: str, value: Value | None, fits: bool) -> None:
    match = f'[[match]]\nfact = "environment"\nvariable = "X_*"\n{pattern}\n'
    rules = book(tmp_path, page(match + VERDICT))
    fact = Environment(span=(0, 1), statement=(0, 1), variable="X_Y", access="write", value=value)
    assert (reported(rules, fact) == ["XLA001"]) is fits


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ('"torch.cuda.*"', "torch.cuda.nvtx.mark", True),
        ('"torch.cuda.*"', "torch.cudax.f", False),
        ('["torch.f", "torch.g"]', "torch.g", True),
        ('"torch.*.cudart"', "torch.cuda.cudart", True),
        ('"torch.*.cudart"', "torch.cuda.f", False),
    ],
)
def test_a_name(tmp_path: Path, pattern: str, name: str, fits: bool) -> None:
    rules = book(tmp_path, page(f'[[match]]\nfact = "api-use"\nname = {pattern}\n{VERDICT}'))
    assert (reported(rules, api(name)) == ["XLA001"]) is fits


TABLE = """
[row."torch.f"]
status = "removed"
[row."torch.g"]
status = "renamed"
since = { torch_xla = "2.7" }
[row."torch.cuda.*"]
status = "removed"
[row."torch.cuda.nvtx.*"]
status = "kept"
"""


@pytest.mark.parametrize(
    ("row", "name", "fits"),
    [
        ("", "torch.f", True),
        ("", "torch.h", False),
        ("", "torch.cuda.f", True),
        ('row = { status = "removed" }', "torch.f", True),
        ('row = { status = "removed" }', "torch.g", False),
        ('row = { status = "removed" }', "torch.cuda.nvtx.mark", False),
        ('row = { since = { absent = true } }', "torch.g", False),
        ('row = { since = { torch_xla = "2.*" } }', "torch.g", True),
        ('unless = { row = { status = "removed" } }', "torch.f", False),
    ],
)  # fmt: skip
def test_a_row(tmp_path: Path, row: str, name: str, fits: bool) -> None:
    match = f'[[match]]\nfact = "api-use"\ntable = "t"\n{row}\n'
    rules = book(tmp_path, page(match + VERDICT), tables={"api/t.toml": TABLE})
    assert (reported(rules, api(name)) == ["XLA001"]) is fits


def test_a_package_takes_the_row_of_the_longest_known_name(tmp_path: Path) -> None:
    table = '[row.apex]\nnote = "all"\n[row."apex.amp"]\nnote = "amp"\n'
    match = '[[match]]\nfact = "package"\ntable = "t"\n'
    rules = book(tmp_path, page(match + VERDICT, message="{row.note}"), tables={"packages/t.toml": table})
    facts = [
        Package(span=(i, i + 1), statement=(i, i + 1), package="apex", name=name)
        for i, name in enumerate(["apex", "apex.amp.initialize", "apex.optimizers", "apexx"])
    ]
    assert [j.finding.message for j in judge(rules, *facts)] == ["all", "amp", "all"]
