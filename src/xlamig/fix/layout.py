"""Where each file of a project can import the helper from, however the project is started.

A *scope* is a folder in which a helper may lie, with the package that its import names. A file reaches a
scope if it already imports something from there whenever it runs, or if every way in which the file is
known to be loaded puts the scope on the import path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from xlamig.fix.folders import LAYOUTS, Folders
from xlamig.fix.launches import Launches
from xlamig.fix.scope import Scope
from xlamig.flow.model.absolute_imports import AbsoluteImports


class Way(NamedTuple):
    """A file is loaded from import root `root` as module `name`, "" where it is run by its path.
    `launched`: `root` itself is on the import path, not only a package that lies in it."""

    root: Path
    name: str
    launched: bool


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """`uses_torch`: a fix may need the helper there. `is_script`: the file does its work when it is run."""

    imports: AbsoluteImports
    is_script: bool = False
    uses_torch: bool = False


@dataclass(slots=True)
class Layout:
    """The files of one project, by absolute path. `top` is the project's folder."""

    top: Path
    files: Mapping[Path, ProjectFile]
    launches: Launches
    helper: str
    folders: Folders = field(default_factory=Folders)
    _ends: dict[str, list[Path]] = field(default_factory=dict)
    _roots: dict[Path, list[Path]] = field(default_factory=dict)
    _found: dict[tuple[Path, str, bool], Path | None] = field(default_factory=dict)  # see `_root_of`
    _modules: dict[tuple[Path, str], Path | None] = field(default_factory=dict)
    _by_path: dict[Path, bool] = field(default_factory=dict)  # see `_runs_by_path`
    _names: dict[tuple[Path, Path], str] = field(default_factory=dict)  # see `_dotted_name`

    def homes(self) -> dict[Path, Scope]:
        """The scope that each file imports the helper from; files without one define what they need."""
        loaded = self._ways()
        reached = {path: self._scopes(path, ways) for path, ways in loaded.items()}
        users = {path: scopes for path, scopes in reached.items() if self.files[path].uses_torch and scopes}
        chosen = list(self._cover(users))
        worth = [scope for scope, count in chosen if self._deserves_helper(scope, count, len(chosen))]
        kept = list(self._one_per_root(worth))
        homes = {path: next((s for s in kept if s in scopes), None) for path, scopes in reached.items()}
        for path in users:  # a script beside a package uses the helper in there
            homes[path] = homes[path] or next((s for s in kept if self._lies_beside(s, loaded[path])), None)
        return {path: scope for path, scope in homes.items() if scope is not None}

    def _lies_beside(self, scope: Scope, ways: set[Way]) -> bool:
        """Return whether the scope is a package, next to what is started, whose import does nothing."""
        bare = self.files.get(scope.folder / "__init__.py") == ProjectFile(AbsoluteImports())
        return bare and bool(ways) and all(way.launched and way.root == scope.folder.parent for way in ways)

    def _cover(self, users: Mapping[Path, frozenset[Scope]]) -> Iterator[tuple[Scope, int]]:
        """The fewest scopes that reach all users, found greedily; existing helpers first."""
        left = dict(users)
        while left:
            counts = Counter(scope for scopes in left.values() for scope in scopes)
            scope = max(counts, key=lambda one: self._worth(one, counts[one]))
            yield scope, counts[scope]
            left = {path: scopes for path, scopes in left.items() if scope not in scopes}

    def _one_per_root(self, scopes: Iterable[Scope]) -> Iterator[Scope]:
        """Yield the first scope of each import root, and those that have a helper."""
        roots: set[Path] = set()
        for scope in scopes:
            root = scope.folder.parent if scope.package else scope.folder
            if root not in roots or self._has_helper(scope):
                yield scope
            roots.add(root)

    def _worth(self, scope: Scope, count: int) -> tuple[object, ...]:
        return self._has_helper(scope), count, self._is_package(scope), -len(scope.folder.parts), scope

    def _deserves_helper(self, scope: Scope, count: int, scopes: int) -> bool:
        """A helper for loose files is worth a new one only where it serves the project as a whole."""
        if self._has_helper(scope) or scopes == 1:
            return True
        users = sum(file.uses_torch for file in self.files.values())
        return count > 1 and (self._is_package(scope) or count * 2 > users)

    def _is_package(self, scope: Scope) -> bool:
        return bool(scope.package) and self.folders.is_package(scope.folder)

    def _has_helper(self, scope: Scope) -> bool:
        return self.folders.has_helper(scope.folder, self.helper)

    # ------------------------------------------------------------------ how files are loaded

    def _ways(self) -> dict[Path, set[Way]]:
        ways: dict[Path, set[Way]] = {path: set() for path in self.files}
        for path in self.files:
            if self._runs_by_path(path):
                ways[path].add(Way(path.parent, "", launched=True))
        for name in self.launches.modules:
            for path, root in self._named_modules(name):
                ways[path].add(Way(root, name, launched=not self.folders.installs(root)))
        for importer, file in self.files.items():
            for name in file.imports.possible:
                self._note_import(importer, name, ways)
        self._follow_relative_imports(ways)
        for path, known in ways.items():
            package = self.folders.top_package(path)
            if not known and package is not None and self._is_import_root(package.parent):
                known.add(Way(package.parent, self._dotted_name(path, package.parent), launched=False))
        return ways

    def _is_import_root(self, folder: Path) -> bool:
        """A package that nothing is seen to import is one only at the top: further down, the folders
        above may be packages too, without an `__init__.py`."""
        return folder in (self.top, *(self.top / name for name in LAYOUTS)) or self.folders.installs(folder)

    def _follow_relative_imports(self, ways: Mapping[Path, set[Way]]) -> None:
        """A module loads what it imports by dots from its own import root."""
        waiting = [(path, way) for path, known in ways.items() for way in known]
        while waiting:
            path, way = waiting.pop()
            for name in self.files[path].imports.relative if way.name else ():
                rest = name.lstrip(".")
                folder = path.parents[len(name) - len(rest) - 1]
                target = self._module(folder, rest) if folder.is_relative_to(way.root) else None
                found = target and way._replace(name=self._dotted_name(target, way.root))
                if target and found and found not in ways[target]:
                    ways[target].add(found)
                    waiting.append((target, found))

    def _note_import(self, importer: Path, name: str, ways: dict[Path, set[Way]]) -> None:
        if not self.folders.may_provide(name.partition(".")[0]):
            return
        root = self._root_of(name, importer)
        target = root and self._module(root, name)
        if root and target:
            launched = not self.folders.installs(root)
            ways[target].add(Way(root, self._dotted_name(target, root), launched))

    def _runs_by_path(self, path: Path) -> bool:
        """The project starts the file by its path, or nothing says how it is started."""
        if path not in self._by_path:
            self._by_path[path] = self._is_started(path)
        return self._by_path[path]

    def _is_started(self, path: Path) -> bool:
        if any(path.as_posix().endswith(f"/{script.lstrip('./')}") for script in self.launches.scripts):
            return True
        if self._is_test(path):
            return False
        if not (self.files[path].is_script or path.parent in (self.top, Path.cwd()) or _is_notebook(path)):
            return False
        return not self._runs_as_module(path.parent)

    def _runs_as_module(self, folder: Path) -> bool:
        """The project starts the scripts of this folder with `python -m`."""
        return any(
            path.parent == folder for name in self.launches.modules for path, _ in self._named_modules(name)
        )

    def _named_modules(self, name: str) -> Iterator[tuple[Path, Path]]:
        """The files that module `name` may be, each with its import root."""
        tail = name.replace(".", "/")
        for end in (f"{tail}.py", f"{tail}/__init__.py", f"{tail}/__main__.py"):
            for path in self._by_end().get(end, ()):
                yield path, path.parents[end.count("/")]

    def _by_end(self) -> Mapping[str, list[Path]]:
        """The files by each of their paths' ends: "c.py", "b/c.py" ..."""
        if not self._ends:
            for path in self.files:
                parts = path.relative_to(self.top).parts
                for start in range(len(parts)):
                    self._ends.setdefault("/".join(parts[start:]), []).append(path)
        return self._ends

    def _is_test(self, path: Path) -> bool:
        named = path.name.startswith("test_") or path.stem.endswith("_test") or path.name == "conftest.py"
        return named or self._in_tests(path)

    def _in_tests(self, path: Path) -> bool:
        folders = path.relative_to(self.top).parts[:-1]
        return "tests" in folders or "test" in folders

    # ------------------------------------------------------------------ what a file reaches

    def _scopes(self, path: Path, ways: set[Way]) -> frozenset[Scope]:
        shared = [self._scopes_of(way) for way in ways]
        sure = frozenset.intersection(*shared) if shared else frozenset()
        return sure | frozenset(self._imported_scopes(path, ways))

    def _scopes_of(self, way: Way) -> frozenset[Scope]:
        first, dot, _ = way.name.partition(".")
        package = {Scope(way.root / first, f"{first}.")} if dot else set()
        return frozenset(package | ({Scope(way.root, "")} if way.launched or not dot else set()))

    def _imported_scopes(self, path: Path, ways: set[Way]) -> Iterator[Scope]:
        """The scopes of what the file imports whenever it runs. An installed package may be another
        version than the project's, unless the file is a part of it or a test."""
        for name in self.files[path].imports.needed:
            root = self._root_of(name, path)
            if root is None or self._module(root, name) is None:
                continue
            first = name.partition(".")[0]
            installed = self.folders.installs(root)
            if (root / first).is_dir():
                local = not installed or path.is_relative_to(root / first) or self._in_tests(path)
                if local or (ways and all(way.root == root and way.launched for way in ways)):
                    yield Scope(root / first, f"{first}.")
            elif not installed:
                yield Scope(root, "")

    def _root_of(self, name: str, importer: Path) -> Path | None:
        """The folder that `name` is imported from: the nearest one above the importer that has it, and
        a folder inside a package only for a module that no other folder has."""
        key = importer.parent, name, self._runs_by_path(importer)
        if key not in self._found:
            self._found[key] = self._find_root(*key)
        return self._found[key]

    def _find_root(self, folder: Path, name: str, starts: bool) -> Path | None:
        """Return the folder that a file in `folder` imports `name` from; `starts`: the file is a script."""
        first, dot, _ = name.partition(".")
        if not self.folders.may_provide(first):
            return None
        inside = None
        for root in self._roots_above(folder):
            if not self.folders.provides(root, first, name):
                continue
            if not self.folders.is_package(root) or (starts and root == folder):
                return root
            if dot and inside is None and self._is_file(root, name):
                inside = root
        return inside

    def _roots_above(self, folder: Path) -> Sequence[Path]:
        """A folder, those above it in the project, and the usual source folders in each."""
        if folder not in self._roots:
            here = [folder, *(folder / name for name in LAYOUTS)]
            is_last = folder in (self.top, folder.parent)
            self._roots[folder] = here if is_last else [*here, *self._roots_above(folder.parent)]
        return self._roots[folder]

    def _is_file(self, root: Path, name: str) -> bool:
        """`name` is a module of two parts or more, not what a module of that name may define."""
        path = root.joinpath(*name.split("."))
        return path.with_name(f"{path.name}.py") in self.files

    def _module(self, root: Path, name: str) -> Path | None:
        """The file that `name`, or the module around it, is below `root`."""
        key = root, name
        if key not in self._modules:
            self._modules[key] = self._find_module(root, name)
        return self._modules[key]

    def _dotted_name(self, path: Path, root: Path) -> str:
        """Return the name of a file as a module below an import root."""
        known = self._names.get((path, root))
        if known is None:
            parts = path.relative_to(root).with_suffix("").parts
            known = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            self._names[path, root] = known
        return known

    def _find_module(self, root: Path, name: str) -> Path | None:
        path = root.joinpath(*name.split("."))
        while path != root:
            for candidate in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
                if candidate in self.files:
                    return candidate
            path = path.parent
        return None


def _is_notebook(path: Path) -> bool:
    return path.suffix == ".ipynb"


def projects(paths: Iterable[Path], folders: Folders) -> dict[Path, list[Path]]:
    """The files by the folder of the project that they belong to."""
    found: dict[Path, list[Path]] = {}
    for path in paths:
        found.setdefault(folders.project_of(path), []).append(path)
    return found
