"""The kinds of values a setting takes: what is accepted, and how to say what was expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xlamig.config.patterns import Patterns


class Mismatch(Exception):
    """A value of the wrong kind. `known` are the words it could have been."""

    def __init__(self, got: object, known: Sequence[str] = ()) -> None:
        super().__init__(got, known)
        self.got = got
        self.known = known


@dataclass(frozen=True, slots=True)
class Kind:
    """`read` takes a TOML value and the folder that relative paths start from."""

    expects: str
    read: Callable[[object, Path], object]


def _boolean(value: object, base: Path) -> bool:
    if not isinstance(value, bool):
        raise Mismatch(value)
    return value


def _string(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise Mismatch(value)
    return value


def _strings(value: object, base: Path) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise Mismatch(value)
    return tuple(_string(item) for item in value)


def _globs(value: object, base: Path) -> tuple[str, ...]:
    globs = _strings(value, base)
    for glob in globs:
        try:
            Patterns([glob], base)
        except ValueError:
            raise Mismatch(glob) from None
    return globs


def _path(value: object, base: Path) -> Path:
    if isinstance(value, Path):
        value = str(value)
    try:
        return base / Path(_string(value)).expanduser()
    except RuntimeError:  # "~someone" with no home
        raise Mismatch(value) from None


def _paths(value: object, base: Path) -> tuple[Path, ...]:
    if not isinstance(value, list | tuple):
        raise Mismatch(value)
    return tuple(_path(item, base) for item in value)


def _module(value: object, base: Path) -> str:
    if not all(part.isidentifier() for part in _string(value).split(".")):
        raise Mismatch(value)
    return _string(value)


def _version(value: object, base: Path) -> str:
    # Imported here: most runs give no version, and packaging takes long to import.
    from packaging.version import InvalidVersion, Version

    try:
        return str(Version(_string(value)))
    except InvalidVersion:
        raise Mismatch(value) from None


def _codes_by_glob(value: object, base: Path) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise Mismatch(value)
    _globs(list(value), base)
    return {_string(glob): _strings(codes, base) for glob, codes in value.items()}


def _choose(value: object, words: tuple[str, ...]) -> str:
    if _string(value) not in words:
        raise Mismatch(value, words)
    return _string(value)


def choice(*words: str) -> Kind:
    return Kind("one of " + _quote_words(words), lambda value, base: _choose(value, words))


def choices(*words: str) -> Kind:
    def read(value: object, base: Path) -> tuple[str, ...]:
        return tuple(_choose(item, words) for item in _strings(value, base))

    return Kind("a list out of " + _quote_words(words), read)


def number(low: float, high: float = float("inf"), *, above: bool = False, whole: bool = False) -> Kind:
    """A number from `low` (or only above it) to `high`."""

    def read(value: object, base: Path) -> float:
        return _number(value, low, high, above, whole)

    noun = "a whole number" if whole else "a number"
    expects = f"{noun} above {low:g}" if above else f"{noun} from {low:g}"
    return Kind(expects + (f" to {high:g}" if high < float("inf") else ""), read)


def _number(value: object, low: float, high: float, above: bool, whole: bool) -> float:
    accepted = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, accepted):
        raise Mismatch(value)
    if not low <= value <= high or (above and value == low) or value == float("inf"):
        raise Mismatch(value)
    return value if whole else float(value)


def pairs(*words: str) -> Kind:
    """A table from some of `words` to two numbers."""

    def read(value: object, base: Path) -> dict[str, tuple[float, float]]:
        if not isinstance(value, Mapping):
            raise Mismatch(value)
        found = {}
        for word, minutes in value.items():
            if not isinstance(minutes, list | tuple) or len(minutes) != 2:
                raise Mismatch(minutes)
            offset, site = (_number(item, 0, float("inf"), False, False) for item in minutes)
            found[_choose(word, words)] = (offset, site)
        return found

    return Kind(f"a table from {_quote_words(words)} to [offset, per site] in minutes", read)


def amounts(*words: str, high: float = float("inf")) -> Kind:
    """A table from some of `words` to one number each, from 0 to `high`."""

    def read(value: object, base: Path) -> dict[str, float]:
        if not isinstance(value, Mapping):
            raise Mismatch(value)
        return {_choose(word, words): _number(got, 0, high, False, False) for word, got in value.items()}

    limit = f" from 0 to {high:g}" if high < float("inf") else ""
    return Kind(f"a table from {_quote_words(words)} to a number{limit}", read)


def shares(*words: str) -> Kind:
    return amounts(*words, high=1)


def _quote_words(words: Sequence[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


BOOLEAN = Kind("true or false", _boolean)
STRINGS = Kind("a list of strings", _strings)
PATH = Kind("a path", _path)
PATHS = Kind("a list of paths", _paths)
MODULE = Kind("a module name", _module)
VERSION = Kind('a version such as "2.9"', _version)
GLOBS = Kind("a list of names and globs, each with at most four `**`", _globs)
CODES_BY_GLOB = Kind("a table from globs to lists of codes", _codes_by_glob)
