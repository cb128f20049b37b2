"""The run: files in, report out. The only place that knows the order of the stages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from xlamig.config.disk import ASKED
from xlamig.config.load import Resolver
from xlamig.engine.analyse import analyse
from xlamig.engine.around import files_around
from xlamig.engine.beside import asides_of, files_beside
from xlamig.engine.brought import brought_along
from xlamig.engine.cache import Cache, folder_of
from xlamig.engine.cores import usable_cores
from xlamig.engine.device_settings import device_settings
from xlamig.engine.exchange import MAX_ROUNDS, mark_unfinished, visits_by_module
from xlamig.engine.found import files_of
from xlamig.engine.garbage import young_only
from xlamig.engine.gpu_only import gpu_only_files
from xlamig.engine.homes import homes
from xlamig.engine.host_scripts import host_scripts
from xlamig.engine.imported import load_imported
from xlamig.engine.isolation import Lost, Work, run_all
from xlamig.engine.jobs import Analysed, AnalyseJob
from xlamig.engine.load import Loaded
from xlamig.engine.loader import Loader
from xlamig.engine.memory import Memory
from xlamig.engine.options import Options, caught
from xlamig.engine.program import ProgramIndex, once_in_program, own_packages
from xlamig.engine.progress import Progress
from xlamig.engine.reached import states_and_reach
from xlamig.engine.reader import Reader
from xlamig.engine.remembered import Answers
from xlamig.engine.session import look_again
from xlamig.engine.source import Source
from xlamig.engine.surroundings import note_surroundings
from xlamig.engine.unmentioned import NONE_UNREACHED
from xlamig.engine.unread import unread_files
from xlamig.engine.unused_kernels import native_index, unused_kernels
from xlamig.engine.whole_program import WholeProgram
from xlamig.findings import FileReport, Report, RuleError, SkippedFile
from xlamig.flow import ProjectIndex
from xlamig.flow.interp.visits import NO_VISIT, Visit
from xlamig.flow.model.outcomes import States
from xlamig.rulebook import Program
from xlamig.source.files import Discovery, SourceFile
from xlamig.source.kinds import kind_of
from xlamig.source.text import SourceText


@dataclass(slots=True)
class Run:
    """One run. After `report()` its fields are there for the fixer. `memory` and `found` come from an
    earlier run over the same program. With `around`, the rest of the project is analysed too, and not
    reported. Where the paths name files, `imported` are those that they import from: read, not analysed."""

    paths: Sequence[Path]
    options: Options
    memory: Memory | None = None
    found: Discovery | None = None
    around: bool = False
    sources: dict[str, Source] = field(default_factory=dict)
    imported: dict[str, Source] = field(default_factory=dict)
    asked: frozenset[str] = field(default_factory=frozenset)  # the files of the paths
    all_loaded: bool = True  # no process was lost on the way
    program: WholeProgram = field(init=False)
    reports: dict[str, FileReport] = field(default_factory=dict)  # before `once_in_program`
    programs: dict[str, Program] = field(default_factory=dict)  # by file, before any fix
    exposed: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by file, before any fix
    _own_visits: dict[str, Visit] = field(default_factory=dict)  # what each module is found to do alone
    _sees_program: bool = False  # the files around the paths too
    _progress: Progress = field(init=False)

    def __post_init__(self) -> None:
        self._progress = Progress(self.options.progress)

    def discover(self) -> Discovery:
        """Raises UsageError for missing paths and broken configuration."""
        return files_of(self.paths, self.options)

    @young_only()
    def report(self) -> Report:
        look_again()
        ASKED.forget()
        found = self.found = self.found or self.discover()
        self.reports = {
            skipped.filename: FileReport(skipped.filename, skipped=skipped) for skipped in found.skipped
        }
        cache = self._open_cache(found.files)
        try:
            with caught():
                reader = Reader(self.options, self.memory, cache)
                self.sources, unread = reader.read(found.files)
                self.asked = frozenset(self.sources)
                if self.around and (others := self._files_around(found)) is not None:
                    self.sources |= reader.read(others)[0]
                    self._sees_program = True
            self.reports.update((report.filename, report) for report in unread)
            loader = self._loader(cache)
            self.all_loaded = loader.load_all(self.sources.values(), self._processes(), self._progress)
            if not self._complete and self.options.stdin is None:
                known, most = self.sources, self._processes()
                self.imported = load_imported(known, self._resolver(), reader, loader, most)
            self.program = self._whole_program(own_packages(self.paths, found.files), cache)
            self.reports.update(self._analyse(cache))
        finally:
            cache.close()
        settings = found.files[0].settings if found.files else self._resolver().settings_for(Path.cwd())
        survey = self.program.survey
        reports = once_in_program(self.reports, survey.once, survey.scripts)
        return Report(settings.target, self.asked_of(reports))

    def asked_of(self, reports: Sequence[FileReport]) -> tuple[FileReport, ...]:
        """Return the reports on what the paths name."""
        hidden = self.sources.keys() - self.asked
        return tuple(report for report in reports if report.filename not in hidden)

    def _files_around(self, found: Discovery) -> tuple[SourceFile, ...] | None:
        return None if self.options.stdin else files_around(found.files, self._resolver().settings_for)

    # ------------------------------------------------------------------ the program

    def _whole_program(self, own: frozenset[str], cache: Cache) -> WholeProgram:
        sources, memory = self.sources.values(), self.memory
        answers = memory.answers if memory else Answers()
        known = [*sources, *self.imported.values()]
        note_surroundings(known)
        modules = {s.module: s for s in known if s.loaded and s.loaded.interface}
        interfaces = {name: i for name, s in modules.items() if s.loaded and (i := s.loaded.interface)}
        index = memory.index_of(interfaces) if memory else ProjectIndex(interfaces)
        natives = native_index(sources)
        asides = asides_of(sources, index, self.paths)
        brought = brought_along(sources, index, self.paths) if self._complete else frozenset()
        parts = [source for source in sources if source.file.name not in brought]
        beside = files_beside(parts, index, asides, brought)
        states = states_and_reach(parts, index, asides, beside, answers, cache) if self._complete else None
        switches, unreached = states or (None, NONE_UNREACHED)
        beside, off = unused_kernels(sources, index, natives, beside, unreached)
        program = WholeProgram(
            index,
            natives,
            self._survey(index, switches),
            modules,
            homes(sources, memory.homes if memory else {}),
            beside,
            unread_files(sources, answers.unread, importers=not self._complete),
            own,
            {**gpu_only_files(sources, index, beside), **off},
            host_scripts(sources, index, beside) if self._complete else frozenset(),
            switches,
            unreached,
            device_settings(sources),
            seals=memory.seals if memory else {},
        )
        for source in known:
            program.note_sinks(source, source.loaded or Loaded())
        return program

    def _survey(self, index: ProjectIndex, states: States | None) -> ProgramIndex:
        """Which of the names that rules ask about the program uses."""
        unread = [name for name in self.reports.keys() - self.sources.keys() if kind_of(name) is None]
        sessions = {source.session.key: source.session for source in self.sources.values()}
        survey = ProgramIndex(sessions.values(), self._complete and not unread, index, states)
        for name, source in (self.sources | self.imported).items():
            survey.note(name, source.module, source.source.text, source.loaded or Loaded())
        self.programs = {name: survey.program(s.session.key, name) for name, s in self.sources.items()}
        return survey

    # ------------------------------------------------------------------ analysis

    def _analyse(self, cache: Cache) -> Mapping[str, FileReport]:
        """Analyse every file, then again those whose functions are called with what they do not guess."""
        found = self._analyse_files(self.sources, cache)
        waiting = self._exchange_visits(found)
        for _ in range(MAX_ROUNDS - 1):
            if not waiting:
                break
            self._progress.total += len(waiting)
            found.update(self._analyse_files(waiting, cache))
            waiting = self._exchange_visits(found)
        reports = {name: analysed.report for name, analysed in found.items()}
        for name in waiting:  # what the last analysis found out is not followed
            reports[name] = mark_unfinished(reports[name])
        return reports

    def _exchange_visits(self, found: Mapping[str, Analysed]) -> list[str]:
        """Give each file what the others run of it; return the files for which that has changed."""
        before = self.program.visits
        visits = {self.sources[name].module: analysed.visits for name, analysed in found.items()}
        for module, about in visits.items():
            self._own_visits.setdefault(module, about.get(module, NO_VISIT))  # of the first analysis
        after = visits_by_module(visits, self._own_visits)
        self.program.set_visits(after)
        return [
            name
            for name, source in self.sources.items()
            if source.loaded
            and source.loaded.interface
            and after.get(source.module) != before.get(source.module)
        ]

    def _analyse_files(self, names: Iterable[str], cache: Cache) -> dict[str, Analysed]:
        """Return the cached results that still hold, and those of new analyses."""
        program = self.program
        keys: dict[str, str] = {}
        for name in names:
            source = self.sources[name]
            job = program.job(source, source.source, source.loaded or Loaded(), other_modules=False)
            self.exposed[name] = job.exposes
            keys[name] = program.key(source, job)
        known: dict[str, tuple[Analysed, str]] = cache.get_many(keys.values())
        found = {
            name: known[key][0]
            for name, key in keys.items()
            if key in known and known[key][1] == program.digest_of_modules(known[key][0].entered)
        }
        self._progress.advance(len(found))
        missing = [self.sources[name] for name in keys if name not in found]
        self._load_trees(missing, missing, cache)
        jobs = {s.file.name: program.job(s, s.source, s.loaded or Loaded()) for s in missing}
        fresh = self._run_jobs(jobs, cache)
        cache.put_many(
            {
                keys[name]: (analysed, program.digest_of_modules(analysed.entered))
                for name, analysed in fresh.items()
                if analysed.report.skipped is None
            }
        )
        return {**found, **fresh}

    def _load_trees(self, sources: Iterable[Source], callers: Iterable[Source], cache: Cache) -> None:
        """Load the trees of `sources` and of what `callers` run."""
        self._loader(cache).load_trees([*sources, *self.program.sources_run_by(callers)])

    def _loader(self, cache: Cache) -> Loader:
        return Loader(cache, self.memory.parsed) if self.memory else Loader(cache)

    def _run_jobs(self, jobs: Mapping[str, AnalyseJob], cache: Cache) -> dict[str, Analysed]:
        if jobs:
            import_module("xlamig.engine.judging")  # before processes start with a copy of it
        for name in jobs:
            self.sources[name].session.compile(cache)
        results = run_all(Work(analyse), [*jobs.values()], self._processes(), self._progress.advance)
        found: dict[str, Analysed] = {}
        for name, result in zip(jobs, results, strict=True):
            if isinstance(result, Lost):
                errors = (RuleError("XLA099", name, result.reason),) if result.ours else ()
                skipped = SkippedFile(name, result.reason)
                result = Analysed(FileReport(name, skipped=skipped, rule_errors=errors))
            found[name] = result
        return found

    def reports_on(self, names: Collection[str]) -> Mapping[str, FileReport]:
        """Return reports on files alone; they go to the cache, for the run that finds the same program."""
        self._progress.begin(len(names))
        cache = self._open_cache([source.file for source in self.sources.values()])
        try:
            return {name: analysed.report for name, analysed in self._analyse_files(names, cache).items()}
        finally:
            cache.close()

    def again(self, texts: Mapping[str, tuple[SourceText, Loaded]]) -> Mapping[str, FileReport]:
        """Reports on files as they are now, when the program has changed."""
        sources = [self.sources[name] for name in texts]
        same = [source for source in sources if texts[source.file.name][0] is source.source]
        cache = self._open_cache([source.file for source in self.sources.values()])
        try:
            self._load_trees(same, sources, cache)
            now = {**texts, **{s.file.name: (s.source, s.loaded or Loaded()) for s in same}}  # with trees
            jobs = {s.file.name: self.program.job(s, *now[s.file.name]) for s in sources}
            self._progress.begin(len(jobs))
            return {name: analysed.report for name, analysed in self._run_jobs(jobs, cache).items()}
        finally:
            cache.close()

    # ------------------------------------------------------------------ options

    @property
    def _complete(self) -> bool:
        """Return whether the paths are all of the program."""
        if self.options.whole is not None:
            return self.options.whole
        return self._sees_program or (self.options.stdin is None and all(map(Path.is_dir, self.paths)))

    def _processes(self) -> int:
        return self.options.jobs or usable_cores()

    def _resolver(self) -> Resolver:
        return Resolver(self.options.overrides, self.options.config, self.options.isolated)

    def _open_cache(self, files: Sequence[SourceFile]) -> Cache:
        keeps = self.options.cache and files and self.options.stdin is None
        folder = folder_of(files[0].settings) if keeps else None
        if self.memory is None:
            return Cache(folder)
        self.memory.open(folder)
        return self.memory
