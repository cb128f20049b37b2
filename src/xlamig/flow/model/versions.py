"""Tests of the versions of torch, its domain libraries and Python, decided for the releases that xlamig
speaks of."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

RELEASES = {"torch": "2.9.0", "torchvision": "0.24.0", "torchaudio": "2.9.0"}
_LATER = {"torch": "2.99.0", "torchvision": "0.99.0", "torchaudio": "2.99.0"}
_PYTHONS = ((3, 10, 0), (3, 99, 0))  # torch 2.9 runs on no older one

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
_ASKED = r"(?:\b(torch\w*)\.__version__|\bTORCH_VERSION\b|\btorch_version\b)"
_COMPARED = re.compile(
    rf"""{_ASKED}
    (?:\.split\(\s*["']\+["']\s*\)\[0\])?  # without the build, "+cu118"
    (?:\.split\(\W*\))? (?:\[(?P<slice>:?)(?P<count>\d+)\])?  # a part of it
    \W*?\s* (?P<operator>[<>=!]=?)
    \D*? (?P<major>\d+) (?:(?:\.|,\s*)(?P<minor>\d+))?  # a text, a tuple or a number
    """,
    re.VERBOSE,
)
_MAJOR = re.compile(r"\btorch_major(?:_version)?\s*([<>=!]=?)\s*(\d+)", re.IGNORECASE)
_STARTS = re.compile(rf"""{_ASKED}\.startswith\(\s*["']([\d.]+)["']""")

_PYTHON = re.compile(
    r"""sys\.version(?:_info)? (?:\.(?P<major_only>major)|\[(?P<slice>:?)(?P<count>\d+)\])?
    \s*(?P<operator>[<>=!]=?)\s* [("']*\s* (?P<major>\d+) (?:(?:\.|,\s*)(?P<minor>\d+))?""",
    re.VERBOSE,
)


def holds_on_python(text: str) -> bool | None:
    """Return whether a test of Python's version, as source text, is true on all that torch runs on; None if
    it is no such test, or true on some of them.

    `sys.version_info[0] == 2`, `sys.version_info >= (3, 6)`, `sys.version_info.major < 3`, `sys.version[0] ==
    "2"`
    """
    found = _PYTHON.match(text)
    if found is None or found["operator"] not in _OPERATORS:
        return None
    asked = tuple(int(number) for number in (found["major"], found["minor"]) if number is not None)
    count = 1 if found["major_only"] else None
    if found["count"] is not None:
        count = int(found["count"]) + (not found["slice"])
        if count > 1 and not found["slice"]:
            return None  # the minor number alone
    first, last = (_OPERATORS[found["operator"]](release[:count], asked) for release in _PYTHONS)
    return first if first == last else None


def holds_on_torch(text: str, later: bool = False) -> bool | None:
    """Return whether a test of torch's version, as source text, is true, or will be on `later` releases; None
    if it is no such test.

    `is_torch_version(">=", "2.3")`, `version.parse(torch.__version__) >= version.parse("2.0")`,
    `float(torchvision.__version__[:3]) < 0.7`, `int(torch.__version__.split(".")[0]) < 2`, `TORCH_MAJOR == 1`
    """
    releases = _LATER if later else RELEASES
    if (called := _CALL.search(text)) is not None:
        return _OPERATORS[called[1]](_numbers(releases["torch"])[:2], (int(called[2]), int(called[3])))
    if (named := _MAJOR.search(text)) is not None and named[1] in _OPERATORS:
        return _OPERATORS[named[1]](_numbers(releases["torch"])[0], int(named[2]))
    if (begins := _STARTS.search(text)) is not None and (begins[1] or "torch") in releases:
        return releases[begins[1] or "torch"].startswith(begins[2])
    found = _COMPARED.search(text)
    if found is None or found["operator"] not in _OPERATORS or (found[1] or "torch") not in releases:
        return None
    asked = tuple(int(number) for number in (found["major"], found["minor"]) if number is not None)
    release = releases[found[1] or "torch"]
    return _OPERATORS[found["operator"]](_taken(release, found)[: len(asked)], asked)


def _taken(release: str, found: re.Match[str]) -> tuple[int, ...]:
    """Return the numbers of a version that a test compares: `__version__[:3]` is "0.2" of "0.24.0"."""
    if found["count"] is None:
        return _numbers(release)
    in_parts = ".split(" in found[0] or found[1] is None  # of a tuple of numbers
    count = int(found["count"])
    if not found["slice"]:
        parts = (release.split(".") if in_parts else list(release))[count : count + 1]
    else:
        parts = release.split(".")[:count] if in_parts else release[:count].split(".")
    return tuple(int(part) for part in parts if part.isdigit())


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
