from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from xlamig.facts import ToolEvent
from xlamig.fix.context import FixContext
from xlamig.fix.draft import draft

Page = Callable[..., Any]
DROP = "torch.cuda.empty_cache()"


def dropped(page: Page, text: str) -> str | None:
    p = page(text)
    return p.fixed("drop-statement", p.call(DROP, "torch.cuda.empty_cache"))


@pytest.mark.parametrize(
    "text",
    [f"x = {DROP}\n", f"print({DROP})\n", f"with {DROP}:\n    pass\n", f"x = 1 if {DROP} else 2\n",
     f"async def f():\n    await {DROP}\n", f"f = lambda: {DROP}\n"],
)  # fmt: skip
def test_a_call_that_is_more_than_a_statement_stays(page: Page, text: str) -> None:
    assert dropped(page, text) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nX\nb\n", "a\nb\n"),
        ("a\n    # why\nX  # free\nb\n", "a\n    # why\nb\n"),
        ("X\n", ""),
        ("a\nX", "a"),
        ("a\r\nX\r\nb", "a\r\nb"),
        ("a; X\nb\n", "a\nb\n"),
        ("X; b\n", "b\n"),
        ("a; X; b\n", "a; b\n"),
        ("a; X;\n", "a;\n"),
        ("X;\nb\n", "b\n"),
        ("if a: X\n", "if a: pass\n"),
        ("if a: X; b\n", "if a: b\n"),
        ("if a: b; X\n", "if a: b\n"),
        ("if a:\n    X  # free\n", "if a:\n    pass  # free\n"),
        ("if a:\n\tb\nelse:\n\tX\n", "if a:\n\tb\nelse:\n\tpass\n"),
        ("try:\n    a\nexcept E:\n    X\n", "try:\n    a\nexcept E:\n    pass\n"),
        ("try:\n    a\nfinally:\n    X\n", "try:\n    a\nfinally:\n    pass\n"),
        ("if a:\n    (X)\n", "if a:\n    pass\n"),
        ("match a:\n    case 1:\n        X\n", "match a:\n    case 1:\n        pass\n"),
        ('def f():\n    """Doc."""\n    X\n', 'def f():\n    """Doc."""\n'),
        ("for a in b:\n    c\n    X\n\nd\n", "for a in b:\n    c\n\nd\n"),
    ],
)  # fmt: skip
def test_the_whole_line_goes(page: Page, before: str, after: str) -> None:
    assert dropped(page, before.replace("X", DROP)) == after


def test_a_statement_over_lines_goes_whole(page: Page) -> None:
    call = "torch.cuda.empty_cache(\n    # all of it\n)"
    p = page(f"a\n{call}\nb\n")
    assert p.fixed("drop-statement", p.call(call, "torch.cuda.empty_cache")) == "a\nb\n"


# ------------------------------------------------------------------------------ arguments


def test_a_positional_argument_is_not_dropped(page: Page) -> None:
    p = page("f(True, b)\n")
    assert p.draft("drop-argument", p.call("f(True, b)", "f"), argument="0") is None


def test_an_absent_argument(page: Page) -> None:
    p = page("f(a=1)\n")
    assert p.draft("drop-argument", p.call("f(a=1)", "f"), argument="fused") is None
    assert p.draft("replace-argument", p.call("f(a=1)", "f"), argument="fused", value=False) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(fused=True)", "f()"),
        ("f(p, fused=True)", "f(p)"),
        ("f(p, fused=True,)", "f(p,)"),
        ("f(fused=True, lr=1)", "f(lr=1)"),
        ("f(p, fused=True, lr=1)", "f(p, lr=1)"),
        ("f(p, fused=True, **kw)", "f(p, **kw)"),
        ("f(\n    p,\n    fused=True,\n    lr=1,\n)", "f(\n    p,\n    lr=1,\n)"),
        ("f(\n    p,\n    fused=True,\n)", "f(\n    p,\n)"),
        ("f(\n    p,  # all\n    fused=True,\n)", "f(\n    p,  # all\n)"),
        ("f(\n    fused=True,  # fast\n    lr=1,\n)", "f(\n    # fast\n    lr=1,\n)"),
    ],
)
def test_drop_argument(page: Page, before: str, after: str) -> None:
    p = page(f"o = {before}\n")
    assert p.fixed("drop-argument", p.call(before, "f"), argument="fused") == f"o = {after}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(m, ids=[r], out=r)", "f(m)"),
        ("f(m, out=r, static=True, ids=[r])", "f(m, static=True)"),
        ("f(m, ids=[r])", "f(m)"),
        ("f(\n    m,\n    ids=[r],\n    out=r,\n)", "f(\n    m,\n)"),
        ("f(m, [r], out=r)", "f(m, [r])"),
        ("f(ids=[r], out=r, module=m)", None),
        ("f(m, static=True)", None),
    ],
)
def test_drop_several_arguments(page: Page, before: str, after: str | None) -> None:
    p = page(f"o = {before}\n")
    draft = p.draft("drop-argument", p.call(before, "f"), argument=["ids", "out"])
    assert (draft is None) == (after is None)
    if after is not None:
        fixed = p.fixed("drop-argument", p.call(before, "f"), argument=["ids", "out"])
        assert fixed == f"o = {after}\n"


