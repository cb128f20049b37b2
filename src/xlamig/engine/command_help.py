"""The help of a command, which pages quote: it names every option and sets none."""

from __future__ import annotations

import re

_HELP = re.compile(
    r"^[ \t]*usage:[^\n]*\[-h\].*\n(?:[ \t]+\S.*\n)*"
    r"|^[ \t]*-h, --help\b.*\n(?:[ \t]+\S.*\n|[ \t]*\n(?=[ \t]+\S)|\n?\S[^\n]*:\n(?=[ \t]+-))*",
    re.MULTILINE | re.IGNORECASE,
)
"""Matches the usage that `argparse` prints, and the options from `--help` on, those of its groups too."""


def without_help(text: str) -> str:
    """Return a text without what `--help` prints of options."""
    return _HELP.sub("", text)
