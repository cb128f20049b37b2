"""A choice is the same whichever of its branches comes first."""

from __future__ import annotations

import pytest

from xlamig import ir
from xlamig.syntax import module_from_text


def choice(text: str) -> ir.If | ir.IfExp:
    node = next(n for n in ir.walk(module_from_text(text)) if isinstance(n, ir.If | ir.IfExp))
    assert isinstance(node, ir.If | ir.IfExp)
    return node


@pytest.mark.parametrize(
    "text", ["if not a: b", "if not a: b\nelif c: d\n", "if not a: b\nelif c: d\nelse: e"]
)
def test_keeps_a_negated_test_without_an_else_for_it(text: str) -> None:
    assert isinstance(choice(text).test, ir.Unary)


@pytest.mark.parametrize("text", ["a or b if not a or b else c", "if not a or b: c\nelse: d"])
def test_keeps_a_test_that_is_negated_in_part(text: str) -> None:
    assert isinstance(choice(text).test, ir.Bool)


@pytest.mark.parametrize(
    ("text", "test", "body", "orelse"),
    [
        ("if not a: b\nelse: c", "a", "c", "b"),
        ("if not (a and b):\n c\nelse:\n d", "a and b", "d", "c"),
        ("if not not a: b\nelse: c", "a", "b", "c"),
        ("if not a: pass\nelse: c", "a", "c", ""),
        ("b if not a else c", "a", "c", "b"),
    ],
)
def test_the_branch_that_the_test_chooses_comes_first(text: str, test: str, body: str, orelse: str) -> None:
    node = choice(text)
    branches = [part if isinstance(part, tuple) else (part,) for part in (node.body, node.orelse)]
    texts = [text[branch[0].start : branch[-1].end].strip() if branch else "" for branch in branches]
    assert (text[node.test.start : node.test.end], *texts) == (test, body, orelse)
