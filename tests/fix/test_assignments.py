from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

Page = Callable[..., Any]
FLAG = "cudnn.benchmark"


def dropped(page: Page, text: str) -> str | None:
    p = page(text)
    fact = replace(p.use(FLAG, "torch.backends.cudnn.benchmark"), via="assignment")
    return p.fixed("drop-assignment", fact)


@pytest.mark.parametrize(
    "text",
    [f"{FLAG} = other = True\n", f"other = {FLAG}\n", f"{FLAG}, other = True, 1\n", f"{FLAG} |= True\n",
     f"{FLAG} = parse(argv)\n", f"{FLAG} = (fast := True)\n", f"with {FLAG}:\n    pass\n", f"print({FLAG})\n",
     f"{FLAG} = any(a for a in b)\n", f"async def f():\n    {FLAG} = await g()\n"],
)  # fmt: skip
def test_an_assignment_that_does_more_stays(page: Page, text: str) -> None:
    assert dropped(page, text) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"a\n{FLAG} = True\nb\n", "a\nb\n"),
        (f"a; {FLAG} = not args.slow\n", "a\n"),
        (f"if a:\n    {FLAG} = True  # fast\n", "if a:\n    pass  # fast\n"),
        (f"a\n{FLAG} = (\n    fast\n)\nb\n", "a\nb\n"),
    ],
)
def test_a_plain_assignment_goes_whole(page: Page, before: str, after: str) -> None:
    assert dropped(page, before) == after
