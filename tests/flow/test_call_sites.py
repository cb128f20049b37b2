"""A function is looked at under what holds around its only call."""

from __future__ import annotations

import pytest
from reading import facts_in

from xlamig.facts import ApiUse
from xlamig.flow.model.callers import DATASETS, callers_of

HERE = "torch.cuda.synchronize()"
CUDA = "torch.cuda.is_available()"


def use(text: str) -> ApiUse:
    text = f"import torch\n{text.replace('HERE', HERE).replace('CUDA', CUDA)}"
    (found,) = [fact for fact in facts_in(text, ApiUse) if fact.name == "torch.cuda.synchronize"]
    return found


@pytest.mark.parametrize(
    "text",
    [
        "def f(): HERE\nif CUDA: f()\nelse: f()",
        "def f(): HERE\nf()\nif CUDA: pass",
        "def f(): HERE\nif CUDA: g(f)",
        "def f(): HERE\nif not CUDA: f()",
        "def f(): HERE\ndef g():\n if CUDA: f()\n f()",
        "def f(): HERE\nx = f() if not CUDA else None",
    ],
)
def test_no_guard_of_a_call_is_one_of_the_function(text: str) -> None:
    assert use(text).guards == ()


@pytest.mark.parametrize(
    "text",
    [
        "def f(): HERE\nif CUDA: f()",
        "def f(): HERE\ndef g(): f()\nif CUDA: g()",
        "if CUDA: f()\ndef f(): HERE",
        "def f(): HERE\ndef g():\n if not CUDA: return\n f()",
        "def f(): HERE\nCUDA and f()",
        "def f(): HERE\nx = f() if CUDA else None",
        "class A:\n def f(self): HERE\n def g(self):\n  if CUDA: self.f()",
    ],
)
def test_the_guard_of_the_only_call_guards_the_function(text: str) -> None:
    assert [guard.kind for guard in use(text).guards] == ["cuda"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(): HERE\nwith torch.no_grad(): f()", True),
        ("def f(): HERE\n@torch.no_grad()\ndef g(): f()", True),
        ("def f(): HERE\nwith torch.no_grad(): f()\nf()", False),
        ("def f(): HERE\nwith torch.no_grad(): pass\nf()", False),
    ],
)
def test_a_function_runs_without_gradients_where_its_only_call_does(text: str, expected: bool) -> None:
    assert ("no-grad" in use(text).context) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(): HERE\nif dist.get_rank() == 0: f()", True),
        ("def f(): HERE\nif dist.get_rank() == 0: f()\nf()", False),
        ("def f(): HERE\nif dist.get_rank() == 0: f()\nfor i in x:\n if i % 9 == 0: f()", False),
        ("def f(): HERE\nif dist.get_rank() == 1: f()", False),
    ],
)
def test_a_function_that_one_rank_calls_is_told_apart(text: str, expected: bool) -> None:
    context = use(f"import torch.distributed as dist\n{text}").context
    assert "rank-guarded" not in context and ("rank-called" in context) is expected


def test_a_function_that_another_module_calls_is_not_run_by_the_only_call_of_its_own() -> None:
    calls = {"a": {"": ("b.f", ".g")}, "b": {"h": (".k",)}}

    def locate(called: str, module: str) -> tuple[str, str]:
        return called.split(".")[0], called.split(".")[1]

    assert callers_of(calls, locate)["b"].elsewhere == {"f"}


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({}, {"f"}),
        ({"run": ("b.f",)}, set()),
        ({"<at times>": ("b.f",)}, set()),
        ({"<rank 0>": ("b.f", "b.C.save")}, {"f"}),
        ({"<rank 0>": (".g",), "g": ("b.f", "b.k")}, {"f", "k"}),
        ({"<rank 0>": (".g",), "g": ("b.f", "b.k"), "run": ("b.k",)}, {"f"}),
    ],
)
def test_a_function_that_other_modules_call_on_one_rank_only(
    others: dict[str, tuple[str, ...]], expected: set[str]
) -> None:
    calls = {"a": {"<rank 0>": ("b.f",)}, "b": {"f": ()}, "c": others}

    def locate(called: str, module: str) -> tuple[str, str]:
        home, _, name = called.partition(".")
        return home, name

    assert callers_of(calls, locate)["b"].first_rank == expected


@pytest.mark.parametrize(
    "order", [(".Part.__init__", ".Whole.__init__"), (".Whole.__init__", ".Part.__init__")]
)
def test_the_classes_that_only_datasets_make_depend_on_no_order(order: tuple[str, ...]) -> None:
    calls = {
        "a": {
            DATASETS: (".Data.__init__",),
            "Data.__init__": order,
            "Whole.__init__": (".Part.__init__",),
            "Part.__init__": (),
        }
    }
    assert callers_of(calls, lambda called, module: None)["a"].samples == {"Part", "Whole"}
