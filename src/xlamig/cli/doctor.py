"""`xlamig doctor`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from xlamig.cli import exits

if TYPE_CHECKING:
    from xlamig.observe.interpreters import Kind, Look


@click.command()
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.pass_context
def command(ctx: click.Context, /, output_format: str) -> None:
    """List the interpreters that commands run, what is installed there, and how to get the rest.

    Exits with 1 where something is missing.
    """
    from xlamig.observe.interpreters import KINDS, examine

    found = [examine(kind) for kind in KINDS.values()]
    if output_format == "json":
        rows = [_row(one) for one in found]
        click.echo(json.dumps({"schema_version": 1, "interpreters": rows}, indent=2))
    else:
        for one in found:
            click.echo("\n".join(_describe_interpreter(one)))
    ctx.exit(exits.CLEAN if all(one.is_ready for one in found) else exits.FOUND)


def _row(one: Look) -> dict[str, Any]:
    found = one.found
    return {
        "name": one.kind.name,
        "commands": list(one.kind.commands),
        "ready": one.is_ready,
        "python": found and found.python,
        "version": found and found.shown_version,
        "packages": dict(found.versions) if found else {},
        "error": one.error or None,
        "install": _install(one.kind),
    }


def _describe_interpreter(one: Look) -> Iterator[str]:
    kind, found = one.kind, one.found
    commands = ", ".join(f"xlamig {name}" for name in kind.commands)
    yield f"{'ok     ' if one.is_ready else 'missing'}  {commands}"
    if found:
        packages = ", ".join(
            f"{name} {version or 'not installed'}" for name, version in found.versions.items()
        )
        yield f"         {found.python} (Python {found.shown_version}): {packages}"
        for name, version in found.versions.items():
            if version and not version.startswith(kind.packages[name]):
                yield f"         measured with {name} {kind.packages[name]}"
    if not one.is_ready:
        yield f"         {one.error}"
        yield f"         {_install(kind)}"
        if found is None:
            yield f"         or name an interpreter with {kind.names}"
    if kind.note:
        yield f"         {kind.note}"


def _install(kind: Kind) -> str:
    return f"xlamig setup {kind.name} (pip install {' '.join(kind.install)})"
