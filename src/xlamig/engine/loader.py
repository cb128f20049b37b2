"""The first stage for all files of a run, from the cache where nothing has changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from xlamig.engine.big_stack import on_deep_stack
from xlamig.engine.cache import Cache
from xlamig.engine.clues import clues_of
from xlamig.engine.isolation import Lost, Work, run_all
from xlamig.engine.load import Failure, Loaded, LoadJob, Parsed, imports_any, is_risky, load
from xlamig.engine.progress import Progress
from xlamig.engine.source import Source
from xlamig.flow.model.pieces import Pieces
from xlamig.source.text import SourceText

_MOST_PARSED = 32  # as many as people and editors change at a time


@dataclass(frozen=True, slots=True)
class Loader:
    """Loads sources, with their results kept in the cache. Trees are kept apart from what importers need:
    an unchanged run never reads one. `parsed` are the files loaded last, by path."""

    cache: Cache
    parsed: MutableMapping[Path, Parsed] = field(default_factory=dict)

    def load_all(
        self, sources: Collection[Source], processes: int, progress: Progress, all_matter: bool = False
    ) -> bool:
        """Set `loaded` of every source; its tree stays None where the result comes from the cache. With
        `all_matter` none is read for its syntax only. Return whether no process was lost on the way."""
        jobs: dict[str, LoadJob] = {}
        matter = {s.file.name for s in sources} if all_matter else _files_that_matter(sources)
        for source in sources:
            if source.source.kind not in (None, "native"):
                source.loaded = Loaded()
                continue
            job = job_of(source, source.file.name in matter, self.parsed.get(source.file.path))
            source.key = job.key()
            jobs[source.key] = job
        loaded: dict[str, Loaded] = self.cache.get_many(jobs)
        missing = [key for key in jobs if key not in loaded]
        progress.begin(len(missing) + len(sources))
        work = Work(load, is_risky)
        results = run_all(work, [jobs[key] for key in missing], processes, progress.advance)
        for key, result in zip(missing, results, strict=True):
            loaded[key] = _loaded_as_lost(jobs[key], result) if isinstance(result, Lost) else result
        # What was lost is not kept: another run may have more memory or time.
        self._keep({k: r for k, r in zip(missing, results, strict=True) if not isinstance(r, Lost)})
        for source in sources:
            source.loaded = source.loaded or loaded[source.key]
            self._remember(source)
        return not any(isinstance(result, Lost) for result in results)

    def _remember(self, source: Source) -> None:
        tree = source.loaded.tree if source.loaded else None
        if not isinstance(tree, bytes) or (source.loaded and source.loaded.failure):
            return
        before = self.parsed.pop(source.file.path, None)
        pieces = before.pieces if before is not None else Pieces()
        self.parsed[source.file.path] = Parsed(source.source.text, tree, pieces)
        if len(self.parsed) > _MOST_PARSED:
            del self.parsed[next(iter(self.parsed))]

    def _keep(self, fresh: dict[str, Loaded]) -> None:
        self.cache.put_many(entries_of(fresh))

    def load_trees(self, sources: Iterable[Source]) -> None:
        """Set the trees that are missing."""
        bare = [s for s in sources if s.loaded and s.loaded.interface and s.loaded.tree is None]
        trees = self.cache.get_many(_tree_key(source.key) for source in bare)
        for source in bare:
            tree = trees.get(_tree_key(source.key)) or on_deep_stack(load, job_of(source, needed=True)).tree
            source.loaded = replace(source.loaded or Loaded(), tree=tree)


def entries_of(fresh: Mapping[str, Loaded]) -> dict[str, object]:
    """Return the entries of a cache for what is loaded, by the keys of the jobs."""
    found: dict[str, object] = {key: replace(loaded, tree=None) for key, loaded in fresh.items()}
    return found | {_tree_key(key): loaded.tree for key, loaded in fresh.items() if loaded.tree}


def _files_that_matter(sources: Iterable[Source]) -> frozenset[str]:
    """The files that may give facts, and those that import them: their loops may call what is there."""
    python = [source for source in sources if source.source.kind is None]
    found = {s.file.name for s in python if s.is_package or s.session.outline.may_matter(s.source.text)}
    modules = frozenset(s.module.rpartition(".")[2] for s in python if s.file.name in found)
    others = (s for s in python if s.file.name not in found)
    return frozenset(found).union(s.file.name for s in others if imports_any(s.source.text, modules))


def job_of(source: Source, needed: bool, before: Parsed | None = None) -> LoadJob:
    return LoadJob(source.source.text, source.module, source.is_package, needed, source.source.kind, before)


def load_text(source: Source, text: SourceText) -> tuple[str, Loaded]:
    """Return the key and the result of loading a file with a text, which may be the one that it has."""
    job = LoadJob(text.text, source.module, source.is_package, True, text.kind)
    same = source.loaded if text.text == source.source.text else None
    return job.key(), same if same is not None and same.tree is not None else load(job)


def _loaded_as_lost(job: LoadJob, lost: Lost) -> Loaded:
    return Loaded(failure=Failure(lost.reason, 1, 1), clues=clues_of(job.text))


def _tree_key(key: str) -> str:
    return f"{key}/tree"
