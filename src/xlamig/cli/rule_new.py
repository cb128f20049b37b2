"""`xlamig rule new`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from string import Template

import click

_CODE = re.compile(r"[A-Z]{2,}\d{3}")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_API = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_PAGE = re.compile(r"([A-Z]{2,}\d{3})-(.+)")
_GUIDE = "https://xlamig.readthedocs.io/rule-pages/"
_SKELETON = Path(__file__).with_name("new_page.md")
_PROGRAMS = {
    "bad": "# run = static-only\n# why = nobody has run it yet\nimport torch\n\n${api}()  # expect: $code\n",
    "good": "# run = clean\n# portable = true\nimport torch\n\ntorch.ones(2)\n",
    "silent": (
        "# run = clean\n# portable = true\nclass Settings:\n    def ${last}(self):\n        return 1\n\n\n"
        "Settings().${last}()\n"
    ),
}


@click.command()
@click.argument("code")
@click.argument("name")
@click.option(
    "--dir", "folder", type=click.Path(path_type=Path), default=Path("rules"), show_default=True,
    help="The folder of rule pages.",
)  # fmt: skip
@click.option(
    "--fixtures", type=click.Path(path_type=Path), default=Path("fixtures"), show_default=True,
    help="The folder of test programs; none are written if it does not exist.",
)  # fmt: skip
@click.option("--api", default="torch.cuda.your_function", show_default=True, help="The function to report.")
def command(code: str, name: str, folder: Path, fixtures: Path, api: str) -> None:
    """Write the page of a new rule and its test programs, to be filled in.

    CODE is capital letters and three digits; XLA is for the rules of xlamig itself, your own have
    other letters and belong in your repository. NAME reads as "allow NAME": ACME001 my-rule-name.
    """
    from xlamig.rulebook.parameters import nearly

    if not _CODE.fullmatch(code):
        raise click.BadParameter(f"{code!r} is not capital letters and three digits", param_hint="CODE")
    if not _NAME.fullmatch(name):
        raise click.BadParameter(f'{name!r} is not lower-case words joined by "-"', param_hint="NAME")
    if not _API.fullmatch(api):
        raise click.BadParameter(f"{api!r} is not a dotted name", param_hint="--api")
    _check_prefix(code, folder)
    if near := nearly(api):
        click.echo(f"Warning: torch has no `{api}`, as far as xlamig knows; is it `{near}`?", err=True)
    family = folder
    for page, other, used in _pages(folder):
        if code == other or name == used:
            raise click.UsageError(f"{page.as_posix()} has that code or name")
        if family == folder and other[:-2] == code[:-2]:
            family = page.parent
    words = {"code": code, "name": name, "api": api, "last": api.rpartition(".")[2]}
    _write(family / f"{code}-{name}.md", _SKELETON.read_text("utf-8"), words)
    if fixtures.is_dir():
        for role, text in _PROGRAMS.items():
            _write(fixtures / code / name / f"{role}.py", text, words)
    click.echo(f"Fill in what was written: {_GUIDE} explains the head of the page.", err=True)
    if not _is_read(folder):
        click.echo(
            f'Add `rules = ["{folder.as_posix()}"]` to [tool.xlamig] of pyproject.toml, or to xlamig.toml:'
            " no configuration names this folder yet.",
            err=True,
        )
    click.echo(f"Then run `xlamig rule test {code}`, and `xlamig check --preview --select {code}`.", err=True)


def _check_prefix(code: str, folder: Path) -> None:
    """Raise UsageError for a rule with letters of its own among the rules of xlamig itself."""
    from xlamig.config.book import find_book

    if not code.startswith("XLA") and folder.resolve().is_relative_to(find_book().resolve()):
        raise click.UsageError(
            f"{folder.as_posix()} holds the rules of xlamig itself, which begin with XLA. "
            f"Run this in your own repository: {code} belongs to the code that it is about"
        )


def _is_read(folder: Path) -> bool:
    from xlamig.config.book import find_book
    from xlamig.config.load import Resolver

    read = (find_book(), *Resolver().settings_for(Path()).rules)
    return any(folder.resolve().is_relative_to(one.resolve()) for one in read)


def _pages(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield every rule page below `folder`, with its code and name."""
    for path in sorted(folder.rglob("*.md")):
        if found := _PAGE.fullmatch(path.stem):
            yield path, found[1], found[2]


def _write(path: Path, text: str, words: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(Template(text).substitute(words), encoding="utf-8")
    click.echo(f"Wrote {path.as_posix()}", err=True)
