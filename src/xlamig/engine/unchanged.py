"""The report of a run, kept for the next: where nothing has changed, nothing is parsed or looked up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from xlamig.config.book import stamp
from xlamig.config.disk import ASKED, Surroundings
from xlamig.config.errors import ConfigError
from xlamig.engine.cache import Cache, digest, folder_of
from xlamig.engine.found import files_of
from xlamig.engine.options import Options
from xlamig.findings import Report
from xlamig.source.files import Discovery


@dataclass(frozen=True, slots=True)
class LastRun:
    """The last run with these paths and options. Its report holds as long as `content` is the same, a digest
    of all texts, settings and rules, and what it asked about the folders around the files."""

    name: str
    content: str
    found: Discovery
    folder: Path

    def report(self) -> Report | None:
        """Return the report of the last run; None if something has changed."""
        cache = Cache(self.folder)
        try:
            known: tuple[str, Surroundings] | None = cache.get_many([self.name]).get(self.name)
            if known is None or known[0] != self.content or not known[1].still_hold():
                return None
            key = self._report_key
            report: Report | None = cache.get_many([key]).get(key)
            return report
        finally:
            cache.close()

    def keep(self, report: Report) -> None:
        """Keep the report of a run over the same files, unless it may be another next time."""
        skipped = {each.filename for each in self.found.skipped}
        unsure = any(f.rule_errors or (f.skipped and f.filename not in skipped) for f in report.files)
        content = None if unsure else _content(self.found)
        if content != self.content:  # edited meanwhile
            return
        cache = Cache(self.folder)
        cache.put_many({self._report_key: report, self.name: (self.content, ASKED.surroundings())})
        cache.close()

    @property
    def _report_key(self) -> str:
        return f"{self.name}/report"


def last_run(paths: Sequence[Path], options: Options) -> LastRun | None:
    """Return the last run; None where reports are not kept, as for files whose importers are unknown.

    Raises:
        UsageError: for missing paths and broken configuration.
    """
    if not options.cache or options.stdin is not None or options.buffers or options.whole is False:
        return None
    if options.whole is None and not all(path.is_dir() for path in paths):
        return None
    found = files_of(paths, options)
    folder = folder_of(found.files[0].settings) if found.files else None
    content = _content(found) if folder is not None else None
    if folder is None or content is None:
        return None
    asked = (options.overrides, options.config, options.isolated, options.whole)
    return LastRun(digest("run", Path.cwd(), list(map(str, paths)), asked), content, found, folder)


def _content(found: Discovery) -> str | None:
    try:
        return digest(*_parts(found))
    except (OSError, ConfigError):  # the run says what is wrong
        return None


def _parts(found: Discovery) -> Iterator[object]:
    settings = {id(file.settings): file.settings for file in found.files}
    numbers = {key: number for number, key in enumerate(settings)}
    yield found.skipped
    for each in settings.values():
        yield each
        yield stamp(each)
    for file in found.files:
        yield file.name
        yield numbers[id(file.settings)]
        yield file.path.read_bytes()
