"""Find the CUDA features that a source uses, by the words in it."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

_PATH = Path(__file__).parent / "data" / "cuda-features.toml"


_PLAIN = re.compile(r"(?:[\w:]|\\\.)+")


class _Feature(NamedTuple):
    """`starts` are the plain text that its words start with: to look for them is fast."""

    name: str
    says: str
    starts: tuple[str, ...]
    search: re.Pattern[str]


@cache
def _features() -> tuple[_Feature, ...]:
    """In the order of the file."""
    data = tomllib.loads(_PATH.read_text("utf-8"))
    return tuple(
        _Feature(
            name,
            entry["says"],
            tuple(start[0].replace("\\", "") for word in entry["words"] if (start := _PLAIN.match(word))),
            re.compile(rf"(?<!\w)(?:{'|'.join(entry['words'])})"),
        )
        for name, entry in data.items()
    )


def features_in(text: str) -> tuple[str, ...]:
    return tuple(
        feature.name
        for feature in _features()
        if any(start in text for start in feature.starts) and feature.search.search(text)
    )


def in_words(features: tuple[str, ...]) -> str:
    """ "inline PTX, shared memory"."""
    return ", ".join(feature.says for feature in _features() if feature.name in features)
