"""Names that share a row of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Entry = TypeVar("Entry")


def grouped(
    entries: Sequence[Entry], names_of: Callable[[Entry], Iterable[str]], inplace_of: Callable[[Entry], str]
) -> list[tuple[list[str], list[Entry]]]:
    """Names that are in the same entries go together, with these. `torch.maximum` shares one entry with
    `torch.max`, and is another operator. A form in place goes to the first name of its entry."""
    having: dict[str, list[int]] = {}
    for index, entry in enumerate(entries):
        for name in names_of(entry):
            having.setdefault(name, []).append(index)
    home: dict[tuple[int, ...], list[str]] = {}
    for name, indices in having.items():
        home.setdefault(tuple(indices), []).append(name)
    group_of = {name: names for names in home.values() for name in names}
    for index, entry in enumerate(entries):
        if not (inplace := inplace_of(entry)) or inplace in group_of:
            continue
        names = group_of.get(next(iter(names_of(entry)), ""))
        if names is None:
            names = home.setdefault((index,), [])
        names.append(inplace)
        group_of[inplace] = names
    return [(names, [entries[index] for index in indices]) for indices, names in home.items()]