@pytest.mark.parametrize(
    ("before", "options", "after"),
    [
        ('f(a, m="cuda")', {"value": "cpu"}, 'f(a, m="cpu")'),
        ("f(a, m='cuda')", {"value": "cpu"}, "f(a, m='cpu')"),
        ("f(a, m=g(1) )", {"value": "cpu"}, 'f(a, m="cpu" )'),
        ("f(m=False)", {"value": True}, "f(m=True)"),
        ("f(m=None)", {"source": "device.type"}, "f(m=device.type)"),
    ],
)
def test_replace_argument(page: Page, before: str, options: dict[str, Any], after: str) -> None:
    p = page(f"o = {before}\n")
    fixed = p.fixed("replace-argument", p.call(before, "f"), argument="m", **options)
    assert fixed == f"o = {after}\n"


def test_the_same_value_is_no_fix(page: Page) -> None:
    p = page("f(m='cpu')\n")
    assert p.draft("replace-argument", p.call("f(m='cpu')", "f"), argument="m", value="cpu") is None


# ------------------------------------------------------------------------------ suppressions


def event(**fields: Any) -> ToolEvent:
    told = {"event": "unused-suppression", "subject": "XLA005", **fields}
    return ToolEvent(span=(5, 11), statement=(0, 11), **told)


def test_other_events_and_unknown_removals_are_left(page: Page) -> None:
    p = page("f()  # noqa: XLA005\n")
    assert p.draft("remove-suppression", event(event="unknown-code")) is None
    assert p.draft("remove-suppression", event()) is None


def test_the_removal_is_what_the_fact_says(page: Page) -> None:
    p = page("f()  # noqa: XLA005, E501\n")
    fact = event(parts={"removal": p.span("XLA005, ")}, proofs={"removal": ""})
    assert p.fixed("remove-suppression", fact) == "f()  # noqa: E501\n"


# ------------------------------------------------------------------------------ rows


SAFE = {"strategy": "drop-argument", "options": {"argument": "fused"}}
SHOWN = {"strategy": "display", "applicability": "display", "title": "do it by hand"}


@pytest.fixture
def judgement(page: Page, judged: Callable[..., Any]) -> Callable[..., tuple[Any, FixContext]]:
    def make(call: str, *rows: dict[str, Any]) -> tuple[Any, FixContext]:
        p = page(f"{call}\n")
        return judged(p.call(call, "f", proofs={"known": ""}), *rows), p.context

    return make


def test_no_row_no_fix(judgement: Any) -> None:
    assert draft(*judgement("f(fused=True)")) is None


@pytest.mark.parametrize("row", [{"style": "native"}, {"requires": ("unknown",)}])
def test_a_row_that_does_not_fit_gives_way(judgement: Any, row: dict[str, Any]) -> None:
    fix = draft(*judgement("f(fused=True)", {**SAFE, **row}, SHOWN))
    assert (fix.applicability, fix.message, fix.edits) == ("display", "do it by hand", ())


def test_a_strategy_that_holds_back_gives_way(judgement: Any) -> None:
    assert draft(*judgement("f(1)", SAFE, SHOWN)).applicability == "display"


def test_a_display_row_writes_nothing(judgement: Any) -> None:
    fix = draft(*judgement("f(fused=True)", {**SAFE, "applicability": "display"}))
    assert (fix.applicability, fix.edits, fix.message) == ("display", (), "Drop `fused=True`")


def test_the_first_row_that_can_be_carried_out(judgement: Any) -> None:
    fix = draft(*judgement("f(fused=True)", {**SAFE, "requires": ("known",), "title": "drop it"}, SHOWN))
    assert (fix.applicability, fix.message, len(fix.edits)) == ("safe", "drop it", 1)
