"""Releases of torch: a requirement admits some of these."""

from __future__ import annotations

import tomllib
from pathlib import Path

_PATH = Path(__file__).parent / "data" / "releases.toml"

TORCH: tuple[str, ...] = tuple(tomllib.loads(_PATH.read_text("utf-8"))["torch"])
