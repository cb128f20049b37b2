"""`xlamig dryrun`."""

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
from xlamig.cli.output import Output, require_file

NOTHING = "The program never imported torch: there is nothing to report."


@click.command(context_settings=PROGRAM_CONTEXT)
@click.option(
    "--target", type=click.Choice(("torch_tpu",)), required=True, help="The target whose kernels to use."
)
@click.option("--steps", type=click.IntRange(min=1), default=2, show_default=True, help="Steps to run.")
@click.option(
    "--output-format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="Format of the result; json is a trace for `xlamig check --trace`.",
)  # fmt: skip
@output_options
@program_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    output: OutputFlags,
    program: ProgramFlags,
    target: str,
    steps: int,
    output_format: str,
) -> None:
    """Run a program on TorchTPU's kernels without a TPU, and list every operator that has none.

    Operators build a graph and compute nothing: what the program reads from the device is made up.
    Exits with 1 where an operator has no kernel or the program raises.
    """
    from xlamig.observe import dryrun, explain, interpreters
    from xlamig.observe.sources import text_of
    from xlamig.report import dryrun_text, trace_json

    if output.output_file is not None:
        require_file(output.output_file)
    found = interpreters.need("dryrun", program.python)
    versions = ", ".join(f"{package} {version}" for package, version in found.versions.items())
    quiet = output_format == "json" and output.output_file is None
    asked = program.program(quiet_stdout=quiet, kind="dryrun")
    out = Output(output)
    _, trace = dryrun.dry_run(asked, steps, versions)
    if trace is None:
        out.complain(NOTHING)
        ctx.exit(exits.FAILED)
    trace = explain.explain(trace)
    if output_format == "json":
        out.write([trace_json.render(trace)])
    else:
        out.write(dryrun_text.render(trace, out.context(text_of)))
    lacking = any(event.kind == "unsupported-operator" for event in trace.events)
    ctx.exit(exits.FOUND if lacking or trace.failure else exits.CLEAN)
