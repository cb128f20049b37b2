"""`xlamig rule CODE`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from xlamig.cli.book import open_book
from xlamig.cli.values import rule_codes

if TYPE_CHECKING:
    from xlamig.rulebook.rule import Rule


@click.command()
@click.argument("rule", required=False, shell_complete=rule_codes)
@click.option("--all", "everything", is_flag=True, help="Show every rule.")
@click.option(
    "--output-format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="Format of the rules.",
)  # fmt: skip
def command(rule: str | None, everything: bool, output_format: str) -> None:
    """Show the page of a RULE, given by code or name."""
    if everything == (rule is not None):
        raise click.UsageError("Give either a code or name, or --all.")
    book = open_book()
    rules = book.rules if rule is None else (book.rule(rule),)
    if output_format == "json":
        documents = [document(found) for found in rules]
        click.echo(json.dumps(documents if everything else documents[0], indent=2))
    elif everything:
        click.echo("\n".join(_page(found) for found in rules))
    else:
        click.echo(_page(rules[0]), nl=False)


def _page(rule: Rule) -> str:
    facts = [rule.code, rule.status, *rule.targets]
    if fixes := fix_grades(rule):
        facts.append(f"fix: {', '.join(fixes)}")
    if rule.successor:
        facts.append(f"use {rule.successor}")
    title, _, rest = rule.text.strip().partition("\n")
    return f"{title} ({'; '.join(facts)})\n{rest}\n"


def document(rule: Rule) -> dict[str, Any]:
    """Return a rule as a JSON object: its head's facts and its page by section."""
    effort = rule.effort
    return {
        "code": rule.code,
        "name": rule.name,
        "status": rule.status,
        "successor": rule.successor,
        "targets": list(rule.targets),
        "phase": rule.phase,
        "effort": {"level": effort.level, "unit": effort.unit, "group": effort.group},
        "fix": fix_grades(rule),
        "supersedes": sorted(rule.supersedes),
        "url": rule.url,
        "sections": dict(rule.sections),
    }


def fix_grades(rule: Rule) -> list[str]:
    """The grades of the fixes a rule can offer, safest first."""
    grades = {fix.applicability for fix in rule.fixes}
    return [grade for grade in ("safe", "unsafe", "display") if grade in grades]
