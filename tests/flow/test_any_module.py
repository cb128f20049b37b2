"""Whatever parses gives facts, the same ones each time."""

from __future__ import annotations

import pickle

import pytest
from generated_code import modules
from hypothesis import given, settings
from hypothesis import strategies as st
from nasty_sources import nasty
from reading import INTEREST, read

from xlamig.facts import Fact
from xlamig.flow import facts_of, summary_of
from xlamig.syntax import Unparsable, module_from_text

EXPRESSIONS = st.recursive(
    st.sampled_from(
        (
            "device", "x", "self.device", "'cuda'", "'cpu'", "None", "0", "True", "torch", "torch.cuda",
            "use", "torch.cuda.is_available()", "x.is_cuda", "f'cuda:{x}'", "torch.zeros(1)",
            "torch.device('cuda', x)",
        )
    ),
    lambda inner: st.builds(
        str.format,
        st.sampled_from(
            (
                "{}.cuda({})", "{}.to({})", "torch.load({}, {})", "torch.device({})", "not {}", "({} and {})",
                "({} or {})", "({} if {} else {})", "[{} for x in {} if {}]", "(lambda device={}: {})",
                "(device := {})", "({}, {})", "{{{}: {}}}", "{} == {}", "torch.cuda.synchronize({})",
                "f(device={}, attn_implementation={})", "[{} for device in {}]",
            )
        ),
        inner, inner, inner,
    ),
    max_leaves=8,
)  # fmt: skip
SIMPLE = (
    "{}", "device = {}", "x = {}", "use = {}", "self.device = {}", "device, *x = {}, {}", "x += {}",
    "device: int = {}",
    "os.environ['XLA_USE_BF16'] = {}", "p.add_argument('--device', default={})", "del device", "torch = {}",
    "from .a import device", "from torch import *", "import os, torch", "assert {}", "raise {}", "x.y.z = {}",
)  # fmt: skip
COMPOUND = (
    "if {}:#", "if {}:#\nelif {}:#\nelse:#", "for device in {}:#", "while {}:#\nelse:#",
    "with {} as device:#",
    "try:#\nexcept E as device:#\nfinally:#", "def f(self, device={}, *x):\n global use#", "class A(x):#",
    "class A(A):\n def __init__(self):#\n def f(self):#", "@torch.no_grad()\ndef f(device={}):#",
    "match {}:\n case [device] if {}:#", "def g():\n device = {}\n def h():\n  nonlocal device#",
    "def f():\n if {}: return {}\n return {}", "for x in {}:\n if {}: continue#",
)  # fmt: skip


def _fill(form: str, parts: list[str], bodies: list[str]) -> str:
    lines = []
    rest = iter(bodies)
    for line in form.format(*parts).split("\n"):
        head, mark, _ = line.partition("#")
        lines.append(head)
        if mark:
            depth = len(head) - len(head.lstrip()) + head.endswith(":")
            lines.extend(" " * depth + inner for inner in next(rest).split("\n"))
    return "\n".join(lines)


_PARTS = st.lists(EXPRESSIONS, min_size=3, max_size=3)
_STATEMENTS = st.recursive(
    st.builds(_fill, st.sampled_from(SIMPLE), _PARTS, st.just([])),
    lambda inner: st.builds(
        _fill, st.sampled_from(COMPOUND), _PARTS, st.lists(inner.filter(bool), min_size=3, max_size=3)
    ),
    max_leaves=6,
)


def torch_like() -> st.SearchStrategy[str]:
    """Programs that use torch, with every way to bind a name put inside every other."""
    return st.lists(_STATEMENTS, min_size=1, max_size=6).map(
        lambda parts: "\n".join(["import torch", *parts])
    )


def facts(text: str) -> list[Fact]:
    module = module_from_text(text)
    interface = summary_of(module, text, "pkg.a", False).interface
    found = facts_of(module, text, "pkg.a", False, INTEREST, {"pkg.a": interface}).facts
    for fact in found:
        for start, end in (fact.span, fact.statement, *fact.parts.values()):
            assert 0 <= start <= end <= len(text)
        assert fact.statement[0] <= fact.span[0]
    pickle.dumps(found)
    return found


@pytest.mark.slow
@settings(max_examples=60)
@given(modules())
def test_any_form_of_the_language(text: str) -> None:
    try:
        first = facts(f"import torch as a\n{text}")
    except Unparsable:
        return
    assert facts(f"import torch as a\n{text}") == first


@pytest.mark.slow
@settings(max_examples=200)
@given(torch_like())
def test_any_torch_program(text: str) -> None:
    try:
        first = facts(text)
    except Unparsable:
        return
    assert facts(text) == first


@pytest.mark.parametrize("name", nasty(), ids=lambda name: repr(name)[:50])
def test_nasty_sources(name: str) -> None:
    facts(nasty()[name])


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(torch_like(), min_size=1, max_size=3))
def test_any_project(texts: list[str]) -> None:
    files = {}
    for name, text in zip(("pkg/__init__.py", "pkg/a.py", "b.py"), texts, strict=False):
        try:
            module_from_text(text)
        except Unparsable:
            continue
        files[name] = text
    source = "from pkg import *\nfrom pkg.a import device\nimport b\nb.x.cuda()\ndevice.cuda()"
    assert read(source, project=files) == read(source, project=files)
