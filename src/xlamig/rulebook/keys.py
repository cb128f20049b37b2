"""Reads a TOML table key by key: every key is known and has a type."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, TypeVar, overload

from xlamig.config.errors import did_you_mean
from xlamig.rulebook.errors import Where

T = TypeVar("T", bound=str)

_WORDS: Mapping[type, str] = {str: "text", bool: "true or false", dict: "a table", list: "a list"}


class Keys:
    """`known` are all keys there can be; None leaves the table open. Mistakes raise RulebookError."""

    def __init__(self, values: object, where: Where, known: Collection[str] | None = None) -> None:
        if not isinstance(values, dict):
            raise where.error(f"has to be a table, not {values!r}")
        self.values: dict[str, Any] = values
        self.where = where
        if known is not None:
            for key in values:
                if key not in known:
                    raise where.at(key).error(f"unknown key{did_you_mean(key, known)}")

    def _get(self, key: str, kind: type, required: bool = False) -> Any:
        value = self.values.get(key)
        if value is None:
            if required:
                raise self.where.error(f'"{key}" is missing{did_you_mean(key, self.values)}')
        elif type(value) is not kind:
            raise self.where.at(key).error(f"has to be {_WORDS[kind]}, not {value!r}")
        return value

    @overload
    def text(self, key: str, *, required: Literal[True]) -> str: ...
    @overload
    def text(self, key: str) -> str | None: ...
    def text(self, key: str, *, required: bool = False) -> str | None:
        value: str | None = self._get(key, str, required)
        return value

    @overload
    def choice(self, key: str, choices: Iterable[T], *, required: Literal[True]) -> T: ...
    @overload
    def choice(self, key: str, choices: Iterable[T]) -> T | None: ...
    def choice(self, key: str, choices: Iterable[T], *, required: bool = False) -> T | None:
        value = self._get(key, str, required)
        for choice in choices:
            if choice == value:
                return choice
        if value is None:
            return None
        raise self.where.at(key).error(no_such(value, choices))

    def choices(self, key: str, choices: Collection[T], *, required: bool = False) -> tuple[T, ...]:
        """Return the one value of `key`, or those of its list."""
        if not isinstance(self.values.get(key), list):
            one = self.choice(key, choices, required=True) if required else self.choice(key, choices)
            return () if one is None else (one,)
        where = self.where.at(key)
        names = self.texts(key)
        found = tuple(choice for choice in choices if choice in names)
        if len(found) < len(names) or not found:
            unknown = next((name for name in names if name not in choices), None)
            raise where.error("has to name each value once" if unknown is None else no_such(unknown, choices))
        return found

    def flag(self, key: str, default: bool) -> bool:
        value = self._get(key, bool)
        return default if value is None else bool(value)

    def table(self, key: str) -> dict[str, Any] | None:
        value: dict[str, Any] | None = self._get(key, dict)
        return value

    def list(self, key: str, *, required: bool = False) -> list[Any]:
        return self._get(key, list, required) or []

    def texts(self, key: str) -> tuple[str, ...]:
        found = self.list(key)
        for item in found:
            if not isinstance(item, str):
                raise self.where.at(key).error(f"has to be a list of text; {item!r} is not")
        return tuple(found)


def no_such(value: object, choices: Iterable[str]) -> str:
    """Return the error text for a value that is not one of `choices`."""
    hint = did_you_mean(str(value), choices) or f"; there are {', '.join(choices)}"
    return f'there is no "{value}"{hint}'
