"""Tests of torch's version, decided for the torch that xlamig speaks of."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

TORCH = (2, 9)

# Any: versions are tuples of numbers and texts
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_CALL = re.compile(r"is_torch_version\(\s*[\"']([<>=!]=?)[\"']\s*,\s*[\"'](\d+)\.(\d+)")
_COMPARED = re.compile(
    r"(?:torch\.__version__|TORCH_VERSION|torch_version)\W*\)?\s*([<>=!]=?)\D*?(\d+)\D+(\d+)"
)


def holds_on_torch(text: str) -> bool | None:
    """Return whether a test of torch's version, as source text, is true; None if it is no such test.

    `is_torch_version(">=", "2.3")`, `version.parse(torch.__version__) >= version.parse("2.0")`
    """
    found = _CALL.search(text) or _COMPARED.search(text)
    if found is None or found[1] not in _OPERATORS:
        return None
    return _OPERATORS[found[1]](TORCH, (int(found[2]), int(found[3])))
