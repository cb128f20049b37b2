"""Type comments below the head of a function."""

from __future__ import annotations

import pytest

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.syntax import module_from_text


def _types(text: str) -> list[str]:
    function = next(n for n in ir.walk(module_from_text(text)) if isinstance(n, ir.FunctionDef))
    return ["" if p.annotation is None else path_of(p.annotation) or "?" for p in function.params]


@pytest.mark.parametrize(
    "text",
    [
        "def f(x, y):\n    # (Tensor, int) -> Tensor\n    return x\n",
        "def f(x, y):\n    return x  # type: (Tensor, int) -> Tensor\n",
        "def f(x, y):\n    # type: (Tensor) -> Tensor\n    return x\n",
        "def f(x, y):\n    # type: (Tensor, int -> Tensor\n    return x\n",
        "def f(x, y):\n    # type: (...) -> Tensor\n    return x\n",
        "def f(x, y):\n    # type: ignore\n    return x\n",
        "def f(x, y):\n    # type: (torch.cuda.FloatTensor, int) -> Tensor\n    return x\n",
        "def f(x, y):\n    '''# type: (Tensor, int) -> Tensor'''\n    return x\n",
        "def f(x, y): return x  # type: (Tensor, int) -> Tensor\n",
    ],
)
def test_no_types(text: str) -> None:
    assert _types(text) == ["", ""]


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("def f(x, y):\n    # type: (Tensor, int) -> T\n    return x\n", ["Tensor", "int"]),
        ("def f(x, y=(1, 2)):  # type: (Tensor, int) -> T\n    return x\n", ["Tensor", "int"]),
        ("def f(x, y):\n    # noqa\n    # type: (torch.Tensor, int)->T\n    pass\n", ["torch.Tensor", "int"]),
        ("class A:\n    def f(self, x):\n        # type: (Tensor) -> T\n        pass\n", ["", "Tensor"]),
        ("class A:\n    def f(self, x):\n        # type: (List[Tensor]) -> T\n        pass\n", ["", "?"]),
    ],
)  # fmt: skip
def test_types_of_the_parameters(text: str, types: list[str]) -> None:
    assert _types(text) == types


def test_annotation_is_kept() -> None:
    assert _types("def f(x: int, y):\n    # type: (Tensor, int) -> Tensor\n    return x\n") == ["int", ""]


def test_type_has_no_text_of_its_own() -> None:
    text = "def f(x):\n    # type: (Optional[Tensor]) -> Tensor\n    return x\n"
    (param,) = next(n for n in ir.walk(module_from_text(text)) if isinstance(n, ir.FunctionDef)).params
    assert param.annotation is not None
    assert {(n.start, n.end) for n in ir.walk(param.annotation)} == {(param.end, param.end)}
