"""Parsed TOML kept between runs: reading it is most of what loading the book costs."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_VERSION = 1


def stored(folder: Path | None, digest: str) -> Mapping[str, Any]:
    """File name to parsed TOML as of `digest`, empty when nothing usable is kept."""
    if folder is None:
        return {}
    try:
        kept = json.loads(_file(folder).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    is_ours = (
        isinstance(kept, dict) and kept.get("key") == _key(digest) and isinstance(kept.get("files"), dict)
    )
    return kept["files"] if is_ours else {}


def store(folder: Path, digest: str, files: Mapping[str, Any]) -> None:
    """Keeps one book per folder. A folder that cannot be written to keeps none."""
    try:
        text = json.dumps({"key": _key(digest), "files": files})
    except TypeError:  # TOML has dates, JSON has not
        return
    beside = folder / f"rules.json.{os.getpid()}"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, "utf-8")
        beside.replace(_file(folder))


def _file(folder: Path) -> Path:
    return folder / "rules.json"


def _key(digest: str) -> str:
    return f"{_VERSION}-{digest}"
