"""The grades that a page's "Fix safety" section states, generated from its head."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_books import MATCH, VERDICT, book, page

from xlamig.rulebook.strategies import writes


def safety(folder: Path, *fixes: str) -> str:
    rows = "".join(f"[[fix]]\n{fix}\n" for fix in fixes)
    return book(folder, page(MATCH + VERDICT + rows)).rule("XLA001").sections["Fix safety"]


SHOWN = 'strategy = "display"\napplicability = "display"'


@pytest.mark.parametrize(
    ("fixes", "text"),
    [
        ([], "There is no automatic fix."),
        ([SHOWN], "The fix is shown, not written."),
        (
            ['strategy = "cuda-method"\napplicability = "safe"'],
            "- **Safe** (`cuda-method`): writes `.to(device)` instead of `.cuda()`.\n\n"
            "Nothing else is written.",
        ),
        (
            [
                'strategy = "drop-argument"\napplicability = "unsafe"\nargument = "a"\ntarget = "torch_xla"\n'
                'requires = ["p"]\nwhen = { frequency = "step", args = { a = "b", c = { absent = true } } }',
                SHOWN,
            ],
            "- **Unsafe** (`drop-argument`): drops `a`. Only on torch_xla, in code that runs every step, "
            "without `c`, where `a` is `b` and xlamig proves `p`.\n\n"
            "Elsewhere the fix is shown, not written.",
        ),
    ],
)
def test_states_the_grades_of_the_head_above_the_text(tmp_path: Path, fixes: list[str], text: str) -> None:
    assert safety(tmp_path, *fixes) == f"{text}\n\nText."


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ("name = 'torch.f'", "for `torch.f`"),
        ("args = { a = { present = true } }", "with `a`"),
        ("args = { a = { not = ['b', 'c'] } }", "where `a` is not `b` or `c`"),
        ("args = { a = { kind = 'constant', not = 0 } }", "where `a` is not `0` and is a constant"),
        ("args = { a = ['b', { absent = true }] }", "where `a` is `b` or not given"),
        ("args = { a = { text = '*.x' } }", "where `a` is `*.x`"),
        ("proofs = { p = 'x' }", "where xlamig proves `p`"),
        ("context = 'no-grad'", "under `no_grad`"),
    ],
)
def test_puts_a_condition_into_words(tmp_path: Path, when: str, words: str) -> None:
    fix = f'strategy = "cuda-method"\napplicability = "safe"\nwhen = {{ {when} }}'
    assert f". Only {words}.\n" in safety(tmp_path, fix)


@pytest.mark.parametrize(
    ("strategy", "options", "words"),
    [
        ("replace-argument", {"argument": "a", "value": True}, "passes `a=True`"),
        ("replace-argument", {"argument": "a", "source": "{device}.type"}, "passes `a=device.type`"),
        ("add-argument", {"arguments": {"a": "{import m.n}.f()", "b": "1"}}, "adds `a=m.n.f()` and `b=1`"),
        ("drop-argument", {"argument": ["a", "b"]}, "drops `a` and `b`"),
        ("rewrite-call", {"source": "{{k: {x}}}"}, "writes `{k: x}` instead"),
        ("rename-api", {"replace": "torch.g"}, "writes `torch.g` instead"),
        ("rename-api", {}, "writes the successor's name instead"),
        ("pad-to-multiple", {"multiple": 128}, "pads the batch further, to a multiple of `128`"),
    ],
)
def test_names_what_a_strategy_writes(strategy: str, options: dict[str, object], words: str) -> None:
    assert writes(strategy, options) == words
