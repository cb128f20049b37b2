"""The whole program as a run knows it: the jobs that analyse its files, and what their results depend on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from xlamig.artifacts.native import NativeIndex
from xlamig.engine.cache import digest
from xlamig.engine.clues import LOADS
from xlamig.engine.device_settings import settings_in
from xlamig.engine.exchange import modules_named
from xlamig.engine.jobs import AnalyseJob
from xlamig.engine.load import Loaded
from xlamig.engine.program import ProgramIndex
from xlamig.engine.source import Source
from xlamig.engine.switches import is_tried_out
from xlamig.engine.unmentioned import NONE_UNREACHED, Unreached
from xlamig.engine.unread import unread_in_program
from xlamig.findings import Aside
from xlamig.fix.folders import Folders
from xlamig.fix.scope import Scope
from xlamig.flow import Interface, ProjectIndex
from xlamig.flow.interp.module_text import ModuleText
from xlamig.flow.interp.visits import NO_VISIT, Visit, relocated
from xlamig.flow.model.callers import NO_CALLERS
from xlamig.flow.model.conditions import MAIN
from xlamig.flow.model.option_codes import CUDA, ENTRY, GLOBAL, OFF, PLACES, name_of
from xlamig.flow.model.outcomes import NO_STATE, State
from xlamig.flow.model.pickled import HABIT, KEYS
from xlamig.flow.model.same_names import StatesInModule
from xlamig.source.text import SourceText

Seals = MutableMapping[tuple[str, frozenset[str]], tuple[Interface, str]]
"""Digests of the interfaces that can change what a file means, by its name and the modules of the objects
that its classes hold; with its own interface."""
_CUDA_ENTRIES = ('device": "cuda', "device': 'cuda")
_ASKS_ELSEWHERE = ("pad_sequence", "max(", "Tensor if", "torch.load(", "torch.save(", *_CUDA_ENTRIES)


@dataclass(slots=True)
class WholeProgram:
    """Builds the jobs that analyse files, and the digests of everything that their results depend on."""

    index: ProjectIndex
    natives: NativeIndex
    survey: ProgramIndex
    modules: Mapping[str, Source]  # those with an interface, by module
    homes: Mapping[Path, Scope]  # of the helper, by file
    beside: Mapping[str, Aside]  # by file, of those beside the program
    unread: Mapping[str, str]  # by module, see unread_files
    own: frozenset[str]  # the packages at the top of the paths
    gpu_only: Mapping[str, str]  # by file, see gpu_only_files
    on_host: frozenset[str]  # see host_scripts
    switches: Mapping[str, State] | None = None  # None where not all of the program is known
    unreached: Unreached = NONE_UNREACHED
    devices: Mapping[str, str] = field(default_factory=dict)  # see device_settings
    folders: Folders = field(default_factory=Folders)
    visits: Mapping[str, Visit] = field(default_factory=dict)  # by module
    _sinks: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by module, see flow.device_sinks
    seals: Seals = field(default_factory=dict)  # as long as the index is the same
    _digests: dict[str, str] = field(default_factory=dict)  # by module, as long as the visits are the same
    _options: dict[str, tuple[tuple[str, State], ...]] = field(default_factory=dict)  # by module
    _loads: frozenset[str] | None = None  # as long as the modules are the same

    def job(self, source: Source, text: SourceText, loaded: Loaded, other_modules: bool = True) -> AnalyseJob:
        """Return the job for a source, or for a changed text of it; without `other_modules` what its key does
        not depend on is left out."""
        reach = self._reach(source) if loaded.interface and other_modules else ()
        texts = {module: there for module in reach if (there := self._text(module)) is not None}
        needed: Mapping[str, Interface] = {}
        if loaded.interface and other_modules:
            needed = self.index.needed_by(loaded.interface, reach)
        return AnalyseJob(
            text.for_reading(),
            source.file.path,
            source.module,
            source.is_package,
            source.file.settings,
            loaded.tree,
            needed,
            loaded.failure,
            self.homes.get(source.file.path),
            self.folders.top_package(source.file.path),
            self.survey.program(source.session.key, source.file.name),
            self.index.callers.get(source.module, NO_CALLERS),
            (loaded.native, self.natives.links(source.file.name)) if loaded.native else None,
            self.natives.called_in(source.file.name),
            self.own & source.session.outline.packages,
            texts,
            self._visit(source, text),
            self.exposes(source),
            self.beside.get(source.file.name),
            unread_in_program(self.unread, self.index.programs_with(source.module)) if self.unread else "",
            self.gpu_only.get(source.file.name, ""),
            source.file.name in self.on_host,
            self.unreached.unmentioned.get(source.file.name, ()),
            self.unreached.off.get(source.file.name, ()),
            self._switches(source, loaded),
            settings_in(text.text, self.devices),
            self._elsewhere(source, text),
            self._starts_early(source),
        )

    def with_edits(self, edited: Iterable[Source]) -> WholeProgram:
        """Return the program as if some of its modules had other texts, and what others ask of them were the
        same."""
        visits, modules = dict(self.visits), dict(self.modules)
        for now in edited:
            visit = self._visit(modules[now.module], now.source)
            if visit is not None:
                visits[now.module] = visit
            modules[now.module] = now
        return replace(self, modules=modules, visits=visits, _digests={}, _options={}, _loads=None)

    def _switches(self, source: Source, loaded: Loaded) -> tuple[tuple[str, State], ...]:
        """Return the options with a known state that a file tests, and those that it sets where CUDA decides
        them and placements of other files depend on them."""
        if self.switches is None:
            return ()
        states = StatesInModule(self.switches, source.module)
        known = {option: states.get(option, NO_STATE) for option in loaded.tested}
        imported = source.module in self.index.import_depths
        for key in loaded.assigned:
            alone = key.startswith(GLOBAL) and not imported  # others have a name of their own
            if (name := name_of(key)) in self.index.placing_flags and not alone:
                asked = (states.get(one, NO_STATE) for one in (key, ENTRY + name))
                known[PLACES + key] = next((state for state in asked if CUDA in state), NO_STATE)
        found = tuple((option, state) for option, state in sorted(known.items()) if state)
        if is_tried_out(source.source.text, source.module in self.index.import_depths):
            found += ((MAIN, (OFF,)),)
        return found

    def _switches_of(self, module: str) -> tuple[tuple[str, State], ...]:
        """Return the options of a module of the program as it is on disk."""
        if module not in self._options:
            source = self.modules[module]
            self._options[module] = self._switches(source, source.loaded or Loaded())
        return self._options[module]

    def _visit(self, source: Source, text: SourceText) -> Visit | None:
        """Return what other modules run of a source, or of a changed text of it."""
        visit = self.visits.get(source.module)
        if visit is None or text is source.source:
            return visit
        return relocated(visit, source.source.for_reading().text, text.for_reading().text)

    def _text(self, module: str) -> ModuleText | None:
        """Return a module as others run it; None if its tree is not loaded."""
        source = self.modules.get(module)
        tree = source.loaded.tree if source is not None and source.loaded is not None else None
        if source is None or not isinstance(tree, bytes):
            return None
        text = source.source.for_reading().text
        return ModuleText(source.file.name, text, source.is_package, tree, self._switches_of(module))

    # ------------------------------------------------------------------ other modules

    def sources_run_by(self, sources: Iterable[Source]) -> Iterable[Source]:
        """Return the sources of the modules whose functions the analysis of `sources` may run."""
        modules = {module for source in sources for module in self._reach(source)}
        return map(self.modules.__getitem__, modules)

    def _reach(self, source: Source) -> tuple[str, ...]:
        if source.loaded is None or source.loaded.interface is None:
            return ()
        return self.index.called_from(source.module, self._modules_held(source))

    def _modules_held(self, source: Source) -> Iterator[str]:
        """Return the modules of the objects that the classes of a file hold, as its callers found."""
        return modules_named(self.visits.get(source.module, NO_VISIT), self.index)

    def note_sinks(self, source: Source, loaded: Loaded) -> None:
        """Note where a new or changed file raises for XLA; what tests do is no part of a program."""
        sinks = loaded.interface.sinks if loaded.interface else ()
        if sinks and not any(part.startswith("test") for part in source.module.split(".")):
            self._sinks[source.module] = sinks
        else:
            self._sinks.pop(source.module, None)

    def exposes(self, source: Source) -> tuple[str, ...]:
        """Return the places that raise once the programs containing the file select XLA."""
        return tuple(
            f"`{sink}` in {name}"
            for name, sinks in sorted(self._sinks.items())
            if source.module in self.index.programs_with(name)
            for sink in sinks
        )

    def _elsewhere(self, source: Source, text: SourceText) -> tuple[str, ...]:
        """Return the habits of other files of its programs; asked of a file that may pad, make tensors of a
        type of CUDA, hold settings for CUDA, or save or load."""
        if not any(word in text.text for word in _ASKS_ELSEWHERE):
            return ()
        others = (self.modules[name] for name in self.index.programs_with(source.module) - {source.module})
        found = {clue for one in others if one.loaded for clue in one.loaded.clues.habits}
        if "torch.save(" in text.text:  # any program of the project may load what this one saves
            found |= self._loads_anywhere()
        if "torch.load(" in text.text:
            found.update(self._saved_beside(source.module))
        return tuple(sorted(found))

    def _saved_beside(self, module: str) -> Iterator[str]:
        """Yield which dictionaries with objects the scripts next to those of a module save: a script that
        shows samples loads what the one that trains the same model has saved."""
        scripts = self._scripts(self.index.importers_of(module))
        folders = {self.modules[name].file.path.parent for name in scripts}
        own = self.index.programs_with(module)
        sharing = frozenset[str]().union(*map(self.index.programs_with, own)) - own
        for script in self._scripts(sharing):
            if self.modules[script].file.path.parent in folders:
                for one in self.index.imported_by(script):
                    loaded = self.modules[one].loaded if one in self.modules else None
                    habits = loaded.clues.habits if loaded is not None else ()
                    yield from (habit for habit in habits if habit.startswith(f"{HABIT}|{KEYS}|"))

    def _scripts(self, modules: Iterable[str]) -> list[str]:
        return [name for name in modules if name in self.modules and self.modules[name].is_script]

    def _loads_anywhere(self) -> frozenset[str]:
        """Return where the modules of the project load files to."""
        if self._loads is None:
            habits = (one.loaded.clues.habits for one in self.modules.values() if one.loaded)
            self._loads = LOADS & frozenset[str]().union(*habits)
        return self._loads

    def _starts_early(self, source: Source) -> bool:
        """Return whether a device may be chosen while a module of a package is imported: only scripts of the
        project import it, and none of their modules starts processes."""
        package = self.folders.top_package(source.file.path)
        if package is None or self.folders.installs(package.parent) or "cuda" not in source.source.text:
            return False
        importers = map(self.modules.get, self.index.importers_of(source.module))
        if not any(one.is_script for one in importers if one is not None):
            return False
        program = [self.modules[name] for name in self.index.programs_with(source.module)]
        return all(one.loaded and "launches" not in one.loaded.clues.habits for one in program)

    # ------------------------------------------------------------------ digests

    def set_visits(self, visits: Mapping[str, Visit]) -> None:
        self.visits = visits
        self._digests.clear()

    def key(self, source: Source, job: AnalyseJob) -> str:
        """Return the cache key of the result of the job."""
        return job.key(source.key, self._seals(source), source.session.digest)

    def digest_of_modules(self, entered: Iterable[str]) -> str:
        """Return the digest of modules whose functions an analysis ran, and of what they import; "" if one
        of them is gone."""
        known = [self._digest(module) for module in entered]
        return digest(*known) if all(known) else ""

    def _digest(self, module: str) -> str:
        if module not in self._digests:
            source = self.modules.get(module)
            parts = (module, source.key, self._seals(source), self._switches_of(module)) if source else ()
            self._digests[module] = digest(*parts) if parts else ""
        return self._digests[module]

    def _seals(self, source: Source) -> str:
        """Return the digest of the interfaces that can change what a module means."""
        if source.loaded is None or source.loaded.interface is None:
            return ""
        interface, needs = source.loaded.interface, (source.file.name, frozenset(self._modules_held(source)))
        before, seals = self.seals.get(needs, (None, ""))
        if before != interface:
            needed = self.index.needed_by(interface, needs[1])
            found = ((module, self.modules[module].loaded) for module in needed)
            seals = digest(sorted((module, loaded.seal) for module, loaded in found if loaded is not None))
            self.seals[needs] = interface, seals
        return seals
