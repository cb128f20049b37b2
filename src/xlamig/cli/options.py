"""Options that several commands share, each group folded into one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from xlamig.cli.lazy import VERBOSE
from xlamig.cli.values import Completion, configuration, per_file, rule_codes, split_values
from xlamig.config.settings import STYLES, TARGETS
from xlamig.findings import CONFIDENCES, SEVERITIES

if TYPE_CHECKING:
    from xlamig.engine import Options
    from xlamig.observe.program import Program

F = TypeVar("F", bound=Callable[..., Any])
Option = Callable[[F], F]


@dataclass(frozen=True, slots=True)
class RunFlags:
    """Settings by their key in a configuration file, None where the flag was not given."""

    overrides: Mapping[str, object] = field(default_factory=dict)
    config: Path | None = None
    isolated: bool = False
    cache: bool = True
    jobs: int = 0

    def options(self) -> Options:
        from xlamig.engine import Options

        return Options(self.overrides, self.config, self.isolated, self.jobs, self.cache)


@dataclass(frozen=True, slots=True)
class OutputFlags:
    output_file: Path | None
    color: str
    quiet: bool
    verbose: int


@dataclass(frozen=True, slots=True)
class ProgramFlags:
    target: str
    module: bool
    arguments: tuple[str, ...]
    python: str | None

    def program(self, quiet_stdout: bool = False, kind: str = "trace") -> Program:
        """`kind` is the interpreter's, where none was named."""
        from xlamig.observe.interpreters import KINDS, candidate
        from xlamig.observe.program import Program

        return Program(
            target=self.target, module=self.module, arguments=self.arguments,
            python=candidate(KINDS[kind], self.python), quiet_stdout=quiet_stdout,
        )  # fmt: skip


def list_option(*names: str, help: str, complete: Completion | None = None) -> Option[Any]:
    return click.option(
        *names, multiple=True, callback=split_values, metavar="LIST", help=help, shell_complete=complete
    )


def _switch(name: str, help: str) -> Option[Any]:
    return click.option(name, is_flag=True, default=None, help=help)


paths = click.argument("paths", nargs=-1, type=click.Path(path_type=Path))

_SETTINGS: Sequence[Option[Any]] = (
    click.option("--target", type=click.Choice(TARGETS), help="The XLA backend to migrate to."),
    click.option("--target-version", metavar="VERSION", help="The release of the target."),
    click.option(
        "--strategy", type=click.Choice(STYLES),
        help="portable keeps CUDA and CPU working; native writes for the target alone.",
    ),
    list_option("--select", help="Rules to run: codes, prefixes, names or ALL.", complete=rule_codes),
    list_option("--ignore", help="Rules to skip.", complete=rule_codes),
    list_option("--extend-select", help="Rules to run on top of --select.", complete=rule_codes),
    list_option("--extend-ignore", help="Rules to skip on top of --ignore.", complete=rule_codes),
    click.option(
        "--per-file-ignores", multiple=True, callback=per_file, metavar="PATTERN:CODES",
        help="Rules to skip in files that match a pattern.",
    ),
    click.option(
        "--severity", type=click.Choice(SEVERITIES),
        help="Report findings of at least this severity.",
    ),
    click.option(
        "--confidence", type=click.Choice(CONFIDENCES),
        help="Report findings of at least this confidence.",
    ),
    _switch("--preview", help="Run preview rules too."),
    _switch("--include-tests", help="Report findings in tests and benchmarks too."),
    _switch("--include-converters", help="Report findings in converters and exporters too."),
    _switch("--include-unused", help="Report findings in copies of libraries and unused modules too."),
    _switch("--include-no-action", help="Report findings that need no change too."),
    list_option("--exclude", help="Files and folders to skip."),
    list_option("--extend-exclude", help="Files and folders to skip on top of --exclude."),
    _switch("--force-exclude", help="Exclude files even if they are given as a path."),
    click.option(
        "--respect-gitignore/--no-respect-gitignore", default=None,
        help="Skip what .gitignore files exclude.",
    ),
    click.option("--cache-dir", type=click.Path(path_type=Path), help="Folder for results between runs."),
)  # fmt: skip

