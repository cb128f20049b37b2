"""`xlamig rule test CODE`."""

from __future__ import annotations

from pathlib import Path

import click

from xlamig.cli import exits
from xlamig.cli.values import rule_codes
from xlamig.report.numbers import number


@click.command()
@click.argument("rule", shell_complete=rule_codes)
@click.option(
    "--fixtures", type=click.Path(path_type=Path), default=Path("fixtures"), show_default=True,
    help="The folder of test programs: CODE/case/bad.py, good.py and silent.py.",
)  # fmt: skip
def command(rule: str, fixtures: Path) -> None:
    """Check that a RULE reports the marked lines of its page's examples and test programs.

    RULE is a code or name. Exits with 1 if a line is reported without a mark `# expect: CODE`, or marked
    and not reported, on any target.
    """
    from xlamig.config.load import Resolver
    from xlamig.engine.examples import mistakes, programs_of
    from xlamig.rulebook.examples import examples_of
    from xlamig.rulebook.load import load
    from xlamig.rulebook.parameters import misspelled_names

    settings = Resolver().settings_for(Path())
    found = load(settings).rule(rule)
    examples = list(examples_of(found.page))
    programs = list(programs_of(found.code, fixtures))
    both = (*examples, *programs)
    wrong = [line for example in both for line in mistakes(example, found.code, settings.rules)]
    if not any(example.reports for example in both):
        wrong.append(
            f'{found.page.filename}: "## Example" has no code, and there is no {fixtures}/{found.code}'
        )
    for line in misspelled_names(found):
        click.echo(f"Warning: {line}", err=True)
    for line in wrong:
        click.echo(line)
    if wrong:
        raise click.exceptions.Exit(exits.FOUND)
    counted = f"{number(len(examples), 'example')} and {number(len(programs), 'test program')}"
    click.echo(f"{found.code} reports the marked lines of {counted}, and no other.")
