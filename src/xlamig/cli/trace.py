"""`xlamig trace`."""

from __future__ import annotations

from pathlib import Path

import click

from xlamig.cli.options import (
    PROGRAM_CONTEXT,
    OutputFlags,
    ProgramFlags,
    output_options,
    program_options,
)
from xlamig.cli.output import Output, require_file, write_file

NOTHING = (
    "The program never imported torch_xla: there is nothing to report. For a CUDA program, use --as-cuda."
)


@click.command(context_settings=PROGRAM_CONTEXT)
@click.option("--steps", type=click.IntRange(min=1), help="Stop the program after this many steps.")
@click.option("--as-cuda", is_flag=True, help="Run a CUDA program unchanged, with XLA in place of CUDA.")
@click.option(
    "--output-format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="Format of the trace. With json, the program's own output goes to stderr.",
)  # fmt: skip
@click.option("--html", type=click.Path(path_type=Path), help="Also write a page with the annotated sources.")
@output_options
@program_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    output: OutputFlags,
    program: ProgramFlags,
    steps: int | None,
    as_cuda: bool,
    output_format: str,
    html: Path | None,
) -> None:
    """Run a program on torch_xla and report what really happened, line by line.

    PROGRAM and its ARGUMENTS are as for python. Without PJRT_DEVICE in the environment it runs on
    XLA's CPU client. Exits with the program's own code.
    """
    from xlamig.observe import explain, sources
    from xlamig.observe.run import Asked, run
    from xlamig.report import trace_json, trace_text

    to_stderr = output_format == "json" and output.output_file is None
    for file in filter(None, (html, output.output_file)):
        require_file(file)
    done = run(program.program(to_stderr), Asked(steps=steps or 0, as_cuda=as_cuda))
    out = Output(output)
    if done.exit.killed_by:
        out.complain(f"The program was ended by {done.exit.killed_by}; the trace ends a second before.")
    if done.exit.left_behind:
        out.complain(f"It left {done.exit.left_behind} of its processes running; they were ended.")
    trace = done.trace and explain.explain(done.trace)
    if trace is None:
        out.complain(NOTHING)
    elif output_format == "json":
        out.write([trace_json.render(trace)])
    else:
        out.write(trace_text.render(trace, out.context(sources.text_of)))
    if trace and html:
        from xlamig.report import trace_html

        write_file(html, trace_html.render(trace, out.context(sources.text_of)))
    ctx.exit(done.exit.code)
