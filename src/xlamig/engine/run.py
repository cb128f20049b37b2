"""The run: files in, report out. The only place that knows the order of the stages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

from xlamig.artifacts.native import NativeIndex
from xlamig.config.errors import ConfigError
from xlamig.config.load import Resolver
from xlamig.config.select import reject_unknown
from xlamig.config.settings import Settings
from xlamig.engine.analyse import analyse
from xlamig.engine.beside import files_beside
from xlamig.engine.big_stack import on_deep_stack
from xlamig.engine.cache import Cache, digest, digest_of, folder_of
from xlamig.engine.cores import usable_cores
from xlamig.engine.exchange import MAX_ROUNDS, modules_named, visits_by_module
from xlamig.engine.homes import homes
from xlamig.engine.isolation import Lost, Work, run_all
from xlamig.engine.jobs import Analysed, AnalyseJob
from xlamig.engine.load import Failure, Loaded, LoadJob, imports_any, is_risky, load, module_identity
from xlamig.engine.memory import Memory
from xlamig.engine.options import Options, UsageError, caught
from xlamig.engine.program import ProgramIndex, once_in_program, own_packages
from xlamig.engine.session import Session, look_again, session_for
from xlamig.engine.source import Source
from xlamig.engine.unread import unread_files, unread_in_program
from xlamig.findings import Aside, FileReport, Report, RuleError, SkippedFile
from xlamig.fix.scope import Scope
from xlamig.flow import Interface, ProjectIndex
from xlamig.flow.interp.program import ModuleText
from xlamig.flow.interp.visits import NO_VISIT, Visit, relocated
from xlamig.flow.model.callers import NO_CALLERS
from xlamig.rulebook import Program
from xlamig.source.decode import Undecodable
from xlamig.source.files import Discovery, SourceFile, discover, too_large
from xlamig.source.kinds import kind_of
from xlamig.source.read import read_source
from xlamig.source.text import SourceText


@dataclass(slots=True)
class Run:
    """One run. After `report()` its fields are there for the fixer. `memory` and `found` come from an
    earlier run over the same program."""

    paths: Sequence[Path]
    options: Options
    memory: Memory | None = None
    found: Discovery | None = None
    sources: dict[str, Source] = field(default_factory=dict)
    index: ProjectIndex = field(default_factory=lambda: ProjectIndex({}))
    natives: NativeIndex = field(default_factory=lambda: NativeIndex({}))
    survey: ProgramIndex = field(default_factory=lambda: ProgramIndex((), False, ProjectIndex({})))
    reports: dict[str, FileReport] = field(default_factory=dict)  # before `once_in_program`
    programs: dict[str, Program] = field(default_factory=dict)  # by file
    homes: Mapping[Path, Scope] = field(default_factory=dict)  # of the helper, by file
    sinks: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by module, see flow.device_sinks
    unread: Mapping[str, str] = field(default_factory=dict)  # by module, see unread_files
    exposed: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by file, before any fix
    own: frozenset[str] = frozenset()  # the packages at the top of the paths
    visits: Mapping[str, Visit] = field(default_factory=dict)  # by module
    _by_module: dict[str, Source] = field(default_factory=dict)
    _own: dict[str, Visit] = field(default_factory=dict)  # what each module is found to do alone
    _sealed: dict[str, str] = field(default_factory=dict)  # by module, as long as the visits are the same
    beside: Mapping[str, Aside] = field(default_factory=dict)  # by file, of those beside the program
    _total: int = 0
    _done: int = 0

    def discover(self) -> Discovery:
        """Raises UsageError for missing paths and broken configuration."""
        try:
            resolver = Resolver(self.options.overrides, self.options.config, self.options.isolated)
            if self.options.stdin is not None:
                name, data = self.options.stdin
                path = Path(name).absolute()
                file = SourceFile(path, name, resolver.settings_for(path), len(data))
                return Discovery((file,), (), ())
            found = discover(self.paths, resolver.settings_for)
        except ConfigError as error:
            raise UsageError(str(error)) from None
        if found.missing:
            raise UsageError(f"no such file or folder: {', '.join(found.missing)}")
        return found

    def report(self) -> Report:
        look_again()
        found = self.found = self.found or self.discover()
        self.reports = {
            skipped.filename: FileReport(skipped.filename, skipped=skipped) for skipped in found.skipped
        }
        self.own = own_packages(self.paths, found.files)
        cache = self._open_cache(found.files)
        try:
            with caught():
                unread = self._read(found.files, cache)
            self.reports.update((report.filename, report) for report in unread)
            self._load(cache)
            self.survey = self._survey()
            self.homes = homes(self.sources.values(), self.memory.homes if self.memory else {})
            self.beside = files_beside(self.sources.values())
            self.unread = unread_files(self.sources.values(), importers=not self._complete)
            self.reports.update(self._analyse(cache))
        finally:
            cache.close()
        target = found.files[0].settings.target if found.files else self._default().target
        return Report(target, once_in_program(self.reports, self.survey.once, self.survey.scripts))

    # ------------------------------------------------------------------ stages

    def _read(self, files: Sequence[SourceFile], cache: Cache) -> list[FileReport]:
        """Decode every file; those that are no text give their report at once."""
        unread: list[FileReport] = []
        sessions: dict[int, Session] = {}  # most files share one Settings object
        for file in files:
            session = sessions.get(id(file.settings))
            if session is None:
                session = sessions[id(file.settings)] = self._session(file.settings, cache)
            buffer = self.options.buffers.get(file.path, b"")
            reason = too_large(file.name, len(buffer), file.settings)
            if reason is not None:
                unread.append(FileReport(file.name, skipped=SkippedFile(file.name, reason)))
                continue
            try:
                source = self._text_of(file)
            except FileNotFoundError:
                unread.append(FileReport(file.name, skipped=SkippedFile(file.name, "it has gone")))
            except (Undecodable, OSError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                job = AnalyseJob(
                    SourceText(file.name, "\n"),
                    file.path,
                    "",
                    False,
                    file.settings,
                    None,
                    {},
                    Failure(reason, 1, 1),
                )
                unread.append(analyse(job).report)
            else:
                self.sources[file.name] = Source(file, source, module_identity(file.name), session)
        return unread

    def _text_of(self, file: SourceFile) -> SourceText:
        if self.memory is not None:
            return self.memory.text_of(file, self.options.buffers.get(file.path))
        data = self.options.stdin[1] if self.options.stdin else file.path.read_bytes()
        return read_source(data, file.name)

    def _session(self, settings: Settings, cache: Cache) -> Session:
        session = session_for(settings, cache)
        reject_unknown(self.options.overrides, session.outline.codes)
        for key, selector, hint in session.selection.unknown:
            raise ConfigError(f'{settings.source}: {key}: unknown rule "{selector}"{hint}')
        return session

    def _load(self, cache: Cache) -> None:
        jobs: dict[str, LoadJob] = {}
        matter = self._that_matter()
        for source in self.sources.values():
            kind = source.source.kind
            if kind is not None and kind != "native":
                source.loaded = Loaded()
                continue
            job = _load_job(source, source.file.name in matter)
            source.key = digest_of(job)
            jobs[source.key] = job
        known: dict[str, Loaded] = cache.get_many(jobs)
        missing = [key for key in jobs if key not in known]
        self._total, self._done = len(missing) + len(self.sources), 0
        results = run_all(
            Work(load, is_risky), [jobs[key] for key in missing], self._processes(), self._advance
        )
        fresh: dict[str, Loaded] = {}
        lost: dict[str, Loaded] = {}
        for key, result in zip(missing, results, strict=True):
            if isinstance(result, Lost):
                lost[key] = Loaded(failure=Failure(result.reason, 1, 1))
            else:
                fresh[key] = result
        # What was lost is not kept: another run may have more memory or time.
        cache.put_many({key: replace(loaded, tree=None) for key, loaded in fresh.items()})
        cache.put_many({_tree(key): loaded.tree for key, loaded in fresh.items() if loaded.tree})
        for source in self.sources.values():
            if source.loaded is not None:
                continue
            source.loaded = known.get(source.key) or fresh.get(source.key) or lost[source.key]
        self.natives = NativeIndex(
            {name: s.loaded.native for name, s in self.sources.items() if s.loaded and s.loaded.native},
            [(name, s.source.text) for name, s in self.sources.items() if s.source.kind is None],
        )
        for source in self.sources.values():
            self.note_sinks(source, source.loaded or Loaded())
        self._by_module = {s.module: s for s in self.sources.values() if s.loaded and s.loaded.interface}
        interfaces = {
            name: s.loaded.interface for name, s in self._by_module.items() if s.loaded and s.loaded.interface
        }
        self.index = self.memory.index_of(interfaces) if self.memory else ProjectIndex(interfaces)

    def _that_matter(self) -> frozenset[str]:
        """The files that may give facts, and those that import them: their loops may call what is there."""
        python = [source for source in self.sources.values() if source.source.kind is None]
        found = {s.file.name for s in python if s.is_package or s.session.outline.may_matter(s.source.text)}
        modules = frozenset(s.module.rpartition(".")[2] for s in python if s.file.name in found)
        others = (s for s in python if s.file.name not in found)
        return frozenset(found).union(s.file.name for s in others if imports_any(s.source.text, modules))

    def _survey(self) -> ProgramIndex:
        """Which of the names that rules ask about the program uses."""
        unread = [name for name in self.reports.keys() - self.sources.keys() if kind_of(name) is None]
        sessions = {source.session.key: source.session for source in self.sources.values()}
        survey = ProgramIndex(sessions.values(), self._complete and not unread, self.index)
        for name, source in self.sources.items():
            survey.note(name, source.module, source.source.text, source.loaded or Loaded())
        self.programs = {
            name: survey.program(source.session.key, name) for name, source in self.sources.items()
        }
        return survey

    def _analyse(self, cache: Cache) -> Mapping[str, FileReport]:
        """Analyse every file, then again those whose functions are called with what they do not guess."""
        found = self._round(self.sources, cache)
        waiting = self._told_more(found)
        for _ in range(MAX_ROUNDS - 1):
            if not waiting:
                break
            self._total += len(waiting)
            found.update(self._round(waiting, cache))
            waiting = self._told_more(found)
        reports = {name: analysed.report for name, analysed in found.items()}
        for name in waiting:  # what the last round found out is not followed
            reports[name] = _unfinished(reports[name])
        return reports

    def _told_more(self, found: Mapping[str, Analysed]) -> list[str]:
        """The files whose functions are called otherwise than when they were analysed."""
        before = self.visits
        visits = {self.sources[name].module: analysed.visits for name, analysed in found.items()}
        for module, about in visits.items():
            self._own.setdefault(module, about.get(module, NO_VISIT))  # of the first round
        self.visits = visits_by_module(visits, self._own)
        self._sealed.clear()
        return [
            name
            for name, source in self.sources.items()
            if source.loaded
            and source.loaded.interface
            and self.visits.get(source.module) != before.get(source.module)
        ]

    def _round(self, names: Iterable[str], cache: Cache) -> dict[str, Analysed]:
        jobs: dict[str, AnalyseJob] = {}
        keys: dict[str, str] = {}
        for name in names:
            source = self.sources[name]
            jobs[name] = job = self.job(source, source.source, source.loaded or Loaded())
            self.exposed[name] = job.exposes
            seals = self._seals(source)
            keys[name] = job.key(source.key, seals, source.session.digest)
        known: dict[str, tuple[Analysed, str]] = cache.get_many(keys.values())
        reports = {
            name: known[key][0]
            for name, key in keys.items()
            if key in known and known[key][1] == self._seal(known[key][0].entered)
        }
        self._advance(len(reports))
        missing = [name for name in jobs if name not in reports]
        jobs.update(self._with_trees(missing, cache))
        fresh = self._run_jobs({name: jobs[name] for name in missing}, cache)
        cache.put_many(
            {
                keys[name]: (made, self._seal(made.entered))
                for name, made in fresh.items()
                if made.report.skipped is None
            }
        )
        return {**reports, **fresh}

    def _seal(self, entered: Iterable[str]) -> str:
        """The digest of modules whose functions an analysis ran, and of what they import."""
        known = [self._seal_of(module) for module in entered]
        return digest(*known) if all(known) else ""

    def _seal_of(self, module: str) -> str:
        """The digest of one module and of what it imports, "" for one that is gone."""
        if module not in self._sealed:
            source = self._by_module.get(module)
            parts = (module, source.key, sorted(self._seals(source).items())) if source else ()
            self._sealed[module] = digest(*parts) if parts else ""
        return self._sealed[module]

    def _run_jobs(self, jobs: Mapping[str, AnalyseJob], cache: Cache) -> dict[str, Analysed]:
        if jobs:
            import_module("xlamig.engine.judging")  # before processes start with a copy of it
        for name in jobs:
            self.sources[name].session.compile(cache)
        results = run_all(Work(analyse, _never), list(jobs.values()), self._processes(), self._advance)
        found: dict[str, Analysed] = {}
        for name, result in zip(jobs, results, strict=True):
            if isinstance(result, Lost):
                errors = (RuleError("XLA099", name, result.reason),) if result.ours else ()
                skipped = SkippedFile(name, result.reason)
                result = Analysed(FileReport(name, skipped=skipped, rule_errors=errors))
            found[name] = result
        return found

    def again(self, texts: Mapping[str, tuple[SourceText, Loaded]]) -> Mapping[str, FileReport]:
        """Reports on files as they are now, when the program has changed."""
        jobs = {name: self.job(self.sources[name], *text) for name, text in texts.items()}
        same = [name for name, (text, _) in texts.items() if text is self.sources[name].source]
        reach = {module for name in texts for module in self._reach(self.sources[name])}
        cache = self._open_cache([source.file for source in self.sources.values()])
        try:
            self._read_trees([*map(self.sources.__getitem__, same), *self._named(reach)], cache)
            jobs = {name: self.job(self.sources[name], *text) for name, text in texts.items()}
            self._total, self._done = len(jobs), 0
            return {name: made.report for name, made in self._run_jobs(jobs, cache).items()}
        finally:
            cache.close()

    def _with_trees(self, names: Sequence[str], cache: Cache) -> Mapping[str, AnalyseJob]:
        """The jobs of known modules whose report is to be made again, with their trees."""
        sources = [self.sources[name] for name in names]
        reach = {module for source in sources for module in self._reach(source)}
        if not self._read_trees([*sources, *self._named(reach)], cache):
            return {}
        return {s.file.name: self.job(s, s.source, s.loaded or Loaded()) for s in sources}

    def _read_trees(self, sources: Iterable[Source], cache: Cache) -> bool:
        """Read trees that are not at hand; return whether there were any."""
        bare = [s for s in sources if s.loaded and s.loaded.interface and s.loaded.tree is None]
        trees = cache.get_many(_tree(source.key) for source in bare)
        for source in bare:
            tree = trees.get(_tree(source.key)) or on_deep_stack(load, _load_job(source, needed=True)).tree
            source.loaded = replace(source.loaded or Loaded(), tree=tree)
        return bool(bare)

    def _named(self, modules: Iterable[str]) -> Iterable[Source]:
        return map(self._by_module.__getitem__, modules)

    def _reach(self, source: Source) -> tuple[str, ...]:
        """The modules whose functions the analysis of a file may run."""
        if source.loaded is None or source.loaded.interface is None:
            return ()
        return self.index.called_from(source.module, self._modules_held(source))

    def _modules_held(self, source: Source) -> Iterator[str]:
        """The modules of the objects that the classes of a file hold, as its callers found."""
        return modules_named(self.visits.get(source.module, NO_VISIT), self.index)

    def _seals(self, source: Source) -> Mapping[str, str]:
        """The digests of the interfaces that can change what a module means, by module."""
        if source.loaded is None or source.loaded.interface is None:
            return {}
        needed = self.index.needed_by(source.loaded.interface, self._modules_held(source))
        found = ((module, self._by_module[module].loaded) for module in needed)
        return {module: loaded.seal for module, loaded in found if loaded is not None}

    def job(self, source: Source, text: SourceText, loaded: Loaded) -> AnalyseJob:
        """The second stage's job for a source, or for a changed text of it."""
        needed: Mapping[str, Interface] = {}
        texts: dict[str, ModuleText] = {}
        if loaded.interface:
            reach = self._reach(source)
            needed = self.index.needed_by(loaded.interface, reach)
            texts = {module: there for module in reach if (there := self._text(module)) is not None}
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
            self.survey.program(source.session.key, source.file.name),
            self.index.callers.get(source.module, NO_CALLERS),
            (loaded.native, self.natives.links(source.file.name)) if loaded.native else None,
            self.own & source.session.outline.packages,
            texts,
            self._visit(source, text),
            self.exposes(source),
            self.beside.get(source.file.name),
            unread_in_program(self.unread, self.index.programs_with(source.module)) if self.unread else "",
        )

    def _visit(self, source: Source, text: SourceText) -> Visit | None:
        """Return what other modules run of a source, or of a changed text of it."""
        visit = self.visits.get(source.module)
        if visit is None or text is source.source:
            return visit
        return relocated(visit, source.source.for_reading().text, text.for_reading().text)

    def _text(self, module: str) -> ModuleText | None:
        """A module as others run it; None if its tree is not at hand."""
        source = self._by_module.get(module)
        if source is None or source.loaded is None or source.loaded.tree is None:
            return None
        text = source.source.for_reading().text
        return ModuleText(source.file.name, text, source.is_package, source.loaded.tree)

    def note_sinks(self, source: Source, loaded: Loaded) -> None:
        """A file, new or changed; what tests do is no part of a program."""
        parts = source.module.split(".")
        sinks = loaded.interface.sinks if loaded.interface else ()
        if sinks and not any(part.startswith("test") for part in parts):
            self.sinks[source.module] = sinks
        else:
            self.sinks.pop(source.module, None)

    def exposes(self, source: Source) -> tuple[str, ...]:
        """Return the places that raise once the programs containing the file select XLA."""
        return tuple(
            f"`{sink}` in {name}"
            for name, sinks in sorted(self.sinks.items())
            if source.module in self.index.programs_with(name)
            for sink in sinks
        )

    # ------------------------------------------------------------------ helpers

    @property
    def _complete(self) -> bool:
        """Return whether the paths are all of the program."""
        if self.options.whole is not None:
            return self.options.whole
        return self.options.stdin is None and all(path.is_dir() for path in self.paths)

    def _processes(self) -> int:
        return self.options.jobs or usable_cores()

    def _advance(self, count: int) -> None:
        self._done += count
        if self.options.progress is not None and count:
            self.options.progress(self._done, self._total)

    def _default(self) -> Settings:
        return Resolver(self.options.overrides, self.options.config, self.options.isolated).settings_for(
            Path.cwd()
        )

    def _open_cache(self, files: Sequence[SourceFile]) -> Cache:
        folder = self._cache_folder(files)
        if self.memory is None:
            return Cache(folder)
        self.memory.open(folder)
        return self.memory

    def _cache_folder(self, files: Sequence[SourceFile]) -> Path | None:
        if not self.options.cache or not files or self.options.stdin is not None:
            return None
        return folder_of(files[0].settings)


def _unfinished(report: FileReport) -> FileReport:
    """The report, saying that calls from other files were not followed to the end."""
    return replace(report, unfollowed=(*report.unfollowed, "calls from other files"))


def _tree(key: str) -> str:
    """Trees are kept apart from what importers need: an unchanged run never reads one."""
    return f"{key}/tree"


def _load_job(source: Source, needed: bool) -> LoadJob:
    return LoadJob(source.source.text, source.module, source.is_package, needed, source.source.kind)


def _never(job: AnalyseJob) -> bool:
    return False
