"""Where text goes: findings to stdout or a file, everything else to stderr."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import IO

import click

from xlamig.cli.book import open_book
from xlamig.cli.options import OutputFlags
from xlamig.report.context import Context


class Output:
    def __init__(self, flags: OutputFlags) -> None:
        self.flags = flags
        self.coloured = _is_coloured(flags, sys.stdout)

    @property
    def rows(self) -> int | None:
        """Return how many lines fit on the terminal that findings go to, None where they go elsewhere."""
        if self.flags.output_file is not None or not sys.stdout.isatty():
            return None
        return shutil.get_terminal_size().lines

    def write(self, lines: Iterable[str], end: str = "\n") -> None:
        """To the output file if there is one, complete or not at all."""
        if self.flags.output_file is None:
            for line in lines:
                click.echo(line + end, nl=False, color=self.coloured)
            return
        write_file(self.flags.output_file, "".join(line + end for line in lines))

    def note(self, *lines: str) -> None:
        """For people at the terminal, unless they asked for quiet."""
        if not self.flags.quiet:
            for line in lines:
                click.echo(line, err=True)

    def detail(self, *lines: str) -> None:
        if self.flags.verbose:
            self.note(*lines)

    def complain(self, *lines: str) -> None:
        """Write an error, even when quiet."""
        for line in lines:
            click.echo(line, err=True)

    def context(self, text_of: Callable[[str], str | None], unsafe_fixes: bool = False) -> Context:
        texts = lru_cache(maxsize=64)(text_of)
        context = Context(texts, unsafe_fixes=unsafe_fixes, page_of=_page_of(), project=_project())
        if not self.coloured:
            return context
        from xlamig.report.colors import paint

        return replace(context, paint=paint)


def require_file(path: Path) -> None:
    """For a long run, so that it does not end in vain."""
    if path.is_dir() or not path.parent.is_dir():
        raise OSError(errno.ENOENT, "it is no file in an existing folder", str(path))


def write_file(path: Path, text: str) -> None:
    """Complete or not at all."""
    require_file(path)
    with click.open_file(str(path), "w", encoding="utf-8", atomic=True) as file:
        file.write(text)


def _page_of() -> Callable[[str], str | None]:
    """Reads the rule pages when a format first asks for one."""

    @cache
    def pages() -> Mapping[str, str]:
        return {rule.code: rule.text.strip() for rule in open_book().rules}

    return lambda code: pages().get(code)


def _project() -> Path | None:
    """Where the paths of a code review start: the folder that the CI service checked out."""
    for variable in ("CI_PROJECT_DIR", "GITHUB_WORKSPACE"):  # GitLab, GitHub
        if folder := os.environ.get(variable):
            return Path(folder)
    return None


def _is_coloured(flags: OutputFlags, stream: IO[str]) -> bool:
    if flags.color != "auto":
        return flags.color == "always"
    if flags.output_file is not None or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") != "0":
        return True
    return os.environ.get("TERM") != "dumb" and stream.isatty()


@contextmanager
def progress(flags: OutputFlags) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr for people who wait at a terminal; None for everybody else."""
    if flags.quiet or os.environ.get("CI") or os.environ.get("TERM") == "dumb" or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = TextColumn("Checking"), BarColumn(), MofNCompleteColumn(), TextColumn("files")
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
