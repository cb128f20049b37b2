"""Parameters and results of public torch and torch_xla names: a generated table, read when asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, get_args

Kind = Literal[
    "tensor", "tensors", "number", "bool", "text", "dtype", "device", "shape", "module", "none", "other"
]
KINDS: tuple[Kind, ...] = get_args(Kind)

_PATH = Path(__file__).parent / "data" / "signatures.json"


@dataclass(frozen=True, slots=True)
class Signature:
    """`positional` are the names that a position stands for whichever overload is meant; others that
    there are have to be named, or stand at a position that overloads do not agree on (`open`). `tensors`
    take nothing but a tensor or None, `sequences` nothing but lists and tuples of tensors."""

    positional: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    open: bool = False
    returns: frozenset[Kind] = frozenset()  # empty where it is not known
    tensors: frozenset[str] = frozenset()
    sequences: frozenset[str] = frozenset()


@cache
def signature(name: str) -> Signature | None:
    """Return the signature of a canonical name: "torch.median", "Tensor.median", "torch.nn.Mish",
    "torch.optim.Adam". Of "unknown.to" what holds for a tensor and for a module. None where the name is not
    known."""
    owner, _, method = name.partition(".")
    if owner != "unknown":
        line = _lines().get(name)
        return None if line is None else _parse(line)
    found = [known for owner in ("Tensor", "Module") if (known := signature(f"{owner}.{method}"))]
    return _either(found) if found else None


def names() -> tuple[str, ...]:
    """Return every canonical name whose signature is known."""
    return tuple(_lines())


def is_in_torch(name: str) -> bool:
    """Return whether torch has a function, a class, or a module with either, of a canonical name."""
    return name in _modules() or name in _lines()


def parameters(name: str) -> tuple[str, ...] | None:
    """The positional parameters of a canonical name, in order. None where the name is not known."""
    known = signature(name)
    return None if known is None else known.positional


def returns(name: str) -> frozenset[Kind]:
    """Return the kinds of result of a canonical name; empty if unknown."""
    known = signature(name)
    return frozenset() if known is None else known.returns


def provenance() -> Mapping[str, Any]:
    """Versions, date, command and method of the table."""
    about: Mapping[str, Any] = _document()["about"]
    return about


def _parse(line: str) -> Signature:
    """Return what a line says: `input!, dim * out -> tensor|tensors`, with `...` at the end of positions that
    go on."""
    written, _, kinds = line.partition("->")
    head, _, rest = written.partition("*")
    names = _names(head)
    return Signature(
        tuple(name for name in names if name != "..."),
        _names(rest),
        "..." in names,
        frozenset(kind for kind in KINDS if kind in kinds.strip().split("|")),
        _marked_names(written, "!"),
        _marked_names(written, "+"),
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip(" !+") for name in text.split(",") if name.strip())


def _marked_names(text: str, mark: str) -> frozenset[str]:
    words = text.replace("*", ",").split(",")
    return frozenset(word.strip()[:-1] for word in words if word.strip().endswith(mark))


def _either(signatures: list[Signature]) -> Signature:
    first = signatures[0]
    if len(signatures) == 1:
        return first
    columns = zip(*(known.positional for known in signatures), strict=False)
    agreed = tuple(column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns))
    others = (name for known in signatures for name in (*known.positional, *known.keywords))
    kinds = [known.returns for known in signatures]
    return Signature(
        agreed,
        tuple(dict.fromkeys(name for name in others if name not in agreed)),
        any(known.open or known.positional != agreed for known in signatures),
        frozenset().union(*kinds) if all(kinds) else frozenset(),
    )


def _lines() -> Mapping[str, str]:
    lines: Mapping[str, str] = _document()["signatures"]
    return lines


@cache
def _modules() -> frozenset[str]:
    """The modules and classes whose functions are known."""
    found: set[str] = set()
    for name in _lines():
        while (name := name.rpartition(".")[0]) and name not in found:
            found.add(name)
    return frozenset(found)


@cache
def _document() -> Mapping[str, Any]:
    document: Mapping[str, Any] = json.loads(_PATH.read_text("utf-8"))
    return document
