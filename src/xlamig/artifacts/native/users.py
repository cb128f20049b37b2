"""Where Python calls an operator of an extension."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

_NO_EXTENSION = frozenset({
    "self", "cls", "super", "torch", "F", "nn", "np", "numpy", "math", "os", "tf", "jnp", "module", "model",
})  # fmt: skip
_OWNER = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*$")
_LONGEST = 120  # characters of a dotted name
_LOADED = r"(?:load\w*\s*\(|import_module|get_plugin|_ext\b|torch\.ops|OpBuilder|\.load\(|_C\b)"


class User(NamedTuple):
    operator: str
    filename: str
    row: int
    end: int  # of the name that is called


def users_of(
    operators: Collection[str], modules: Collection[str], python: Iterable[tuple[str, str]]
) -> dict[str, list[User]]:
    """The places where an operator is called: `torch.ops.ns.op(...)`, or as an attribute of a name that
    the file imports from an extension or loads one into."""
    short: dict[str, list[str]] = defaultdict(list)
    for operator in operators:
        short[operator.rpartition("::")[2]].append(operator)
    names = "|".join(re.escape(name).replace(r"\*", r"\w*") for name in sorted(short, key=len, reverse=True))
    call = re.compile(rf"\.({names})(?:\.default)?\s*\(")
    found: dict[str, list[User]] = defaultdict(list)
    for filename, text in python:
        if not any(name.rstrip("*") in text for name in short):
            continue
        row, at = 1, 0
        owners: dict[str, bool] = {}
        for match in call.finditer(text):
            before = _OWNER.search(text, max(0, match.start() - _LONGEST), match.start())
            if before is None:
                continue
            row, at = row + text.count("\n", at, match.start()), match.start()
            for operator in short.get(match[1]) or _completed_operators(match[1], short):
                if _is_called(operator, before[0], text, owners, modules):
                    found[operator].append(User(operator, filename, row, match.end(1)))
    return found


_LOADS = re.compile(r"\bCDLL\b|\bcdll\b|LoadLibrary|load_library")
_LIBRARY = r"[\w.]*(?:lib|dll|LIB|DLL)\w*"


def exports_called(names: Collection[str], python: Iterable[tuple[str, str]]) -> dict[str, list[User]]:
    """The places where a function of `extern "C"` is called by way of ctypes: as an attribute of what is
    called a library, in a program that loads one."""
    if not names:
        return {}
    files = [(filename, text) for filename, text in python if "lib" in text.lower() or "dll" in text.lower()]
    if not any(_LOADS.search(text) for _, text in files):
        return {}
    words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    call = re.compile(rf"(?<![\w.]){_LIBRARY}\.({words})\s*\(")
    found: dict[str, list[User]] = defaultdict(list)
    for filename, text in files:
        for match in call.finditer(text):
            row = text.count("\n", 0, match.start()) + 1
            found[match[1]].append(User(match[1], filename, row, match.end(1)))
    return found


def _completed_operators(name: str, short: Mapping[str, list[str]]) -> list[str]:
    """The operators whose name a macro completes to this one."""
    fitting = [key for key in short if key.endswith("*") and name.startswith(key[:-1])]
    return short[max(fitting, key=len)] if fitting else []


def _is_called(
    operator: str, owner: str, text: str, owners: dict[str, bool], modules: Collection[str]
) -> bool:
    namespace = operator.rpartition("::")[0]
    if owner.startswith("torch.ops."):
        return owner == f"torch.ops.{namespace}"
    last = owner.rpartition(".")[2]
    if last in modules:
        return True
    if owner.partition(".")[0] in _NO_EXTENSION and "_" not in last:
        return False
    if owner not in owners:
        owners[owner] = _is_extension(last, text)
    return owners[owner]


def _is_extension(name: str, text: str) -> bool:
    """Return whether the file imports the name with a whole line of its own, or loads something into it."""
    word = re.escape(name)
    if name == "_C":
        return True
    loaded = rf"(?<!\w){word}\s*(?::[^=\n]*)?=\s*[^\n]*{_LOADED}"
    imported = rf"^\s*(?:import\s+(?:[\w.]+\s+as\s+)?{word}\s*$|from\s+\.*[\w.]*\s+import\s+{word}\s*$)"
    native = r"(?:cuda|ext|_C|kernel|plugin|gpu){1}"
    return re.search(loaded, text) is not None or (
        re.search(imported, text, re.MULTILINE) is not None
        and re.search(native, name, re.IGNORECASE) is not None
    )
