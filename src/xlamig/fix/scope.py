"""A place for the helper."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Scope(NamedTuple):
    """A folder in which a helper may lie. `package` is what an import of it has in front of the
    helper's name: "pkg." or ""."""

    folder: Path
    package: str
