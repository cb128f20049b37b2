from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from xlamig.config.errors import ConfigError
from xlamig.config.select import Selection, codes_of, reject_unknown
from xlamig.config.settings import Settings

CODES = {
    "XLA001": "cuda-device-literal",
    "XLA101": "tensor-item-in-loop",
    "XLA102": "tensor-to-host-in-loop",
    "XLA111": "fixed-tensor-log",
    "XLA201": "boolean-mask",
    "ACME1": "own-rule",
}


def on(**values: object) -> list[str]:
    return sorted(Selection(replace(Settings(), **values), CODES).enabled)  # type: ignore[arg-type]


@pytest.mark.parametrize("selector", ["", "X", "XLA4", "tensor-item", "XLA1011", "A"])
def test_selector_that_means_nothing(selector: str) -> None:
    assert codes_of(selector, CODES) == frozenset()


def test_all_is_the_default() -> None:
    assert on() == sorted(CODES)


def test_nothing_selected() -> None:
    assert on(select=()) == []


@pytest.mark.parametrize(
    ("selector", "codes"),
    [
        ("XLA", ["XLA001", "XLA101", "XLA102", "XLA111", "XLA201"]),
        ("XLA1", ["XLA101", "XLA102", "XLA111"]),
        ("XLA10", ["XLA101", "XLA102"]),
        ("XLA101", ["XLA101"]),
        ("boolean-mask", ["XLA201"]),
        ("ACME", ["ACME1"]),
    ],
)
def test_prefixes_codes_and_names(selector: str, codes: list[str]) -> None:
    assert on(select=(selector,)) == codes
    assert on(ignore=(selector,)) == sorted(set(CODES) - set(codes))


@pytest.mark.parametrize(
    ("select", "ignore", "codes"),
    [
        (["XLA1"], ["XLA10"], ["XLA111"]),
        (["XLA101"], ["XLA1"], ["XLA101"]),
        (["tensor-item-in-loop"], ["XLA10"], ["XLA101"]),
        (["XLA1"], ["XLA1"], []),
        (["tensor-item-in-loop"], ["XLA101"], []),
        (["ALL"], ["ALL"], []),
        (["ALL", "XLA101"], ["XLA"], ["ACME1", "XLA101"]),
    ],
)
def test_longer_selector_wins(select: list[str], ignore: list[str], codes: list[str]) -> None:
    assert on(select=tuple(select), ignore=tuple(ignore)) == codes


def test_extend_select_adds() -> None:
    assert on(select=("XLA2",), extend_select=("XLA001",)) == ["XLA001", "XLA201"]


def test_extend_ignore_adds() -> None:
    assert on(select=("XLA1",), ignore=("XLA101",), extend_ignore=("XLA102",)) == ["XLA111"]


@pytest.mark.parametrize("selector", ["xla2", "Xla201", "all", "Boolean-Mask"])
def test_selectors_ignore_case(selector: str) -> None:
    assert "XLA201" in on(select=(selector,))


def test_fixable() -> None:
    selection = Selection(replace(Settings(), fixable=("XLA1",), unfixable=("XLA101",)), CODES)
    assert selection.fixable == {"XLA102", "XLA111"}


def ignored(glob: str, filename: str, root: str = ".") -> bool:
    settings = replace(Settings(), per_file_ignores={glob: ("XLA1",)}, root=Path.cwd() / root)
    selection = Selection(settings, CODES)
    assert not selection.ignored_for(filename, "XLA201")
    return selection.ignored_for(filename, "XLA101")


@pytest.mark.parametrize(
    ("glob", "filename", "expected"),
    [
        ("tests/*", "tests/a/b.py", True),
        ("tests", "pkg/tests/b.py", True),
        ("tests/**", "pkg/tests/b.py", False),
        ("__init__.py", "pkg/__init__.py", True),
        ("*_test.py", "pkg/a_test.py", True),
        ("pkg/*.py", "pkg/sub/a.py", False),
        ("!src/**", "src/a.py", False),
        ("!src/**", "bench/a.py", True),
    ],
)
def test_per_file_ignores(glob: str, filename: str, expected: bool) -> None:
    assert ignored(glob, filename) is expected
    assert ignored(glob, str(Path.cwd() / filename)) is expected


def test_per_file_ignores_start_from_the_root() -> None:
    assert ignored("/a.py", "sub/a.py", root="sub")
    assert not ignored("/a.py", "a.py", root="sub")


def test_unknown_selectors_of_a_file_are_told() -> None:
    settings = replace(Settings(), ignore=("XLA101", "XLA999"), per_file_ignores={"a": ("boolean-masks",)})
    assert [tuple(u) for u in Selection(settings, CODES).unknown] == [
        ("ignore", "XLA999", "; `xlamig rules` lists them"),
        ("per-file-ignores", "boolean-masks", '; did you mean "boolean-mask"?'),
    ]


def test_unknown_selector_on_the_command_line_is_an_error() -> None:
    reject_unknown({"select": ("XLA1",), "ignore": None, "target": "torch_xla"}, CODES)
    with pytest.raises(ConfigError) as caught:
        reject_unknown({"select": ("XLA1", "XLA11", "XLA2O1")}, CODES)
    assert str(caught.value) == 'command line: select: unknown rule "XLA2O1"; did you mean "XLA201"?'
    with pytest.raises(ConfigError, match="per-file-ignores"):
        reject_unknown({"per-file-ignores": {"a": ["QQQ"]}}, CODES)
