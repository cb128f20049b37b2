"""`xlamig config`."""

from __future__ import annotations

import click


@click.command()
@click.argument("key", required=False)
def command(key: str | None) -> None:
    """Describe the settings, or the one named KEY."""
    from xlamig.config.errors import did_you_mean
    from xlamig.config.schema import describe

    keys = {description.key: description for description in describe()}
    if key is None:
        width = max(map(len, keys))
        for name, description in keys.items():
            click.echo(f"{name:<{width}}  {description.meaning}")
        return
    if key not in keys:
        raise click.BadParameter(f"unknown key {key!r}{did_you_mean(key, keys)}", param_hint="KEY")
    found = keys[key]
    click.echo(f"{found.meaning}\n\nDefault: {found.default}\nType: {found.type}")
