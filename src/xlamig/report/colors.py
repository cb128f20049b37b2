"""Colours for a terminal."""

from __future__ import annotations

from rich.color import ColorSystem
from rich.style import Style

from xlamig.report.context import Ink

_STYLES: dict[Ink, Style] = {
    "error": Style(color="red", bold=True),
    "warning": Style(color="yellow", bold=True),
    "info": Style(color="cyan", bold=True),
    "place": Style(bold=True),
    "gutter": Style(color="blue", bold=True),
    "added": Style(color="green"),
    "removed": Style(color="red"),
    "strong": Style(bold=True),
}


def paint(ink: Ink, text: str) -> str:
    return _STYLES[ink].render(text, color_system=ColorSystem.STANDARD)
