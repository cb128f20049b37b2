"""The one table of settings: key, kind and meaning. Defaults stand in `Settings`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args

from xlamig.config.errors import ConfigError, did_you_mean
from xlamig.config.kinds import (
    BOOLEAN,
    CODES_BY_GLOB,
    GLOBS,
    MODULE,
    PATH,
    PATHS,
    STRINGS,
    VERSION,
    Kind,
    Mismatch,
    amounts,
    choice,
    choices,
    number,
    pairs,
    shares,
)
from xlamig.config.settings import KEEP_WORKING_ON, STYLES, TARGETS, EffortSettings, Settings
from xlamig.config.toml import literal
from xlamig.findings import CONFIDENCES, SEVERITIES, Level


@dataclass(frozen=True, slots=True)
class Key:
    name: str
    kind: Kind
    meaning: str

    @property
    def field(self) -> str:
        """The attribute of Settings or EffortSettings that holds the value."""
        return "style" if self.name == "strategy" else self.name.replace("-", "_")


KEYS = (
    Key("target", choice(*TARGETS), "the XLA backend to migrate to"),
    Key("target-version", VERSION, "the release of the target; the last one measured when unset"),
    Key("keep-working-on", choices(*KEEP_WORKING_ON), "where the fixed code has to keep working"),
    Key(
        "strategy",
        choice(*STYLES),
        "portable fixes keep CUDA running, native ones write for the target alone",
    ),
    Key("select", STRINGS, 'rules to run: codes, prefixes, names or "ALL"'),
    Key("extend-select", STRINGS, "rules to run on top of select"),
    Key("ignore", STRINGS, "rules not to run; the longer prefix wins against select"),
    Key("extend-ignore", STRINGS, "rules not to run on top of ignore"),
    Key("per-file-ignores", CODES_BY_GLOB, "rules not to report in files that match a glob"),
    Key("fixable", STRINGS, "rules that may be fixed"),
    Key("unfixable", STRINGS, "rules that are never fixed"),
    Key("severity", choice(*SEVERITIES), "report findings at least this serious"),
    Key("confidence", choice(*CONFIDENCES), "report findings at least this sure"),
    Key("fail-on", choice(*SEVERITIES), "exit with 1 on findings at or above this severity"),
    Key("preview", BOOLEAN, "run preview rules too"),
    Key("include-tests", BOOLEAN, "report findings in tests and benchmarks like those in other code"),
    Key(
        "include-converters",
        BOOLEAN,
        "report findings in scripts that only convert checkpoints or export models",
    ),
    Key("include-unused", BOOLEAN, "report findings in copies of libraries and in unused modules"),
    Key("include-no-action", BOOLEAN, "report findings that ask for no change"),
    Key("exclude", GLOBS, "names and globs of files and folders not to check; replaces the default list"),
    Key("extend-exclude", GLOBS, "names and globs on top of exclude"),
    Key("force-exclude", BOOLEAN, "exclude files even if they are given on the command line"),
    Key("respect-gitignore", BOOLEAN, "skip what .gitignore files exclude"),
    Key("rules", PATHS, "folders with your own rule pages"),
    Key("max-file-size", number(1, whole=True), "skip larger files, in bytes"),
    Key(
        "cache-dir",
        PATH,
        "where results are kept, in the repository or your cache directory; .xlamig_cache when unset",
    ),
    Key("helper", MODULE, "module of the device helper that portable fixes call"),
    Key("accumulate-in-graph", BOOLEAN, "fixes trace accumulated gradients and their update as one graph"),
    Key("python", PATH, "the Python, or its environment, that has torch_xla, for trace, verify and fit"),
    Key("compiler-python", PATH, "the Python that has jax and libtpu, for fit"),
    Key("torch-tpu-python", PATH, "the Python that has torch_tpu, for dryrun"),
)

EFFORT_KEYS = (
    Key("hours-per-day", number(0, 24, above=True), "working hours in a person-day"),
    Key("overhead-low-hours", number(0), "fixed project work, lower end"),
    Key("overhead-high-hours", number(0), "fixed project work, upper end"),
    Key("exponent", number(0, 1, above=True), "how the cost of one rule grows with its sites"),
    Key("levels", pairs(*get_args(Level)), "minutes per effort level, instead of the built-in ones"),
    Key("confidence", shares(*CONFIDENCES), "chance that a finding is real, by its confidence"),
    Key("tests-weight", number(0, 1), "weight of a site in tests, relative to other code"),
    Key("examples-weight", number(0, 1), "weight of a site in examples, relative to other code"),
    Key("safe-review-minutes", number(0), "minutes to read one site that a safe fix rewrote"),
    Key("unsafe-share", number(0, 1), "share of the work that is left where an unsafe fix was applied"),
    Key("moderate-days", number(0, above=True), "person-days up to which a migration is easy"),
    Key("hard-days", number(0, above=True), "person-days from which it is hard"),
    Key("dominant-share", number(0, 1, above=True), "share of one rule from which the plan warns"),
    Key("lines", amounts(*get_args(Level)), "lines to change per class or function with such a site"),
    Key("lines-further", number(0), "lines to change for each further site in a class or function"),
    Key("fixed-lines", number(0), "lines to change that no finding shows"),
    Key("hardware", PATH, "your own hardware and price table; its entries win"),
    Key("hourly-rate", number(0, above=True), "cost of one hour of migration work"),
)  # fmt: skip

EXTEND = Key("extend", PATH, "another configuration file to start from")

Values = dict[str, Any]
"""Read values by field name; effort as a dict of its own."""


class Description(NamedTuple):
    key: str
    type: str
    default: str
    meaning: str


def read(table: Mapping[str, object], base: Path, where: str) -> Values:
    """The values of a configuration table, `extend` left aside. `where` is named in errors."""
    table = {name: value for name, value in table.items() if name != EXTEND.name}
    effort = table.pop("effort", {})
    if not isinstance(effort, Mapping):
        raise ConfigError(f"{where}: effort: expected a table, got {literal(effort)}")
    values = _read(KEYS, table, base, where, "")
    return {**values, "effort": _read(EFFORT_KEYS, effort, base, where, "effort.")}


def _read(keys: Iterable[Key], table: Mapping[str, object], base: Path, where: str, prefix: str) -> Values:
    known = {key.name: key for key in keys}
    values: Values = {}
    for name, value in table.items():
        if value is None:  # a command line option that was not given
            continue
        if name not in known:
            words = [*known, *(() if prefix else ("effort", EXTEND.name))]
            hint = did_you_mean(name, words) or "; `xlamig config` lists the keys"
            raise ConfigError(f'{where}: unknown key "{prefix}{name}"{hint}')
        key = known[name]
        values[key.field] = read_value(key, value, base, where, prefix)
    return values


def read_value(key: Key, value: object, base: Path, where: str, prefix: str = "") -> object:
    try:
        return key.kind.read(value, base)
    except Mismatch as error:
        hint = did_you_mean(str(error.got), error.known)
        message = f"{where}: {prefix}{key.name}: expected {key.kind.expects}, got {literal(error.got)}{hint}"
        raise ConfigError(message) from None


def describe() -> list[Description]:
    """Every key with its type, default and meaning, in the order of the table."""
    plain, effort = Settings(), EffortSettings()
    return [
        Description(EXTEND.name, EXTEND.kind.expects, "unset", EXTEND.meaning),
        *(_describe_key(key, "", getattr(plain, key.field)) for key in KEYS),
        *(_describe_key(key, "effort.", getattr(effort, key.field)) for key in EFFORT_KEYS),
    ]


def _describe_key(key: Key, prefix: str, default: object) -> Description:
    shown = "unset" if default is None else literal(default)
    return Description(prefix + key.name, key.kind.expects, shown, key.meaning)


def to_toml(settings: Settings) -> str:
    """The settings as a configuration file that gives them again."""
    lines = [
        f"# from {settings.source or 'the defaults'}",
        f"# globs start from {settings.root}",
        *_write_keys(KEYS, settings),
        "",
        "[effort]",
        *_write_keys(EFFORT_KEYS, settings.effort),
    ]
    return "\n".join(lines) + "\n"


def _write_keys(keys: Iterable[Key], owner: object) -> list[str]:
    found = ((key.name, getattr(owner, key.field)) for key in keys)
    return [f"{name} = {literal(value)}" for name, value in found if value is not None]
