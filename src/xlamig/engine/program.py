"""The program as a whole: which of the names that rules ask about its files use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from xlamig.config.paths import absolute
from xlamig.engine.dedupe_dependencies import once_per_dependency, with_concerns
from xlamig.engine.imported_uses import ImportedUses
from xlamig.engine.load import Loaded
from xlamig.engine.session import Session
from xlamig.findings import FileReport
from xlamig.flow import ProjectIndex
from xlamig.flow.model.draw_rates import drawn
from xlamig.flow.model.outcomes import States
from xlamig.flow.model.same_names import StatesInModule
from xlamig.flow.model.scripts import MARK
from xlamig.knowledge import values as table
from xlamig.knowledge.helpers import meaning
from xlamig.rulebook import Program
from xlamig.rulebook.program import word_of
from xlamig.source.files import SourceFile


class ProgramIndex:
    """The names that rulebooks ask about, as the files of a program use them. Files come and change one by
    one; `complete` says that in the end they are all of the program, whose options have the `states`. Each
    script that no other module imports is a program with the modules that are no scripts; what another
    script does, it does not."""

    def __init__(
        self,
        sessions: Collection[Session],
        complete: bool,
        index: ProjectIndex,
        states: States | None,
    ) -> None:
        self._states = states or {}
        self._names = {session.key: _Names(session, complete, index) for session in sessions}
        self.once = frozenset().union(*(session.outline.once for session in sessions))

    def note(self, filename: str, module: str, text: str, loaded: Loaded) -> None:
        """A file, new or changed."""
        uses = drawn(loaded.uses, StatesInModule(self._states, module))
        for names in self._names.values():
            if loaded.failure is not None:
                names.put_unread(text)
            names.put(filename, module, uses, loaded.clues.computes_imports)

    def program(self, key: str, filename: str) -> Program:
        """The program that a file is part of, as the book of this key asks for it."""
        return self._names[key].program(filename)

    @property
    def scripts(self) -> frozenset[str]:
        return frozenset().union(*(names.scripts.keys() for names in self._names.values()))


class _Names:
    """For the rules of one session."""

    def __init__(self, session: Session, complete: bool, index: ProjectIndex) -> None:
        self._asked = session.outline.asked_by(session.outline.active & session.selection.enabled)
        self._complete = complete
        self._index = index
        self._files: dict[str, frozenset[str]] = {}
        self.scripts: dict[str, frozenset[str]] = {}
        self._counts: Counter[str] = Counter()
        self._unsure: set[str] = set()
        self._programs: dict[str, Program] = {}  # by script, "" that of all
        self._modules: dict[str, str] = {}  # by file
        self._run: set[str] = set()  # the files that are scripts, imported or not
        self._searching: set[str] = set()  # the modules that import by names which they compute
        names = self._asked.uses | self._asked.absent
        self._helper = session.outline.interest.helper
        aliases = session.outline.interest.aliases
        self._exact = {name: name for name in names if "*" not in name}
        self._exact |= {alias: name for alias, name in aliases.items() if name in names}
        self._globs = [(name, _line_like(name)) for name in names if "*" in name]

    def put(self, filename: str, module: str, uses: str, computes_imports: bool) -> None:
        self._programs.clear()
        self.__dict__.pop("_imported", None)
        self._modules[filename] = module
        for known, name, holds in (
            (self._run, filename, f"\n{MARK}\n" in uses),
            (self._searching, module, computes_imports),
        ):
            (known.add if holds else known.discard)(name)
        self._counts.subtract(self._files.pop(filename, ()))
        self.scripts.pop(filename, None)
        found = frozenset(self._find_names(module, uses))
        if filename in self._run and module not in self._index.import_depths:
            self.scripts[filename] = found
        else:
            self._files[filename] = found
            self._counts.update(found)

    def put_unread(self, text: str) -> None:
        """Record a file that cannot be analysed: names it may use are not known to be absent."""
        self._unsure |= {name for name in self._asked.absent if word_of(name) in text}

    def _find_names(self, module: str, uses: str) -> Iterable[str]:
        if (not self._exact and not self._globs) or module.rpartition(".")[2] == self._helper:
            return  # the helper counts where it is called
        lines = set(uses.split("\n"))
        if f"{self._helper}." in uses:
            lines |= {meaning(line, self._helper) for line in lines}
        yield from (self._exact[line] for line in self._exact.keys() & lines)
        yield from (name for name, search in self._globs if search(uses))
        handed = {name for line in lines if (name := self._handed_on(line, module))}
        yield from (self._exact[name] for name in handed & self._exact.keys())
        text = "\n".join(("", *handed, ""))
        yield from (name for name, search in self._globs if search(text))

    def _handed_on(self, dotted: str, module: str) -> str:
        """Return the name of another package that reaches a module through one of the project, else ""."""
        if dotted.partition(".")[0] not in self._index.folders_and_modules:
            return ""
        export = self._index.resolve(dotted, module)
        return export.value if export is not None and export.kind == "name" else ""

    def program(self, filename: str) -> Program:
        own = filename if filename in self.scripts else ""
        if own not in self._programs:
            used = {name for name, count in self._counts.items() if count > 0}
            used |= self.scripts[own] if own else set().union(*self.scripts.values())
            absent = self._asked.absent - used - self._unsure if self._complete else frozenset()
            self._programs[own] = Program(self._asked.uses & used, absent)
        found = self._programs[own]
        asked, unasked = self._asked.imported & found.uses, self._asked.not_imported
        if not asked and unasked <= found.absent:
            return replace(found, not_imported=unasked)
        imported = self._imported.of(self._modules.get(filename, ""))
        if imported is None:
            return replace(found, imported=asked, not_imported=unasked & found.absent)
        absent = unasked - imported - self._unsure if self._complete else frozenset()
        return replace(found, imported=asked & imported, not_imported=absent)

    @cached_property
    def _imported(self) -> ImportedUses:
        found = self._files | self.scripts
        training = table.program_group("training")
        return ImportedUses(
            self._index,
            {self._modules[name]: names for name, names in found.items()},
            {self._modules[name] for name in self._run},
            {self._modules[name] for name in self._run if not found[name].isdisjoint(training)},
            self._searching,
        )


def _line_like(name: str) -> Callable[[str], object]:
    if name.count("*") == 1 and name.endswith("*"):
        return lambda uses: f"\n{name[:-1]}" in uses
    return re.compile("\n" + r"[^\n]*".join(map(re.escape, name.split("*"))) + "\n").search


def once_in_program(
    reports: Mapping[str, FileReport], once: Collection[str], scripts: Collection[str]
) -> tuple[FileReport, ...]:
    """The reports by file name. Of a rule in `once` the first finding stays, that of each script, and none
    at all where a comment suppresses any; one that asks for no change hides only such. Findings about one
    dependency become one, and those that concern others name their places."""
    reports = once_per_dependency(reports)
    silent = suppressed_rules(reports.values(), once)
    before, noted = set(silent), set[str]()
    kept: list[FileReport] = []
    for name in sorted(reports):
        report = reports[name]
        findings = []
        said, idle = (set(silent), set[str]()) if name in scripts else (before, noted)
        for finding in report.findings:
            before_it = said | idle if finding.no_action else said
            if finding.code not in before_it or finding.effort.unit == "dependency":
                findings.append(finding)
            if finding.code in once:
                (idle if finding.no_action else said).add(finding.code)
        kept.append(
            report if len(findings) == len(report.findings) else replace(report, findings=tuple(findings))
        )
    return tuple(with_concerns({report.filename: report for report in kept}).values())


def suppressed_rules(reports: Iterable[FileReport], once: Collection[str]) -> frozenset[str]:
    """The rules in `once` that a comment somewhere suppresses."""
    return frozenset(code for report in reports for code in report.silenced if code in once)


_LAYOUTS = ("src", "python", "lib")


def own_packages(paths: Sequence[Path], files: Sequence[SourceFile]) -> frozenset[str]:
    """The packages that the folders of a run hold at their top, or in `src`."""
    tops = {absolute(path) for path in paths}
    tops |= {top / name for top in tops for name in _LAYOUTS}
    folders = (file.path.parent for file in files if file.path.name == "__init__.py")
    return frozenset(folder.name for folder in folders if folder.parent in tops)
