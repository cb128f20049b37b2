"""`xlamig verify`."""

from __future__ import annotations

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
@click.option("--steps", type=click.IntRange(min=4), default=12, show_default=True, help="Steps to compare.")
@click.option(
    "--reference/--no-reference", default=True, show_default=True,
    help="Also run it on the CPU, twice: parameters, losses and gradients have to be the same.",
)  # fmt: skip
@click.option(
    "--original",
    metavar="PATH",
    help="The reference is this program for CUDA, or PROGRAM in this folder, with the same arguments.",
)
@click.option(
    "--tolerance", type=click.FloatRange(min=0), default=0.02, show_default=True,
    help="Allowed difference of losses and gradients, relative to the reference.",
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
    original: str | None,
    tolerance: float,
) -> None:
    """Check a finished port: run PROGRAM on torch_xla and compare it with its reference.

    The port must use the XLA device, execute each step as one graph without host reads (0
    compilations, 1 execution, 0 reads), and train what the reference trains. Exits with 1 otherwise.
    """
    from xlamig.observe import sources, verify
    from xlamig.report import verify_text

    out = Output(output)
    asked = verify.Asked(steps=steps, compare=reference, original=original, tolerance=tolerance)
    checks = verify.verify(program.program(quiet_stdout=True), asked)
    out.write(verify_text.render(checks, out.context(sources.text_of)))
    ctx.exit(exits.CLEAN if all(check.passed for check in checks) else exits.FOUND)
