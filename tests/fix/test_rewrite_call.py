from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Page = Callable[..., Any]

SUM: dict[str, Any] = {
    "source": "{src}.new_zeros({n}).index_add(0, {index}, {src})",
    "names": ["src"],
    "accepts": ["src", "index", "n"],
}
SAVE: dict[str, Any] = {
    "argument": "obj",
    "method": "state_dict",
    "source": "{{k: v.cpu() for k, v in {obj}.items()}}",
}


def summed(page: Page, call: str) -> str | None:
    p = page(f"y = {call}\n")
    return p.fixed("rewrite-call", p.call(call, "scatter"), **SUM)


def saved(page: Page, value: str) -> str | None:
    p = page(f"torch.save(obj={value}, f=path)\n")
    return p.fixed("rewrite-call", p.call(f"torch.save(obj={value}, f=path)", "torch.save"), **SAVE)


@pytest.mark.parametrize(
    "call",
    [
        "scatter(src=f(x), index=i, n=4)",  # written twice, f would run twice
        "scatter(src=x, index=i)",
        "scatter(src=x, index=i, n=4, out=y)",
        "scatter(src=x, index=i, n=4, **more)",
        "scatter(src=x,  # rows\n    index=i, n=4)",
    ],
)
def test_a_call_that_the_new_text_cannot_say_stays(page: Page, call: str) -> None:
    assert summed(page, call) is None


def test_a_call_is_written_around_its_arguments(page: Page) -> None:
    assert summed(page, "scatter(n=len(y), src=x, index=a.b[0])") == (
        "y = x.new_zeros(len(y)).index_add(0, a.b[0], x)\n"
    )


def test_what_would_bind_otherwise_gets_parentheses(page: Page) -> None:
    assert summed(page, "scatter(src=x, index=i if a else j, n=n + 1)") == (
        "y = x.new_zeros((n + 1)).index_add(0, (i if a else j), x)\n"
    )


@pytest.mark.parametrize(
    "value", ["state", "m.state_dict", "a if b else m.state_dict()", "{'m': m.state_dict()}"]
)
def test_an_argument_that_is_no_call_of_the_method_stays(page: Page, value: str) -> None:
    assert saved(page, value) is None


def test_one_argument_is_written_anew(page: Page) -> None:
    assert saved(page, "m.state_dict()") == (
        "torch.save(obj={k: v.cpu() for k, v in m.state_dict().items()}, f=path)\n"
    )


def test_nothing_is_written_for_an_argument_that_is_not_given(page: Page) -> None:
    p = page("torch.save(f=path)\n")
    assert p.fixed("rewrite-call", p.call("torch.save(f=path)", "torch.save"), **SAVE) is None
