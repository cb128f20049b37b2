"""The halves of every set of cases: `dev` is looked at, `test` is only counted.

The key is the name of a package (`timm`), a repository (`owner/name`) or a model family (`llama`). A package
and the repository of the same name fall into the same half, and so does a fork that keeps the name.
"""

from __future__ import annotations

import hashlib
import re
from typing import Literal

Split = Literal["dev", "test"]
SPLITS: tuple[Split, Split] = ("dev", "test")


def split_of(key: str) -> Split:
    """Return the half that a package, repository or model family belongs to."""
    name = re.sub(r"[-_.]+", "-", key.rpartition("/")[2].lower())
    return SPLITS[hashlib.sha256(name.encode()).digest()[0] % 2]
