"""`xlamig rule new`."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

import click

_CODE = re.compile(r"XLA\d{3}")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SKELETON = Path(__file__).with_name("new_page.md")


@click.command()
@click.argument("code")
@click.argument("name")
@click.option(
    "--dir", "folder", type=click.Path(path_type=Path), default=Path("rules"), show_default=True,
    help="The folder of rule pages.",
)  # fmt: skip
def command(code: str, name: str, folder: Path) -> None:
    """Write the page of a new rule, to be filled in.

    CODE is XLA and three digits, NAME reads as "allow NAME": XLA123 my-rule-name.
    """
    if not _CODE.fullmatch(code):
        raise click.BadParameter(f"{code!r} is not XLA and three digits", param_hint="CODE")
    if not _NAME.fullmatch(name):
        raise click.BadParameter(f'{name!r} is not lower-case words joined by "-"', param_hint="NAME")
    pages = sorted(folder.rglob("XLA*.md"))
    for page in pages:
        if page.stem.startswith(f"{code}-") or page.stem[len("XLA000-") :] == name:
            raise click.UsageError(f"{page.as_posix()} has that code or name")
    family = next((page.parent for page in pages if page.stem[:4] == code[:4]), folder)
    family.mkdir(parents=True, exist_ok=True)
    path = family / f"{code}-{name}.md"
    text = Template(_SKELETON.read_text("utf-8")).substitute(code=code, name=name)
    path.write_text(text, encoding="utf-8")
    click.echo(f"Wrote {path.as_posix()}; docs/rule-pages.md explains the head.", err=True)
