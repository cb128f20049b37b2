"""Source text in messages: on one line, as one would write it there."""

from __future__ import annotations

import pytest

from xlamig.flow.model.known import short


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("images[views]\n    .permute(0, 2)\n    .cpu()", "images[views].permute(0, 2).cpu()"),
        ("build(\n    settings,\n    depth=3\n)", "build(settings, depth=3)"),
        ("first\n    + second", "first + second"),
        ("'a' 'b'\n  'c'", "'a' 'b' 'c'"),
    ],
)
def test_source_text_is_shown_on_one_line(text: str, shown: str) -> None:
    assert short(text) == shown
