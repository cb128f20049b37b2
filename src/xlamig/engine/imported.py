"""Find the files that named files import from: the project's functions and classes that they use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from xlamig.config.load import Resolver
from xlamig.config.paths import absolute
from xlamig.config.settings import Settings
from xlamig.engine.load import module_identity
from xlamig.engine.loader import Loader
from xlamig.engine.progress import Progress
from xlamig.engine.reader import Reader
from xlamig.engine.source import Source
from xlamig.flow import Interface
from xlamig.source.files import SourceFile, too_large

_MOST_FILES = 100
_MOST_BYTES = 400_000  # a second of parsing; more for those who ask for more
_MOST_REEXPORTS = 12  # they may form a cycle

_Use = tuple[str, str]  # a dotted name, and the file that has it


def load_imported(
    asked: Mapping[str, Source],
    resolver: Resolver,
    reader: Reader,
    loader: Loader,
    processes: int,
) -> dict[str, Source]:
    """Return the files that define what `asked` import, loaded: at most 100, and together no larger than
    400 kB or than `asked`."""
    found: dict[str, Source] = {}
    imported = _ImportedFiles(asked, resolver.settings_for)
    for files in imported.rounds():
        sources = reader.read(files)[0]
        loader.load_all(sources.values(), processes, Progress(None), all_matter=True)
        imported.add(sources)
        found |= sources
    return found


class _ImportedFiles:
    """Follows the names that files import to where they are defined: through re-exports, and to the bases of
    classes. What these files call of others is not followed: a check of one file stays fast."""

    def __init__(self, asked: Mapping[str, Source], settings_of: Callable[[Path], Settings]) -> None:
        self._sources = dict(asked)
        self._settings_of = settings_of
        self._files_left = _MOST_FILES
        self._bytes_left = max(_MOST_BYTES, sum(source.file.size for source in asked.values()))
        self._folders: dict[str, frozenset[str]] = {}
        self._seen: set[_Use] = set()
        self._waiting: list[_Use] = [
            (name, filename)
            for filename, source in asked.items()
            if (interface := _interface(source)) is not None
            for name in (*interface.imports, *interface.stars)
        ]

    def rounds(self) -> Iterator[list[SourceFile]]:
        """Yield the files to read next; `add` has to be called with them before the next ones."""
        for _ in range(_MOST_REEXPORTS):
            self._seen.update(self._waiting)
            found = (target[0] for use in self._waiting if (target := self._find(*use)) is not None)
            if files := self._choose(Counter(name for name in found if name not in self._sources)):
                yield files
            self._waiting = list(dict.fromkeys(self._next_uses()))
            if not self._waiting:
                return

    def add(self, sources: Mapping[str, Source]) -> None:
        """Add the files that were read, with their interfaces."""
        self._sources.update(sources)

    def _choose(self, uses: Mapping[str, int]) -> list[SourceFile]:
        """Return files to read: those first of which most is used for their size. Half of what may be read is
        left for later rounds: for re-exports."""
        found = [file for name in uses if (file := self._file(name)) is not None]
        most, chosen = self._bytes_left // 2, list[SourceFile]()
        for file in sorted(found, key=lambda file: (file.size / uses[file.name], file.name)):
            if file.size <= most and self._files_left:
                most -= file.size
                self._bytes_left -= file.size
                self._files_left -= 1
                chosen.append(file)
        return chosen

    def _next_uses(self) -> Iterator[_Use]:
        """Yield what the names that are used stand for in the files that hold them."""
        for dotted, origin in self._waiting:
            target = self._find(dotted, origin)
            if target is None:
                continue
            if target[0] not in self._sources:  # others came first
                yield dotted, origin
            interface = _interface(self._sources.get(target[0]))
            if interface is None:
                continue
            for name in _meanings(interface, target[1]):
                if (use := (name, target[0])) not in self._seen:
                    yield use

    def _find(self, dotted: str, origin: str) -> tuple[str, str] | None:
        """Return the file that an imported name is of, as an index of all modules would find it, and the
        rest of the name."""
        parts = PurePosixPath(origin).parent.parts
        for count in range(len(parts), -1, -1):
            folder = "/".join(parts[:count]).replace("//", "/")
            own = module_identity(f"{folder}/__init__.py") if count else ""
            if dotted == own:
                rest: list[str] = []
            else:
                rest = (dotted.removeprefix(f"{own}.") if own else dotted).split(".")
            if found := self._inside(folder, rest):
                return found
        return None

    def _inside(self, folder: str, parts: list[str]) -> tuple[str, str] | None:
        """Return the file of the longest module among the parts of a name below a folder."""
        start = f"{folder.rstrip('/')}/" if folder else ""
        found: tuple[str, str] | None = None
        if not parts and "__init__.py" in self._names(folder):
            return f"{start}__init__.py", ""
        for count, part in enumerate(parts, 1):
            here, rest = self._names(folder), ".".join(parts[count:])
            if part in here:
                folder = f"{start}{part}"
                if "__init__.py" in self._names(folder):
                    found = f"{folder}/__init__.py", rest
            elif f"{part}.py" in here:
                return f"{start}{part}.py", rest
            if part not in here:
                break
            start = f"{folder}/"
        return found

    def _names(self, folder: str) -> frozenset[str]:
        known = self._folders.get(folder)
        if known is None:
            try:
                known = frozenset(entry.name for entry in Path(folder or ".").iterdir())
            except OSError:
                known = frozenset()
            self._folders[folder] = known
        return known

    def _file(self, name: str) -> SourceFile | None:
        path = absolute(Path(name))
        settings = self._settings_of(path)
        try:
            size = path.stat().st_size
        except OSError:
            return None
        regular = path.is_file() and too_large(name, size, settings) is None
        return SourceFile(path, name, settings, size) if regular else None


def _interface(source: Source | None) -> Interface | None:
    return source.loaded.interface if source is not None and source.loaded is not None else None


def _meanings(interface: Interface, path: str) -> Iterator[str]:
    """Yield the names that a name of a module stands for, or that it is made of: the bases of a class."""
    name, _, rest = path.partition(".")
    if not name:
        return
    export = interface.exports.get(name)
    if export is None:
        yield from (f"{star}.{path}" for star in interface.stars)
    elif export.kind == "name":
        yield f"{export.value}.{rest}" if rest else export.value
    elif export.kind == "class":
        yield from export.value.split()
