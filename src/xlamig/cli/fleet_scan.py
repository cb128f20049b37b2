"""`xlamig fleet scan`."""

from __future__ import annotations

from datetime import date as day
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlamig.cli import exits
from xlamig.cli.extras import needs
from xlamig.cli.options import RunFlags, run_options

if TYPE_CHECKING:
    from xlamig.fleet.engines import Engine
    from xlamig.fleet.job import Outcome
    from xlamig.fleet.run import Done

_MOST = 10  # repositories that are listed


def read_day(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A date as in a partition's name."""
    try:
        return value and day.fromisoformat(value).isoformat()
    except ValueError:
        raise click.BadParameter(f"{value!r}: expected a date such as 2026-11-22") from None


@click.command()
@click.argument("sources", nargs=-1, required=True)
@click.option(
    "-o", "--output", "out", required=True, metavar="OUT",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    help="Folder of the results; existing results stay.",
)  # fmt: skip
@click.option(
    "--engine", type=click.Choice(("local", "ray")), default="local", show_default=True,
    help="Processes on this machine, or tasks of a Ray cluster.",
)  # fmt: skip
@click.option(
    "--address",
    metavar="ADDRESS",
    help="Address of a running Ray cluster, or auto; by default Ray starts here.",
)
@click.option("--date", callback=read_day, metavar="DATE", help="The scan's date; by default, today.")
@click.option(
    "--time-limit", type=click.FloatRange(0), default=900, show_default=True, metavar="SECONDS",
    help="Of one repository; 0 is none.",
)  # fmt: skip
@click.option(
    "--memory-limit", type=click.IntRange(0), default=4096, show_default=True, metavar="MB",
    help="Of one repository; 0 is none.",
)  # fmt: skip
@click.option(
    "--cores", type=click.IntRange(1), default=1, show_default=True,
    help="Processes for the files of one repository; -j is how many repositories at a time.",
)  # fmt: skip
@click.option("--rescan", is_flag=True, help="Scan unchanged repositories again.")
@click.option("-q", "--quiet", is_flag=True, help="Print only missing and failed repositories.")
@run_options()
@click.pass_context
def command(
    ctx: click.Context,
    /,
    sources: tuple[str, ...],
    out: Path,
    engine: str,
    address: str | None,
    date: str | None,
    time_limit: float,
    memory_limit: int,
    cores: int,
    rescan: bool,
    quiet: bool,
    run: RunFlags,
) -> None:
    """Check and plan every repository that SOURCES name, into Parquet files below OUT.

    SOURCES are folders, mirrors, git URLs, and lists of them: text with one a line, or CSV with the
    columns name, location, revision, folder, gpu and gpu_hours.

    The exit code is 1 when a repository failed or is missing.
    """
    if address is not None and engine != "ray":
        raise click.UsageError("--address needs --engine ray")
    with needs("fleet", "pyarrow"):
        import pyarrow  # noqa: F401
    from xlamig.engine.cores import usable_cores
    from xlamig.fleet import run as fleet
    from xlamig.fleet.job import Limits
    from xlamig.fleet.sources import find_sources

    workers = run.jobs or max(1, usable_cores() // cores)
    asked = fleet.Asked(
        find_sources(sources), out, date or day.today().isoformat(), run.options(),
        Limits(time_limit, memory_limit, cores), rescan,
    )  # fmt: skip
    tell = _ignore if quiet else _tell
    done = fleet.run(asked, _engine(engine, address, workers, cores), tell)
    _summarise(done, out, quiet)
    if done.trouble == "interrupted":
        raise click.Abort
    ctx.exit(exits.FAILED if done.trouble else exits.FOUND if done.failed or done.missing else exits.CLEAN)


def _engine(name: str, address: str | None, workers: int, cores: int) -> Engine:
    if name == "local":
        from xlamig.fleet.engines import local

        return local(workers)
    with needs("fleet", "ray"):
        from xlamig.fleet.on_ray import on_ray
    return on_ray(address, workers, cores)


def _tell(done: Done, outcome: Outcome) -> None:
    told = f"{outcome.status}: {outcome.error}" if outcome.error else outcome.status
    at = f"[{len(done.outcomes)}/{len(done.sources)}]"
    click.echo(f"{at} {outcome.name}: {told} ({outcome.seconds:.1f} s)", err=True)


def _ignore(done: Done, outcome: Outcome) -> None:
    pass


def _summarise(done: Done, out: Path, quiet: bool) -> None:
    failed, missing = done.failed, done.missing
    if not quiet:
        scanned, same = done.count("ok"), done.count("unchanged")
        click.echo(f"{out}: {scanned} scanned, {same} unchanged, {len(failed)} failed", err=True)
    if quiet:
        for outcome in failed:
            click.echo(f"Failed: {outcome.name}: {outcome.error}", err=True)
    if done.trouble:
        click.echo(f"The scan ended early: {done.trouble}", err=True)
    if missing:
        named = ", ".join(missing[:_MOST]) + (", ..." if len(missing) > _MOST else "")
        click.echo(f"Not scanned: {len(missing)} ({named})", err=True)
        click.echo("Run the same command again to scan what is missing.", err=True)
