"""`xlamig check`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlamig.cli.checking import Checking, Wanted
from xlamig.cli.extras import needs
from xlamig.cli.options import OutputFlags, RunFlags, list_option, output_options, paths, run_options
from xlamig.cli.output import Output
from xlamig.findings import SEVERITIES
from xlamig.report import FORMATS
from xlamig.report.order import SORTS

if TYPE_CHECKING:
    from xlamig.engine import Options


@click.command()
@paths
@run_options(
    fail_on=click.option(
        "--fail-on", type=click.Choice(SEVERITIES), help="Exit 1 on findings at or above this severity."
    ),
    fixable=list_option("--fixable", help="Rules that may be fixed."),
    unfixable=list_option("--unfixable", help="Rules that are never fixed."),
)
@click.option("--fix", is_flag=True, help="Apply safe fixes.")
@click.option("--unsafe-fixes", is_flag=True, help="Also apply fixes that may change the program's meaning.")
@click.option("--diff", is_flag=True, help="Show what --fix would change without writing.")
@click.option("--fix-only", is_flag=True, help="Apply fixes and report nothing else.")
@click.option("--show-fixes", is_flag=True, help="List the fixes that were applied.")
@click.option("-e", "--exit-zero", is_flag=True, help="Exit 0 even if there are findings.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit 1 if a fix was applied.")
@click.option(
    "--max-effort",
    type=click.FloatRange(0),
    metavar="HOURS",
    help="Exit 1 if the likely effort is above this.",
)
@click.option("--no-effort", is_flag=True, help="Omit the effort estimate from the summary.")
@click.option(
    "--diff-base", metavar="REV", help="Report only findings on lines changed since a git revision."
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Report only findings that are not in this baseline file.",
)
@click.option(
    "--trace", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="Compare findings with a run: the JSON output of `xlamig trace`.",
)  # fmt: skip
@click.option("--update-baseline", is_flag=True, help="Write all findings to the --baseline file.")
@click.option("--add-ignore", is_flag=True, help="Write a suppression comment for every finding.")
@click.option("--ignore-reason", default="", metavar="TEXT", help="Reason to add to these comments.")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes.")
@click.option("--statistics", is_flag=True, help="Count findings by rule instead of listing them.")
@click.option(
    "--output-format",
    type=click.Choice(tuple(FORMATS)),
    default="full",
    show_default=True,
    envvar="XLAMIG_OUTPUT_FORMAT",
    show_envvar=True,
    help="Format of the findings.",
)
@click.option(
    "--sort",
    type=click.Choice(SORTS),
    default="severity",
    show_default=True,
    help="The order of findings in the formats for people.",
)
@click.option("--all", "every", is_flag=True, help="List every finding and place, also on a terminal.")
@click.option("--stdin-filename", metavar="NAME", help="The name of the code on stdin (path -).")
@click.option("--show-files", is_flag=True, help="List the files that would be checked.")
@click.option("--show-settings", is_flag=True, help="Show the settings of the path.")
@click.option("--hook", is_flag=True, help="Run as a commit hook: report only what fails the check.")
@output_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    paths: tuple[Path, ...],
    run: RunFlags,
    output: OutputFlags,
    stdin_filename: str | None,
    show_files: bool,
    show_settings: bool,
    diff_base: str | None,
    baseline: Path | None,
    watch: bool,
    **flags: Any,
) -> None:
    """Report what is unfriendly to XLA in PyTorch code, and fix it.

    PATHS are files and folders, "." when none is given; "-" is stdin.
    """
    from xlamig import engine
    from xlamig.config.schema import to_toml

    options = replace(run.options(), diff_base=diff_base, baseline=baseline)
    where = paths or (Path(),)
    out = Output(output)
    if paths == (Path("-"),):
        name = stdin_filename or "stdin.py"
        where, options = (Path(name),), replace(options, stdin=(name, sys.stdin.buffer.read()))
    if flags["hook"]:
        options = replace(options, whole=False)
    if show_files:
        out.write(engine.show_files(where, options))
    elif show_settings:
        out.write([to_toml(engine.show_settings(where[0], options))], end="")
    elif watch:
        _watch(where, options, out, flags)
    else:
        ctx.exit(Checking(where, options, Wanted(**flags), out).run())


def _watch(paths: Sequence[Path], options: Options, out: Output, flags: Mapping[str, Any]) -> None:
    others = ("fix", "fix_only", "diff", "update_baseline", "add_ignore", "statistics", "trace", "hook")
    if options.stdin is not None or any(flags[name] for name in others):
        raise click.UsageError("--watch only reports: it needs files, and no other task.")
    with needs("watch", "watchfiles"):
        import watchfiles  # noqa: F401
    from xlamig.cli.watching import file_changes, interrupts, watch

    try:
        with interrupts() as stop:
            watch(paths, options, out, flags["output_format"], file_changes(paths, stop))
    except KeyboardInterrupt:
        raise click.Abort from None
