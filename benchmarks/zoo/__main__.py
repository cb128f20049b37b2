"""`python -m benchmarks.zoo`: fetch, run and compare."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from benchmarks.zoo import manifest
from benchmarks.zoo.fetch import fetch
from benchmarks.zoo.run import run

SOURCES = Path.home() / ".cache" / "xlamig" / "zoo"

_names = click.argument("packages", nargs=-1)
_sources = click.option(
    "--sources", type=click.Path(file_okay=False, path_type=Path), default=SOURCES, show_default=True,
    help="Folder for the sources of the packages.",
)  # fmt: skip


@click.group()
def main() -> None:
    """Trace small models of published packages and hold `xlamig check` against the traces."""


@main.command("fetch")
@_names
@_sources
def fetch_command(packages: tuple[str, ...], sources: Path) -> None:
    """Download the sources of PACKAGES, all unless some are named."""
    failures = fetch(_load(packages), sources, click.echo)
    for failure in failures:
        click.echo(f"not installed: {failure}")
    sys.exit(bool(failures))


@main.command("run")
@_names
@_sources
@click.option("--python", default=sys.executable, help="A Python with torch_xla and the dependencies.")
@click.option("--seconds", default=90.0, show_default=True, help="Time limit of a case.")
@click.option("--again", multiple=True, help="Also run cases with this status (broken, slow, ...).")
def run_command(
    packages: tuple[str, ...], sources: Path, python: str, seconds: float, again: tuple[str, ...]
) -> None:
    """Trace the cases of PACKAGES that have no trace yet."""
    run(_load(packages), sources, python, seconds, frozenset(again), click.echo)


def _load(names: tuple[str, ...]) -> list[manifest.Package]:
    try:
        return manifest.load(names)
    except manifest.ManifestError as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main()
