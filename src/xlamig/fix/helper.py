"""The helper module that portable fixes call: which file, and what makes its functions available."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

from xlamig.config.paths import read_regular
from xlamig.facts import Span
from xlamig.findings import Create, Edit
from xlamig.fix.context import FixContext
from xlamig.fix.helper_text import TEXT, is_helper
from xlamig.fix.imports import ensure_name
from xlamig.fix.inline import inline_function
from xlamig.knowledge import helpers


@dataclass(frozen=True, slots=True)
class HelperFunction:
    """`name` is what to call at a place; `edits` and `creates` are what makes it available there."""

    name: str
    edits: tuple[Edit, ...] = ()
    creates: tuple[Create, ...] = ()


def helper_function(context: FixContext, function: str, place: Span) -> HelperFunction | None:
    """A function of the helper for a use at `place`, defined in the file itself where no import of a
    helper is sure to work; None where its name is taken."""
    found = context.home and helper_place(
        _like(context.source.filename, context.home.folder), context.home.package, context.settings.helper
    )
    if not found:
        inline = inline_function(context, function, place)
        return HelperFunction(inline.name, inline.edits) if inline else None
    if found.filename == context.source.filename:
        return None
    imported = ensure_name(context, found.module, function, place)
    if imported is None:
        return None
    creates = () if found.exists else (Create(found.filename, TEXT),)
    return HelperFunction(imported.name, imported.edits, creates)


@dataclass(frozen=True, slots=True)
class HelperPlace:
    """`filename` is where the helper belongs, `module` how the file under repair imports it."""

    filename: str
    module: str
    exists: bool


def helper_place(folder: PurePath, package: str, name: str) -> HelperPlace | None:
    """Where helper `name` goes, as a module of `package` ("pkg." or ""); None when another file has
    taken its place."""
    module = f"{package}{name}"
    path = folder / f"{name}.py"
    state = _state(Path(path))
    return None if state is None else HelperPlace(path.as_posix(), module, state)


def _like(filename: str, folder: Path) -> PurePath:
    """`folder` written as `filename` is: relative to the working directory, if that is."""
    if folder.is_absolute() and not PurePath(filename).is_absolute():
        here = Path.cwd()
        return folder.relative_to(here) if folder.is_relative_to(here) else folder
    return folder


def _state(path: Path) -> bool | None:
    """True: our helper is there; False: nothing is there; None: something else is."""
    try:
        if path.with_suffix("").is_dir():
            return None
        text = read_regular(path)
        ours = is_helper(text) and all(f"def {name}(" in text for name in helpers.FUNCTIONS)
        return True if ours else None
    except FileNotFoundError:
        return False
    except (OSError, UnicodeDecodeError):
        return None
