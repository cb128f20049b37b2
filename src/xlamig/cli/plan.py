"""`xlamig plan`."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import click

from xlamig.cli import exits
from xlamig.cli.checking import NOTHING
from xlamig.cli.economics import MoneyFlags, money_options
from xlamig.cli.options import OutputFlags, RunFlags, output_options, paths, run_options
from xlamig.cli.output import Output, progress
from xlamig.report.plans import FORMATS


@click.command()
@paths
@run_options()
@click.option(
    "--output-format", type=click.Choice(tuple(FORMATS)), default="text", show_default=True,
    help="Format of the plan.",
)  # fmt: skip
@click.option(
    "--entry", "entries", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
    help="Plan only what this script imports, directly or through other files; may be repeated.",
)  # fmt: skip
@click.option("--explain", is_flag=True, help="Show every term of the estimate.")
@click.option(
    "--max-effort", type=click.FloatRange(0), metavar="HOURS",
    help="Exit 1 if the likely estimate is above this.",
)  # fmt: skip
@click.option("--history", is_flag=True, help="Show the remaining work at earlier commits, from git.")
@click.option(
    "--history-points", type=click.IntRange(2, 200), default=12, show_default=True, metavar="COUNT",
    help="Number of commits.",
)  # fmt: skip
@click.option(
    "--history-from", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="FOLDER",
    help="Show the remaining work from stored JSON plans and reports with a date in their names.",
)  # fmt: skip
@money_options
@output_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    paths: tuple[Path, ...],
    run: RunFlags,
    output: OutputFlags,
    money: MoneyFlags,
    output_format: str,
    entries: tuple[Path, ...],
    explain: bool,
    max_effort: float | None,
    history: bool,
    history_points: int,
    history_from: Path | None,
) -> None:
    """Estimate a migration's effort by phase, and place each part on TPU, GPU or CPU.

    PATHS are files and folders, "." when none is given.
    """
    from xlamig import engine
    from xlamig.effort.estimate import estimate
    from xlamig.effort.plan import Point
    from xlamig.report.plans import render
    from xlamig.report.summary import over_budget
    from xlamig.report.together import together

    where = paths or (Path(),)
    options = run.options()
    out = Output(output)
    with progress(output) as tick:
        report = together(engine.check(where, replace(options, progress=tick), entries))
    if not report.files:
        out.note(NOTHING)
    settings = engine.show_settings(where[0], options).effort
    plan = money.add_to(estimate(report, settings), settings)
    points: list[Point] = []
    if history:
        for commit, then in engine.history(where, options, history_points):
            out.detail(f"{commit.date} {commit.revision} {commit.subject}")
            left = estimate(then, settings)
            points.append(Point(commit.revision, commit.date, commit.subject, left.verdict, left.hours))
    if history_from is not None:
        from xlamig.report.stored import points as stored

        told, left_out = stored(history_from, settings)
        now = Point("now", date.today().isoformat(), "this run", plan.verdict, plan.hours)
        points = sorted([*points, *told, now], key=lambda point: point.date)
        out.complain(*(f"Not in the history: {name}" for name in left_out))
    about = engine.provenance(where[0], entries)
    plan = replace(plan, history=tuple(points), provenance=about)
    out.write(render(output_format, plan, report, out.context(engine.text_of(options)), explain))
    unread = report.unread
    out.complain(*(f"Not in the plan: {finding.filename}: {finding.message}" for finding in unread))
    over = max_effort is not None and plan.hours.likely > max_effort
    if max_effort is not None and over:
        out.complain(over_budget(plan.hours, max_effort))
    ctx.exit(exits.FAILED if report.rule_errors else exits.FOUND if unread or over else exits.CLEAN)
