"""Which operators of Python reach which native source, and who calls them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from itertools import takewhile
from pathlib import PurePosixPath
from typing import NamedTuple

from xlamig.artifacts.native.summary import Binding, Native
from xlamig.artifacts.native.users import User, exports_called, users_of
from xlamig.facts import Span

_COMMON = 6  # a name that more files define is a helper's: it ties nothing together
_MOST_USERS = 6
_INCLUDED = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".inc")


class Bound(NamedTuple):
    """An operator, and where it is bound."""

    operator: str
    filename: str
    offset: int


class Links(NamedTuple):
    """The places in other files that use a source; `more` users are not listed."""

    operators: tuple[Bound, ...] = ()
    users: tuple[User, ...] = ()
    more: int = 0


Node = tuple[str, str]
"""A function or kernel: the file that defines it, and its name."""


class NativeIndex:
    """Over the native sources of a run, and the text of its Python files."""

    def __init__(self, files: Mapping[str, Native], python: Collection[tuple[str, str]] = ()) -> None:
        self._local = {
            (name, function)
            for name, file in files.items()
            if not name.endswith(_INCLUDED)
            for function in file.local
        }
        self._defining_files = _defining_files(files)
        self._calls = self._edges(files)
        bound: dict[str, list[Bound]] = defaultdict(list)
        reached: dict[str, set[str]] = defaultdict(set)
        for name, file in files.items():
            for binding in file.bindings:
                bound[binding.operator].append(Bound(binding.operator, name, binding.span[0]))
                start = self._meant_nodes(_function(binding), name)
                reached[binding.operator] |= {name, *(place for place, _ in self._reach(start))}
        self._bound = bound
        self._operators: dict[str, list[str]] = defaultdict(list)
        for operator in sorted(reached):
            for name in reached[operator]:
                self._operators[name].append(operator)
        sources = {name for name, file in files.items() if file.kernels}
        self._kernels = {
            operator: min(places & sources) for operator, places in reached.items() if places & sources
        }
        modules = {module for file in files.values() for module in file.modules}
        self._users = users_of(set(reached), modules, python) if reached else {}
        self._join(files, exports_called(_exported_places(files), python))

    def _join(self, files: Mapping[str, Native], called: Mapping[str, list[User]]) -> None:
        """Functions of `extern "C"` that Python calls are operators like the others."""
        for name in sorted(called):
            for place, span in _exported_places(files)[name]:
                self._bound.setdefault(name, []).append(Bound(name, place, span[0]))
                for reached in sorted({place, *(file for file, _ in self._reach([(place, name)]))}):
                    if name not in self._operators[reached]:
                        self._operators[reached].append(name)
            self._users.setdefault(name, []).extend(called[name])

    def links(self, filename: str) -> Links:
        users = self.users(filename)
        return Links(
            tuple(_nearest(self._bound[op], filename) for op in self.operators(filename)),
            tuple(users[:_MOST_USERS]),
            max(0, len(users) - _MOST_USERS),
        )

    def operators(self, filename: str) -> list[str]:
        """Return the operators of Python that reach a source."""
        return self._operators.get(filename, [])

    def users(self, filename: str) -> list[User]:
        """Return the places in Python that call them."""
        return [user for operator in self.operators(filename) for user in self._users.get(operator, ())]

    def called_in(self, filename: str) -> tuple[tuple[int, str], ...]:
        """Return where a Python file calls operators that reach kernels: the end of the callee's name, and a
        file with kernels."""
        return tuple(
            (user.end, place)
            for operator, users in self._users.items()
            for user in users
            if user.filename == filename and (place := self._kernels.get(operator))
        )

    def _meant_nodes(self, name: str, filename: str) -> list[Node]:
        """Return the nodes that a name stands for in a file: the file's own definitions first, then those of
        others."""
        places = self._defining_files.get(name, ())
        if filename in places:
            return [(filename, name)]
        places = [place for place in places if (place, name) not in self._local]
        return [(place, name) for place in places] if len(places) <= _COMMON else []

    def _edges(self, files: Mapping[str, Native]) -> dict[Node, set[Node]]:
        calls: dict[Node, set[Node]] = defaultdict(set)
        known = self._defining_files.keys()
        for filename, file in files.items():
            for function, words in file.functions:
                for word in words & known:
                    calls[filename, function].update(self._meant_nodes(word, filename))
            for words in file.mentions:
                tied = [node for word in words & known for node in self._meant_nodes(word, filename)]
                for node in tied:
                    calls[node].update(tied)
        return calls

    def _reach(self, start: list[Node]) -> set[Node]:
        seen: set[Node] = set()
        pending = list(start)
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                pending += self._calls.get(node, ())
        return seen


def _nearest(bound: list[Bound], filename: str) -> Bound:
    """Return the binding of an operator that shares most folders with a file: a project may hold it twice."""
    folders = PurePosixPath(filename).parts

    def shared(one: Bound) -> int:
        pairs = zip(PurePosixPath(one.filename).parts, folders, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    return max(bound, key=shared)


def _exported_places(files: Mapping[str, Native]) -> dict[str, list[tuple[str, Span]]]:
    """Where each function of `extern "C"` is."""
    exported: dict[str, list[tuple[str, Span]]] = defaultdict(list)
    for filename, file in files.items():
        for name, span in file.exports:
            exported[name].append((filename, span))
    return exported


def _defining_files(files: Mapping[str, Native]) -> dict[str, list[str]]:
    """The files that define a name."""
    defined: dict[str, list[str]] = defaultdict(list)
    for filename, file in files.items():
        kernels = (kernel.name for kernel in file.kernels if kernel.form != "declaration")
        for name in {function for function, _ in file.functions}.union(kernels):
            defined[name].append(filename)
    return defined


def _function(binding: Binding) -> str:
    return binding.function or binding.operator.rpartition("::")[2]
