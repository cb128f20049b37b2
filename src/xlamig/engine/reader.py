"""Reading the files of a run: bytes in, decoded sources or reports on unreadable files out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xlamig.config.errors import ConfigError
from xlamig.config.select import reject_unknown
from xlamig.config.settings import Settings
from xlamig.engine.analyse import analyse
from xlamig.engine.cache import Cache
from xlamig.engine.jobs import AnalyseJob
from xlamig.engine.load import Failure, module_identity
from xlamig.engine.memory import Memory
from xlamig.engine.options import Options
from xlamig.engine.session import Session, session_for
from xlamig.engine.source import Source
from xlamig.findings import FileReport, SkippedFile
from xlamig.source.decode import Undecodable
from xlamig.source.files import SourceFile, too_large
from xlamig.source.read import read_source
from xlamig.source.text import SourceText


@dataclass(slots=True)
class Reader:
    """Reads files from their buffers, the memory or the disk, and opens one session per configuration."""

    options: Options
    memory: Memory | None
    cache: Cache
    _sessions: dict[int, Session] = field(default_factory=dict)  # most files share one Settings object

    def read(self, files: Iterable[SourceFile]) -> tuple[dict[str, Source], list[FileReport]]:
        """Return the sources by file name, and a report on each file that could not be read.

        Raises:
            ConfigError: for a selector that names no rule.
        """
        sources: dict[str, Source] = {}
        unread: list[FileReport] = []
        for file in files:
            session = self._session(file.settings)
            found = self._text_or_report(file)
            if isinstance(found, FileReport):
                unread.append(found)
            else:
                sources[file.name] = Source(file, found, module_identity(file.name), session)
        return sources, unread

    def _session(self, settings: Settings) -> Session:
        known = self._sessions.get(id(settings))
        if known is not None:
            return known
        session = self._sessions[id(settings)] = session_for(settings, self.cache)
        reject_unknown(self.options.overrides, session.outline.codes)
        for key, selector, hint in session.selection.unknown:
            raise ConfigError(f'{settings.source}: {key}: unknown rule "{selector}"{hint}')
        return session

    def _text_or_report(self, file: SourceFile) -> SourceText | FileReport:
        buffer = self.options.buffers.get(file.path, b"")
        reason = too_large(file.name, len(buffer), file.settings)
        if reason is not None:
            return FileReport(file.name, skipped=SkippedFile(file.name, reason))
        try:
            return self._text(file)
        except FileNotFoundError:
            return FileReport(file.name, skipped=SkippedFile(file.name, "it has gone"))
        except (Undecodable, OSError) as error:
            failure = Failure(getattr(error, "strerror", None) or str(error), 1, 1)
            empty = SourceText(file.name, "\n")
            return analyse(AnalyseJob(empty, file.path, "", False, file.settings, None, {}, failure)).report

    def _text(self, file: SourceFile) -> SourceText:
        if self.memory is not None:
            return self.memory.text_of(file, self.options.buffers.get(file.path))
        data = self.options.stdin[1] if self.options.stdin else file.path.read_bytes()
        return read_source(data, file.name)
