"""`xlamig verify`."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from xlamig.cli import exits
from xlamig.cli.options import OutputFlags, output_options
from xlamig.cli.output import Output


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-m", "module", is_flag=True, help="PROGRAM is a module, as for python -m.")
@click.option("--steps", type=click.IntRange(min=4), default=12, show_default=True, help="Steps to look at.")
@click.option("--reference", is_flag=True, help="Run it on the CPU, too: the losses have to be the same.")
@click.option(
    "--tolerance", type=click.FloatRange(min=0), default=0.02, show_default=True,
    help="By how much the first losses may differ, relative to the reference.",
)  # fmt: skip
@click.option("--python", default=sys.executable, metavar="PATH", help="The Python that has torch_xla.")
@output_options
@click.argument("program")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    output: OutputFlags,
    program: str,
    arguments: tuple[str, ...],
    module: bool,
    steps: int,
    reference: bool,
    tolerance: float,
    python: str,
) -> None:
    """Check a finished port: run PROGRAM on torch_xla and see that it is one.

    It has to use the XLA device, train, and run each step as one graph that is never read: 0
    compilations, 1 execution, 0 reads. Exits with 1 where it does not.
    """
    from xlamig.observe import gate, launch

    asked = launch.Program(
        target=program,
        module=module,
        arguments=arguments,
        python=python,
        steps=steps,
        training=True,
        quiet_stdout=True,
    )
    out = Output(output)
    try:
        run = launch.run(asked)
        other = launch.run(replace(asked, on_cpu=True)) if reference else None
    except launch.LaunchError as error:
        raise click.UsageError(str(error)) from None
    checks = list(gate.checks(run, other, tolerance))
    out.write(f"{'ok  ' if check.passed else 'FAIL'}  {check.title}: {check.found}" for check in checks)
    ctx.exit(exits.CLEAN if all(check.passed for check in checks) else exits.FOUND)
