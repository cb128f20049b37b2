"""`xlamig verify`."""

from __future__ import annotations

from dataclasses import replace

import click

from xlamig.cli import exits
from xlamig.cli.options import (
    PROGRAM_CONTEXT,
    OutputFlags,
    ProgramFlags,
    output_options,
    program_options,
)
from xlamig.cli.output import Output


@click.command(context_settings=PROGRAM_CONTEXT)
@click.option("--steps", type=click.IntRange(min=4), default=12, show_default=True, help="Steps to look at.")
@click.option("--reference", is_flag=True, help="Run it on the CPU, too: the losses have to be the same.")
@click.option(
    "--tolerance", type=click.FloatRange(min=0), default=0.02, show_default=True,
    help="By how much the first losses may differ, relative to the reference.",
)  # fmt: skip
@output_options
@program_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    output: OutputFlags,
    program: ProgramFlags,
    steps: int,
    reference: bool,
    tolerance: float,
) -> None:
    """Check a finished port: run PROGRAM on torch_xla and see that it is one.

    It has to use the XLA device, train, and run each step as one graph that is never read: 0
    compilations, 1 execution, 0 reads. Exits with 1 where it does not.
    """
    from xlamig.observe import gate
    from xlamig.observe.run import Asked, run

    asked = Asked(steps=steps, training=True)
    started = program.program(quiet_stdout=True)
    out = Output(output)
    port = run(started, asked)
    other = run(started, replace(asked, on_cpu=True)) if reference else None
    checks = list(gate.checks(port, other, tolerance))
    out.write(f"{'ok  ' if check.passed else 'FAIL'}  {check.title}: {check.found}" for check in checks)
    ctx.exit(exits.CLEAN if all(check.passed for check in checks) else exits.FOUND)
