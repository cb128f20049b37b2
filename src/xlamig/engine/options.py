"""The options of a run, and the errors that are the caller's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from xlamig.config.errors import ConfigError


class UsageError(Exception):
    """A missing path, broken configuration or unknown rule: one line, exit code 2."""


@dataclass(frozen=True, slots=True)
class Options:
    """`overrides` are settings from the command line by configuration key. `jobs` 0 means one
    per core. `stdin` is (file name, content) to be checked instead of a file. `progress` hears
    how many files are done, and of how many. `whole` says whether the paths are all of the program;
    when None, they are if each is a folder. Only findings on lines changed since the git revision
    `diff_base`, and not in the file `baseline`, are reported. `buffers` are the contents of open files by
    absolute path, which count instead of those on disk."""

    overrides: Mapping[str, object] = field(default_factory=dict)
    config: Path | None = None
    isolated: bool = False
    jobs: int = 0
    cache: bool = True
    stdin: tuple[str, bytes] | None = None
    progress: Callable[[int, int], None] | None = None
    whole: bool | None = None
    diff_base: str | None = None
    baseline: Path | None = None
    buffers: Mapping[Path, bytes] = field(default_factory=dict)


class caught:
    """Turns what is wrong with rules and configuration into the caller's error."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, ConfigError):
            raise UsageError(str(error)) from None
