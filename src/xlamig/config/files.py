"""Reading one configuration file and what it extends."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from xlamig.config.errors import ConfigError
from xlamig.config.paths import absolute, shown_path
from xlamig.config.schema import EXTEND, Values, read, read_value

FILENAMES = (".xlamig.toml", "xlamig.toml", "pyproject.toml")  # the first one found in a folder wins


def find(folder: Path) -> Path | None:
    """The configuration file of a folder itself."""
    for name in FILENAMES:
        path = folder / name
        if path.is_file() and (name != "pyproject.toml" or _has_table(path)):
            return path
    return None


def layers(path: Path) -> list[Values]:
    """The values of a file and of the files it extends, the farthest first."""
    found: list[Values] = []
    seen: list[Path] = []
    current: Path | None = absolute(path)
    while current is not None:
        seen.append(current)
        table, where = _table(current), shown_path(current)
        found.insert(0, read(table, current.parent, where))
        current = None
        if EXTEND.name in table:
            base = read_value(EXTEND, table[EXTEND.name], seen[-1].parent, where)
            current = absolute(str(base))
        if current in seen:
            circle = " -> ".join(shown_path(p) for p in [*seen, current])
            raise ConfigError(f"{where}: extend: is circular: {circle}")
    return found


def _table(path: Path) -> Mapping[str, object]:
    data = _parse(path)
    if path.name != "pyproject.toml":
        if "tool" in data:
            raise ConfigError(
                f"{shown_path(path)}: [tool.xlamig] is for pyproject.toml; write the keys without it"
            )
        return data
    table = _tool_table(data)
    if table is None:
        raise ConfigError(f"{shown_path(path)}: expected a table [tool.xlamig], found none")
    return table


def _has_table(path: Path) -> bool:
    """Return whether a pyproject.toml is ours; one that never mentions xlamig is not parsed."""
    return b"xlamig" in _read_bytes(path) and _tool_table(_parse(path)) is not None


def _tool_table(data: Mapping[str, object]) -> Mapping[str, object] | None:
    tool = data.get("tool")
    table = tool.get("xlamig") if isinstance(tool, Mapping) else None
    return table if isinstance(table, Mapping) else None


def _parse(path: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(_read_bytes(path).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ConfigError(f"{shown_path(path)}: not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{shown_path(path)}: not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{shown_path(path)}: nested too deeply") from None


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{shown_path(path)}: cannot be read: {error.strerror}") from None
