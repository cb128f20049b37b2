"""`xlamig ops NAME...`: what becomes of an operator on each target."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from xlamig.cli.exits import CLEAN, FOUND
from xlamig.config.settings import TARGETS

if TYPE_CHECKING:
    from xlamig.cli.ops_answer import Answer
    from xlamig.knowledge.operators import Operators


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--target", type=click.Choice(TARGETS), help="Show only this target.")
@click.option(
    "--target-version",
    metavar="VERSION",
    help="The target's release; each target was measured in one release only.",
)
@click.option(
    "--output-format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="Format of the answer.",
)  # fmt: skip
def command(names: Sequence[str], target: str | None, target_version: str | None, output_format: str) -> None:
    """Show whether operators are supported, what happens if not, and what to write instead.

    A NAME is spelled as in code (torch.median, F.mish, x.median, nn.LSTM, aten::median) or a glob
    ('torch.linalg.*') for a table. Exits with 1 for an unknown operator,
    and for one whose behaviour on a target is unknown.
    """
    from xlamig.cli import ops_answer, ops_text

    if target_version and not target:
        raise click.UsageError("--target-version says nothing without --target.")
    tables = ops_answer.tables([target] if target else TARGETS)
    for table in tables if target_version else ():
        if warning := ops_answer.of_another_release(table, str(target_version)):
            click.echo(warning, err=True)
    rows = ops_answer.alternatives()
    answers: list[Answer] = []
    missing: dict[str, tuple[str, ...]] = {}
    namesakes: dict[str, list[str]] = {}
    for name in names:
        found = _resolve(name, tables)
        answers += [ops_answer.answer(spelled, tables, rows) for spelled in found]
        if not found:
            missing[name] = _nearest(name, tables)
        elif others := _namesakes(name, found, tables):
            namesakes[name] = others
    if output_format == "json":
        click.echo(json.dumps(ops_answer.document(answers, missing, namesakes), indent=2))
    else:
        as_table = any("*" in name for name in names) or len(answers) > len(names) + 3
        write = ops_text.table if as_table else ops_text.pages
        click.echo(write(answers, tables), nl=False)
        for name, others in namesakes.items():
            click.echo(f"{name} may also be {' or '.join(others)}, which behave differently.", err=True)
        for name, near in missing.items():
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            click.echo(f"{name}: no such operator is known{hint}", err=True)
    known = not missing and all(answer.is_known for answer in answers)
    click.get_current_context().exit(CLEAN if known else FOUND)


def _resolve(name: str, tables: Sequence[Operators]) -> list[str]:
    """Canonical names: one, or all that a glob or an operator behind them stands for."""
    if any(sign in name for sign in "*?["):
        every = sorted({known for table in tables for known in table.names})
        return [known for known in every if fnmatch.fnmatchcase(known, name)]
    from xlamig.knowledge import spelling

    found = [operator for table in tables if (operator := table.find(name))]
    public = [operator.name for operator in found if "::" not in operator.name]
    if public:
        return public[:1]
    aten = spelling.aten_name(name)
    through = sorted({operator.name for table in tables for operator in table.through(aten)}) if aten else []
    return [*dict.fromkeys(operator.name for operator in found), *through]


def _namesakes(name: str, found: Sequence[str], tables: Sequence[Operators]) -> list[str]:
    """Other operators of the bare name: `unfold` is that of an image and that of a tensor."""
    from xlamig.knowledge import spelling

    known = {table.known_as(other) for table in tables for other in found}
    others: dict[str, None] = {}
    for other in spelling.namesakes(name):
        rows = {table.known_as(other) for table in tables if other in table}
        if rows and not rows & known:
            others[other] = None
            known |= rows
    return list(others)


def _nearest(name: str, tables: Sequence[Operators]) -> tuple[str, ...]:
    return next((near for table in tables if (near := table.nearest(name))), ())
