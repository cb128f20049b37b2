"""`xlamig fit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlamig.cli.options import (
    PROGRAM_CONTEXT,
    OutputFlags,
    ProgramFlags,
    optional_program_options,
    output_options,
)
from xlamig.cli.output import Output, require_file
from xlamig.cli.values import names
from xlamig.observe.fitting import ends
from xlamig.observe.fitting.ends import MEANINGS, End, FitError

if TYPE_CHECKING:
    from xlamig.observe.fitting.capture import Asked
    from xlamig.observe.fitting.compiling import Target
    from xlamig.observe.fitting.run import Question
    from xlamig.observe.program import MissingPackageError, OldPythonError


_EXIT_CODES = "\b\nExit codes, the highest where several hold:\n" + "\n".join(
    f"  {end:2}  {meaning}" for end, meaning in MEANINGS.items()
)


@click.command(context_settings=PROGRAM_CONTEXT, epilog=_EXIT_CODES)
@click.option(
    "--chip", default="v5e,v6e", show_default=True, metavar="LIST", callback=names,
    help="TPUs to compile for: v2, v3, v4, v5e, v5p, v6e, tpu7x.",
)  # fmt: skip
@click.option(
    "--chips", type=click.IntRange(1), default=1, show_default=True, help="Shard over this many chips."
)
@click.option("--batch-size", metavar="NAME=LIST", help="Values of a program's argument, as batch_size=8,16.")
@click.option("--max-batch", metavar="NAME", help="Find the largest value of that argument that fits.")
@click.option("--dtype", type=click.Choice(("bf16",)), help="Run the program under autocast.")
@click.option("--as-cuda", is_flag=True, help="Run a CUDA program unchanged, with XLA in place of CUDA.")
@click.option("--steps", type=click.IntRange(2), default=4, show_default=True, help="Training steps to run.")
@click.option("--from", "saved", type=click.Path(path_type=Path), help="Compile a saved graph, run nothing.")
@click.option(
    "--save", type=click.Path(path_type=Path, file_okay=False), help="Keep the graphs in this folder."
)
@click.option("--thorough", is_flag=True, help="Compile as for a run: the same memory, several times slower.")
@click.option("--compiler-python", metavar="PATH", help="The Python that has jax and libtpu.")
@click.option(
    "--output-format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="Format of the report. With json, the program's own output goes to stderr.",
)  # fmt: skip
@output_options
@optional_program_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    output: OutputFlags,
    program: ProgramFlags | None,
    chip: tuple[str, ...],
    chips: int,
    batch_size: str | None,
    max_batch: str | None,
    dtype: str | None,
    as_cuda: bool,
    steps: int,
    saved: Path | None,
    save: Path | None,
    thorough: bool,
    compiler_python: str | None,
    output_format: str,
) -> None:
    """Compile a program's training step for TPUs that are not there, and report whether it fits.

    PROGRAM runs on torch_xla for a few steps, and no graph is executed: what it reads from the device are
    stand-in values.
    """
    from xlamig.observe.fitting import run
    from xlamig.observe.fitting.capture import Asked
    from xlamig.observe.program import MissingPackageError, OldPythonError
    from xlamig.observe.sources import text_of
    from xlamig.report import fit_json, fit_text

    if (saved is None) == (program is None):
        raise click.UsageError("name a PROGRAM, or a saved graph with --from")
    if output.output_file is not None:
        require_file(output.output_file)
    asked = Asked(steps=steps, as_cuda=as_cuda, dtype="bfloat16" if dtype else "")
    out = Output(output)
    try:
        question = _question(
            targets=_targets(chip, chips),
            asked=asked,
            python=compiler_python,
            thorough=thorough,
            save=save,
            batch_size=batch_size,
            max_batch=max_batch,
        )
        if program is None:
            assert saved is not None
            found = run.fit_saved(saved, question, out.note)
        else:
            quiet = output_format == "json" and output.output_file is None
            found = run.fit(program.program(quiet_stdout=quiet), question, out.note)
    except (FitError, MissingPackageError, OldPythonError) as error:
        out.complain(f"Error: {error}")
        ctx.exit(_end(error))
    out.write(
        [fit_json.render(found)] if output_format == "json" else fit_text.render(found, out.context(text_of))
    )
    ctx.exit(ends.of(found.compiled))


def _end(error: FitError | MissingPackageError | OldPythonError) -> End:
    if isinstance(error, FitError):
        return error.end
    from xlamig.observe.program import OldPythonError

    return End.OLD_PYTHON if isinstance(error, OldPythonError) else End.MISSING_PACKAGE


def _targets(names: tuple[str, ...], chips: int) -> tuple[Target, ...]:
    """One per chip, or with several chips one per layout."""
    from xlamig.engine import UsageError
    from xlamig.fits import Layout
    from xlamig.knowledge.hardware import load
    from xlamig.observe.fitting.compiling import Target

    known = {
        name: tpu for tpu in load().tpus.values() if tpu.compiler for name in (tpu.key, tpu.compiler.name)
    }
    for name in names:
        if name not in known:
            raise UsageError(f"libtpu does not compile for {name!r}: {', '.join(sorted(known))} are known")
    layouts: tuple[Layout, ...] = ("one chip",) if chips == 1 else ("data parallel", "FSDP")
    return tuple(Target(known[name], chips, layout) for name in names for layout in layouts)


def _question(
    *,
    targets: tuple[Target, ...],
    asked: Asked,
    python: str | None,
    thorough: bool,
    save: Path | None,
    batch_size: str | None,
    max_batch: str | None,
) -> Question:
    from xlamig.observe import interpreters
    from xlamig.observe.fitting.compiling import Compiler
    from xlamig.observe.fitting.run import Question

    compiler = interpreters.need("fit", python)
    name, _, sizes = (batch_size or "").partition("=")
    if batch_size and not all(size.isdigit() and int(size) for size in sizes.split(",")):
        raise click.UsageError(f"--batch-size {batch_size!r}: expected NAME=LIST, such as batch_size=8,16")
    if name and max_batch and name != max_batch:
        raise click.UsageError("--batch-size and --max-batch name different arguments")
    return Question(
        targets=targets,
        asked=asked,
        compiler=Compiler(python=compiler.python, thorough=thorough),
        versions=", ".join(f"{package} {version}" for package, version in compiler.versions.items()),
        save=save,
        batch=max_batch or name,
        sizes=tuple(int(size) for size in sizes.split(",")) if sizes else (),
        largest=max_batch is not None,
    )
