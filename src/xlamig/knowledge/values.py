"""The results and arguments of calls where torch's signatures are silent: a hand-written table."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_PATH = Path(__file__).parent / "data" / "values.toml"


@cache
def result_of(name: str) -> str:
    """Return the result of a canonical name, as a word of the table; "" if it is silent."""
    calls: dict[str, str] = _document()["calls"]
    exact = calls.get(name)
    if exact is not None:
        return exact
    fitting = [pattern for pattern, search in _globs().get(name.partition(".")[0], ()) if search.match(name)]
    return calls[max(fitting, key=len)] if fitting else ""


@cache
def object_of(name: str) -> str:
    """The kind of object of another library that a class of this name makes; "" if the table has none."""
    kinds: dict[str, list[str]] = _document()["objects"]
    fitting = [
        (len(pattern), kind)
        for kind, patterns in kinds.items()
        for pattern in patterns
        if pattern == name or ("*" in pattern and _glob(pattern).match(name))
    ]
    return max(fitting)[1] if fitting else ""


def method_of(kind: str, name: str) -> str:
    """Return the effect of a method of such an object; "" if the table is silent."""
    found: str = _document()["methods"].get(kind, {}).get(name, "")
    return found


def variants(package: str) -> Mapping[str, Mapping[str, str]]:
    """Return the arguments of a package's classes that choose another class, and how its name begins."""
    found: dict[str, dict[str, str]] = _document()["variants"].get(package, {})
    return found


@cache
def called_by(base: str) -> tuple[str, ...]:
    """Return the methods that a library's class `base` runs when an object of a subclass is called."""
    found = (names for pattern, names in _document()["called"].items() if _glob(pattern).match(base))
    return tuple(next(found, ()))


@cache
def leaves_alone(base: str, method: str) -> bool:
    """Return whether a library never calls a method of this name on what derives from its class, whose last
    name is `base`; False for "" and where the table does not know the class."""
    if not method or method.startswith("_"):
        return False
    hooks = (names for pattern, names in _document()["hooks"].items() if _glob(pattern).match(base))
    return any(method not in names for names in hooks)


@cache
def is_step_hook(base: str, method: str) -> bool:
    """Return whether a library calls a method of what derives from its class `base` every step."""
    hooks = (names for pattern, names in _document()["step-hooks"].items() if _glob(pattern).match(base))
    return any(method in names for names in hooks)


def step_function(name: str) -> tuple[int, str] | None:
    """Return the position and the name of the argument that an object of class `name` calls every step."""
    found = _document()["step-functions"].get(name)
    return None if found is None else (found["position"], found["name"])


class Launcher(NamedTuple):
    """A call that starts a program or a process: the position and the name of the argument that holds its
    function, and of the one that holds its arguments ("" none), after `first` others."""

    function: tuple[int, str]
    given: tuple[int, str]
    first: int


@cache
def launcher(name: str) -> Launcher | None:
    """Return how the call of `name` starts a program; None for any other call."""
    found = _document()["launchers"].get(name)
    if found is None:
        return None
    return Launcher(tuple(found["function"]), tuple(found["given"]), found["first"])


def switches(package: str) -> Mapping[str, object]:
    """Return the arguments that leave out what the rows of a package's classes tell."""
    found: dict[str, object] = _document()["switches"].get(package, {})
    return found


@cache
def names(section: str, key: str) -> frozenset[str]:
    """A list of the table."""
    return frozenset(_document()[section][key])


@cache
def program_group(name: str) -> frozenset[str]:
    """Return the names that rule pages ask a program for as "@name"; none for an unknown group."""
    return frozenset(_document()["program-groups"].get(name, ()))


def read_by(kind: str, name: str) -> str:
    """How a method ("methods") or a function ("functions") reads a tensor; "" if it does not."""
    found: str = _document()["reads"][kind].get(name, "")
    return found


@cache
def consumer(name: str) -> str:
    """Return the consumer that a function is of a value that the host reads; "" if the table is silent."""
    for word, callees in _document()["consumers"].items():
        if any(name == callee or (callee.endswith(".") and name.startswith(callee)) for callee in callees):
            return str(word)
    return ""


def makes_arrays(name: str) -> bool:
    """Return whether a function makes a NumPy array of each tensor that it is given."""
    return name in names("reads", "arrays") or name.startswith(tuple(names("reads", "array-libraries")))


def makes_array_of_list(name: str) -> bool:
    """Return whether a function makes a NumPy array of a list that it is given; those of NumPy do, also
    those that call the method of a tensor: `np.mean(losses)`."""
    of_numpy = name.startswith("numpy.") and name not in names("reads", "list-keeping")
    return of_numpy or makes_arrays(name)


def dtype_of_class(name: str) -> str:
    """Return the dtype of a tensor class, "float32" for "torch.FloatTensor" and "torch.cuda.FloatTensor"; ""
    for other names."""
    owner, _, last = name.rpartition(".")
    found: str = _document()["dtypes"].get(last, "") if owner in ("torch", "torch.cuda") else ""
    return found


def single_draw(name: str) -> int:
    """How many arguments of a function of numpy.random say what is drawn, not how much of it."""
    found: int = _document()["numpy-random"].get(name, 0)
    return found


def number_arguments(name: str, section: str = "numbers") -> tuple[str, ...] | None:
    """The arguments of a function or method that have to be numbers, "*" for all positional ones."""
    found = _document()[section].get(name)
    return None if found is None else tuple(found)


def number_first(name: str, given: int) -> bool:
    """Return whether a method with so many positional arguments takes a number as the first one."""
    wanted: int | None = _document()["number-first"].get(name)
    return wanted == given


@cache
def name_like(kind: str) -> re.Pattern[str]:
    """The names that objects of a kind have by convention."""
    return re.compile(_document()["names"][kind], re.IGNORECASE if kind != "optimizer" else 0)


def files_of_library(package: str) -> Sequence[str]:
    """Return files that tell a copy of a library from another package of its name; () for other names."""
    found: list[str] = _document()["libraries"].get(package, [])
    return found


def kinds_like(name: str) -> frozenset[str]:
    """Return the kinds of objects that have such a name by convention."""
    return frozenset(kind for kind in _document()["names"] if name_like(kind).search(name))


@cache
def _globs() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    found: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for pattern in _document()["calls"]:
        if "*" in pattern:
            found.setdefault(pattern.partition(".")[0], []).append((pattern, _glob(pattern)))
    return found


def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", ".*") + "$")


@cache
def _document() -> dict[str, Any]:
    with _PATH.open("rb") as file:
        return tomllib.load(file)
