"""Which settings hold for a file: the closest configuration, the command line on top."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from xlamig.config.errors import ConfigError
from xlamig.config.files import find, layers
from xlamig.config.paths import absolute, may_keep, shown_path
from xlamig.config.schema import Values, read
from xlamig.config.settings import EffortSettings, Settings

COMMAND_LINE = "command line"
# These add up from layer to layer, all else is replaced.
_GROWING = ("extend_select", "extend_ignore", "extend_exclude")


class Resolver:
    """Settings by place. `overrides` are command line values by configuration key, None if not
    given; `explicit` is the one file to use; `isolated` reads no file at all."""

    def __init__(
        self,
        overrides: Mapping[str, object] | None = None,
        explicit: Path | None = None,
        isolated: bool = False,
    ) -> None:
        if explicit is not None and isolated:
            raise ConfigError(f"{COMMAND_LINE}: a configuration file and --isolated exclude each other")
        self._cwd = Path.cwd()
        self._overrides = read(overrides or {}, self._cwd, COMMAND_LINE)
        self._by_folder: dict[Path, Settings] = {}
        self._everywhere: Settings | None = None
        if isolated or explicit is not None:
            self._everywhere = self._build(self._cwd, explicit)

    def settings_for(self, path: Path) -> Settings:
        """The settings for a file, or for what a folder holds; the path need not exist."""
        if self._everywhere is not None:
            return self._everywhere
        path = absolute(path)
        if path in self._by_folder:
            return self._by_folder[path]
        return self._for_folder(path if path.is_dir() else path.parent)

    def _for_folder(self, folder: Path) -> Settings:
        settings = self._by_folder.get(folder)
        if settings is None:
            source = find(folder)
            if source is not None:
                settings = self._build(folder, source)
                self._reject_foreign_cache(settings)
            elif folder.parent != folder:
                settings = self._for_folder(folder.parent)
            else:
                settings = self._build(self._cwd, _users_own())
            self._by_folder[folder] = settings
        return settings

    def _reject_foreign_cache(self, settings: Settings) -> None:
        """A configuration that comes with what is checked may be somebody else's."""
        folder = settings.cache_dir
        if folder is None or self._overrides.get("cache_dir") or may_keep(folder, settings.root):
            return
        place = shown_path(settings.source or settings.root)
        raise ConfigError(
            f"{place}: cache-dir: expected a folder in the repository or "
            f"in your cache directory, got {folder}; `--cache-dir` takes any folder"
        )

    def _build(self, root: Path, source: Path | None) -> Settings:
        values = _merge([*(layers(source) if source else ()), self._overrides])
        if "select" in self._overrides:
            # Who selects a rule for this run wants it, whatever the file says of that same rule.
            values["extend_select"] = self._overrides.get("extend_select", ())
            chosen = self._overrides["select"]
            for key in {"ignore", "extend_ignore"} - set(self._overrides):
                values[key] = tuple(code for code in values.get(key, ()) if code not in chosen)
        effort = EffortSettings(**values.pop("effort"))
        if effort.overhead_low_hours > effort.overhead_high_hours:
            where = shown_path(source) if source else COMMAND_LINE
            raise ConfigError(
                f"{where}: effort.overhead-low-hours: expected at most effort.overhead-high-hours, "
                f"got {effort.overhead_low_hours:g} and {effort.overhead_high_hours:g}"
            )
        return Settings(**values, effort=effort, root=root, source=source and absolute(source))


def parse_inline(text: str) -> Mapping[str, object]:
    """A `KEY=VALUE` of the command line, the value in TOML, as overrides."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        key, equals, value = text.partition("=")
        bare = equals and value.strip().replace("-", "").replace("_", "").isalnum()
        hint = f"; strings need quotes: {key.strip()}='{value.strip()}'" if bare else ""
        raise ConfigError(f"{COMMAND_LINE}: {text}: expected KEY=VALUE with VALUE in TOML{hint}") from None


def _merge(stack: Iterable[Values]) -> Values:
    merged: Values = {"effort": {}}
    for layer in stack:
        effort = {**merged["effort"], **layer["effort"]}
        grown = {name: (*merged.get(name, ()), *layer[name]) for name in _GROWING if name in layer}
        merged = {**merged, **layer, **grown, "effort": effort}
    return merged


def _users_own() -> Path | None:
    """The user's configuration, for files under no other."""
    try:
        home = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    except RuntimeError:  # no home
        return None
    path = home / "xlamig" / "xlamig.toml"
    return path if os.access(path, os.R_OK) and path.is_file() else None
