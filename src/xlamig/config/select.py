"""Which rules are on. The codes come from outside: configuration knows no rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from xlamig.config.errors import ConfigError, did_you_mean
from xlamig.config.paths import absolute
from xlamig.config.patterns import Patterns
from xlamig.config.settings import Settings

ALL = "ALL"
SELECTOR_KEYS = (
    "select", "extend-select", "ignore", "extend-ignore", "per-file-ignores", "fixable", "unfixable",
)  # fmt: skip


class UnknownSelector(NamedTuple):
    key: str
    selector: str
    hint: str  # `; did you mean "x"?` or nothing


def matches(selector: str, code: str, name: str) -> bool:
    """Return whether "ALL", a prefix of the code, the code or the name means this rule, in any case."""
    prefix, letters = selector.upper(), code.rstrip("0123456789")
    by_code = prefix.startswith(letters) and code.startswith(prefix)
    return prefix == ALL or selector.lower() == name or by_code


class Selection:
    """The rules of one Settings; `codes` maps every known code to its name."""

    def __init__(self, settings: Settings, codes: Mapping[str, str]) -> None:
        self._codes = codes
        self._settings = settings
        self.enabled = self._pick(
            (*settings.select, *settings.extend_select), (*settings.ignore, *settings.extend_ignore)
        )
        self.fixable = self._pick(settings.fixable, settings.unfixable)
        self._per_file = [
            # "!src/**" here means every file but these.
            (Patterns([glob.removeprefix("!")], settings.root), glob[:1] != "!", self._pick(selectors, ()))
            for glob, selectors in settings.per_file_ignores.items()
        ]
        self._ignored: dict[str, frozenset[str]] = {}

    def __contains__(self, code: str) -> bool:
        return code in self.enabled

    def ignored_for(self, filename: str, code: str) -> bool:
        """Return whether per-file-ignores leaves this rule out for a file."""
        if not self._per_file:
            return False
        if filename not in self._ignored:
            path = absolute(filename).as_posix()
            hit = (codes for patterns, wanted, codes in self._per_file if patterns.match(path) is wanted)
            self._ignored[filename] = frozenset().union(*hit)
        return code in self._ignored[filename]

    @property
    def unknown(self) -> tuple[UnknownSelector, ...]:
        """Selectors of the settings that mean no known rule, in a fixed order."""
        s = self._settings
        per_file = [code for codes in s.per_file_ignores.values() for code in codes]
        values = (s.select, s.extend_select, s.ignore, s.extend_ignore, per_file, s.fixable, s.unfixable)
        return tuple(
            found
            for key, selectors in zip(SELECTOR_KEYS, values, strict=True)
            for found in find_unknown(key, selectors, self._codes)
        )

    def _pick(self, chosen: Iterable[str], dropped: Iterable[str]) -> frozenset[str]:
        """The longer selector wins; of two equally long ones, the dropping one."""
        on, off = tuple(chosen), tuple(dropped)
        return frozenset(
            code
            for code, name in self._codes.items()
            if _strongest(on, code, name) > _strongest(off, code, name)
        )


def _strongest(selectors: Iterable[str], code: str, name: str) -> int:
    weights = {ALL.lower(): 0, name: len(code)}
    hits = (weights.get(s.lower(), len(s)) for s in selectors if matches(s, code, name))
    return max(hits, default=-1)


def find_unknown(key: str, selectors: Iterable[str], codes: Mapping[str, str]) -> list[UnknownSelector]:
    """Return the members of `selectors` that match no known rule."""
    known = [ALL, *codes, *codes.values()]
    return [
        UnknownSelector(key, selector, did_you_mean(selector, known) or "; `xlamig rules` lists them")
        for selector in selectors
        if not codes_of(selector, codes)
    ]


def codes_of(selector: str, codes: Mapping[str, str]) -> frozenset[str]:
    """The codes a selector means."""
    return frozenset(code for code, name in codes.items() if matches(selector, code, name))


def reject_unknown(overrides: Mapping[str, object], codes: Mapping[str, str]) -> None:
    """Raises ConfigError for a selector of the command line that means no rule."""
    for key in SELECTOR_KEYS:
        given = overrides.get(key)
        if isinstance(given, Mapping):
            given = [selector for selectors in given.values() for selector in selectors]
        if isinstance(given, list | tuple):
            for found in find_unknown(key, given, codes):
                raise ConfigError(f'command line: {key}: unknown rule "{found.selector}"{found.hint}')
