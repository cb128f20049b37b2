"""The helper module that portable fixes call: which file, and what makes its functions available."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

from xlamig import ir
from xlamig.facts import Span
from xlamig.findings import Create, Edit
from xlamig.fix.context import FixContext
from xlamig.fix.helper_text import TEXT, is_helper
from xlamig.fix.imports import ensure_name
from xlamig.flow.model.scripts import has_main_guard, is_script
from xlamig.knowledge import helpers


@dataclass(frozen=True, slots=True)
class HelperFunction:
    """`name` is what to call at a place; `edits` and `creates` are what makes it available there."""

    name: str
    edits: tuple[Edit, ...] = ()
    creates: tuple[Create, ...] = ()


def helper_function(page: FixContext, function: str, place: Span) -> HelperFunction | None:
    """A function of the helper for a use at `place`; None where an import of it may not work."""
    place_of = _place(page)
    found = place_of and helper_place(*place_of, page.settings.helper)
    if not found or found.filename == page.source.filename:
        return None
    imported = ensure_name(page, found.module, function, place)
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
        text = path.read_text(encoding="utf-8")
        ours = is_helper(text) and all(f"def {name}(" in text for name in helpers.FUNCTIONS)
        return True if ours else None
    except FileNotFoundError:
        return False
    except (OSError, UnicodeDecodeError):
        return None


def _place(page: FixContext) -> tuple[PurePath, str] | None:
    """The folder for a helper whose import works however the file is run, and the package that the
    import names; None if there is none.

    A script inside a package may be started by its path, and then the package cannot be imported,
    unless the file does that already; it may also do as a loose one does, and import what lies beside
    it. A helper beside a loose file is found if that is a script or imported by one there, or lies
    where scripts are started; if a file of another folder imports it, the helper has to lie where it
    imports the project's own modules from, or where the others all find it from.
    """
    folder = PurePath(page.source.filename).parent
    if page.package_root is not None:
        top = page.package_root.name
        if not has_main_guard(page.module) or any(_imports_from(s, top) for s in page.module.body):
            return _like(page.source.filename, page.package_root), f"{top}."
        beside = page.imported.by != "elsewhere" and _imports_out_of(page.module, Path(folder))
        return (folder, "") if beside else None
    if page.imported.by == "elsewhere":
        roots = (above for above in folder.parents if _imports_out_of(page.module, Path(above)))
        root = next(roots, None) or _found_from(page, folder)
        return (root, "") if root is not None else None
    started_there = Path(folder).resolve() in (Path.cwd(), page.settings.root.resolve())
    is_notebook = page.source.filename.endswith(".ipynb")
    found = started_there or is_notebook or page.imported.by == "beside" or is_script(page.module)
    return (folder, "") if found else None


def _found_from(page: FixContext, folder: PurePath) -> PurePath | None:
    """The folder in which all that import the file look for it: they find a helper there as well. Not of
    a file that may be started itself, with its own folder as the place to look."""
    above = page.imported.above
    if above is None or above > len(folder.parents) or is_script(page.module):
        return None
    return folder.parents[above - 1] if above else folder


def _imports_out_of(module: ir.Module, folder: Path) -> bool:
    """The module needs one that lies in `folder`: there Python looks."""
    names = {s.module.partition(".")[0] for s in module.body if isinstance(s, ir.ImportFrom) and not s.level}
    names |= {a.name.partition(".")[0] for s in module.body if isinstance(s, ir.Import) for a in s.names}
    return any(
        (folder / f"{name}.py").is_file() or any((folder / name).glob("*.py")) for name in names if name
    )


def _imports_from(statement: ir.Stmt, top: str) -> bool:
    if isinstance(statement, ir.ImportFrom):
        return statement.level > 0 or statement.module.partition(".")[0] == top
    if isinstance(statement, ir.Import):
        return any(alias.name.partition(".")[0] == top for alias in statement.names)
    return False
