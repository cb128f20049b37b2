"""What a CUDA source makes use of, by the words in it."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

_PATH = Path(__file__).parent / "data" / "cuda-features.toml"


@cache
def _features() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """(name, words for people, search), in the order of the file."""
    data = tomllib.loads(_PATH.read_text("utf-8"))
    return tuple(
        (name, entry["says"], re.compile(rf"(?<!\w)(?:{'|'.join(entry['words'])})"))
        for name, entry in data.items()
    )


def features_in(text: str) -> tuple[str, ...]:
    return tuple(name for name, _, search in _features() if search.search(text))


def in_words(features: tuple[str, ...]) -> str:
    """ "inline PTX, shared memory"."""
    return ", ".join(says for name, says, _ in _features() if name in features)