_RUN: Sequence[Option[Any]] = (
    click.option(
        "--config", multiple=True, callback=configuration, metavar="PATH|KEY=VALUE",
        help="A configuration file, or one setting as in TOML.",
    ),
    click.option("--isolated", is_flag=True, help="Read no configuration file."),
    click.option("-n", "--no-cache", is_flag=True, help="Neither read nor write the cache."),
    click.option("-j", "--jobs", type=click.IntRange(0), default=0, help="Processes; 0 is one per core."),
)  # fmt: skip

_OUTPUT: Sequence[Option[Any]] = (
    click.option(
        "-o", "--output-file", type=click.Path(path_type=Path), help="Write to this file instead of stdout."
    ),
    click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="Colours."),
    click.option("-q", "--quiet", is_flag=True, help="Omit progress and summary."),
    click.option("-v", "--verbose", count=True, help="Print more; twice for tracebacks."),
)

_PROGRAM: Sequence[Option[Any]] = (
    click.option("-m", "module", is_flag=True, help="PROGRAM is a module, as for python -m."),
    click.option(
        "--python",
        metavar="PATH",
        help="The Python, or virtual environment, that runs PROGRAM.",
    ),
    click.argument("program"),
    click.argument("arguments", nargs=-1, type=click.UNPROCESSED),
)
PROGRAM_CONTEXT = {"ignore_unknown_options": True, "allow_interspersed_args": False}

_PROGRAM_NAMES = ("program", "module", "arguments", "python")
_RUN_NAMES = ("config", "isolated", "no_cache", "jobs")
_OUTPUT_NAMES = ("output_file", "color", "quiet", "verbose")
_SETTING_NAMES = (
    "target", "target_version", "strategy", "select", "ignore", "extend_select", "extend_ignore",
    "per_file_ignores", "severity", "confidence", "preview", "include_tests", "include_converters",
    "include_unused", "include_no_action", "exclude", "extend_exclude", "force_exclude",
    "respect_gitignore", "cache_dir",
)  # fmt: skip


def run_options(**more: Option[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The settings as options, passed as `run`; `more` are further settings by parameter name."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        names = (*_SETTING_NAMES, *more)

        @wraps(command)
        def folded(**values: Any) -> None:
            config, written = values.pop("config")
            given = {name.replace("_", "-"): values.pop(name) for name in names}
            overrides = written | {key: value for key, value in given.items() if value is not None}
            isolated, no_cache, jobs = (values.pop(name) for name in _RUN_NAMES[1:])
            command(run=RunFlags(overrides, config, isolated, not no_cache, jobs), **values)

        return _with((*_SETTINGS, *more.values(), *_RUN), folded)

    return decorate


def output_options(command: Callable[..., None]) -> Callable[..., None]:
    """Where and how to write, passed as `output`."""

    @wraps(command)
    def folded(**values: Any) -> None:
        flags = OutputFlags(*(values.pop(name) for name in _OUTPUT_NAMES))
        click.get_current_context().meta[VERBOSE] = flags.verbose
        command(output=flags, **values)

    return _with(_OUTPUT, folded)


def program_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments that name the program and its Python, passed as `program`. Options after PROGRAM are
    its own."""

    @wraps(command)
    def folded(**values: Any) -> None:
        command(program=ProgramFlags(*(values.pop(name) for name in _PROGRAM_NAMES)), **values)

    return _with(_PROGRAM, folded)


def optional_program_options(command: Callable[..., None]) -> Callable[..., None]:
    """The same, where a program need not be named: `program` is None then."""

    @wraps(command)
    def folded(**values: Any) -> None:
        target, module, arguments, python = (values.pop(name) for name in _PROGRAM_NAMES)
        command(program=ProgramFlags(target, module, arguments, python) if target else None, **values)

    return _with((*_PROGRAM[:2], click.argument("program", required=False), _PROGRAM[3]), folded)


def _with(options: Sequence[Option[Any]], command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(options):
        command = option(command)
    return command
