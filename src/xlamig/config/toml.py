"""Writing TOML values; tomllib only reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


def literal(value: object) -> str:
    """A value as TOML on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | Path):
        # A JSON string is a TOML string, but for DEL, which TOML wants escaped.
        return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(literal(item) for item in value)}]"
    if isinstance(value, Mapping):
        inner = ", ".join(f"{literal(str(key))} = {literal(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return str(value)
