"""A scan of many repositories: what is to be done, who does it, and what is missing at the end."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from xlamig import __version__
from xlamig.config.paths import absolute
from xlamig.effort.model import MODEL_VERSION
from xlamig.engine import Options, show_settings
from xlamig.fleet import log, store
from xlamig.fleet.engines import Engine
from xlamig.fleet.job import FAILED, NO_LIMITS, Job, Limits, Outcome, Source
from xlamig.fleet.schema import SCHEMA_VERSION
from xlamig.rulebook.load import read_book


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of `xlamig fleet scan`. `rescan`: also what has not changed."""

    sources: Sequence[Source]
    out: Path
    date: str
    options: Options
    limits: Limits = NO_LIMITS
    rescan: bool = False


@dataclass(slots=True)
class Done:
    """The outcomes by repository; those that are not there are `missing`. `trouble` is why the scan ended
    early, "" if it did not."""

    sources: Sequence[Source]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    trouble: str = ""

    @property
    def missing(self) -> list[str]:
        return [source.name for source in self.sources if source.name not in self.outcomes]

    @property
    def failed(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes.values() if outcome.status in FAILED]

    def count(self, status: str) -> int:
        return sum(outcome.status == status for outcome in self.outcomes.values())


def run(asked: Asked, engine: Engine, tell: Callable[[Done, Outcome], None]) -> Done:
    """Scan what is new or has changed. `tell` is called after each repository.

    Raises:
        UsageError: the settings or the rules are broken, or another scan writes to the same folder.
    """
    done = Done(asked.sources)
    jobs = _jobs(asked)
    with store.open_store(asked.out):
        try:
            log.begin(asked.out, asked.date, [source.name for source in asked.sources])
            _run(jobs, engine, done, tell)
            log.end(asked.out, asked.date, done.outcomes)
        except OSError as error:
            if not store.is_full(error):
                raise
            done.trouble = f"{error.filename or asked.out}: {error.strerror}"
        except KeyboardInterrupt:
            done.trouble = "interrupted"
    return done


def _run(jobs: Sequence[Job], engine: Engine, done: Done, tell: Callable[[Done, Outcome], None]) -> None:
    with closing(engine(jobs)) as results:
        for job, outcome in results:
            if outcome.status == "disk":  # what follows could not be stored either
                done.trouble = outcome.error
                return
            done.outcomes[job.source.name] = outcome
            tell(done, outcome)


def _jobs(asked: Asked) -> list[Job]:
    settings = digest_of(asked.options)
    found = {} if asked.rescan else store.latest_results(asked.out, [source.name for source in asked.sources])
    options = asked.options
    overrides = {**options.overrides, "cache-dir": _cache_folder(options).as_posix()}
    return [
        Job(
            source=source,
            out=asked.out,
            date=asked.date,
            settings=settings,
            limits=asked.limits,
            known=found.get(source.name),
            overrides=overrides,
            config=absolute(options.config) if options.config else None,
            isolated=options.isolated,
            cache=options.cache,
        )
        for source in asked.sources
    ]


def digest_of(options: Options) -> str:
    """Return a digest of what results depend on besides the repositories: versions, settings, rules."""
    same = replace(options, isolated=options.config is None)
    settings = show_settings(Path(), same)
    given = _without_cache(options.overrides)
    config = options.config.read_text(encoding="utf-8") if options.config else ""
    parts = (
        __version__, MODEL_VERSION, SCHEMA_VERSION, sorted(given.items()), config, options.isolated,
        read_book(settings).digest,
    )  # fmt: skip
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _cache_folder(options: Options) -> Path:
    """The one asked for, or the user's: a scanned folder gets no cache of ours."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    return absolute(str(options.overrides.get("cache-dir") or base / "xlamig" / "fleet"))


def _without_cache(overrides: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in overrides.items() if key != "cache-dir"}
