"""A file of known findings, so that a check of a large repository tells what is new.

An entry is on a line of its own, without line numbers, so that it outlives edits elsewhere and
merges well.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from xlamig.engine.options import UsageError
from xlamig.findings import CONFIDENCES, SEVERITIES, Confidence, Finding, Report, Severity
from xlamig.fix.write import WriteError, write_files

VERSION = 1
NEVER = ("XLA091", "XLA099")  # entries of this file, and crashes


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """`filename` is relative to the baseline's folder; `message` is for people."""

    filename: str
    target: str
    code: str
    fingerprint: str
    severity: Severity
    confidence: Confidence
    message: str


@dataclass(frozen=True, slots=True)
class Known:
    """`findings` by identity that entries account for, and the entries that were used."""

    findings: frozenset[int]
    used: Counter[Entry]


@dataclass(frozen=True, slots=True)
class Baseline:
    path: Path
    text: str = ""
    entries: tuple[Entry, ...] = ()

    @staticmethod
    def read(path: Path) -> Baseline:
        """Raises UsageError when it is not there or no baseline."""
        try:
            text = path.read_text(encoding="utf-8")
            found = json.loads(text)
            if found["version"] != VERSION:
                raise UsageError(f"{path} is a baseline of a different version of xlamig; write it again")
            entries = tuple(Entry(**entry) for entry in found["entries"])
            if not all(map(_is_sound, entries)):
                raise ValueError
            return Baseline(path, text, entries)
        except FileNotFoundError:
            raise UsageError(f"no baseline {path}; --update-baseline writes it") from None
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"{path} is no baseline") from None

    def known(self, report: Report) -> Known:
        """A finding is known by file, code and fingerprint; when its file was moved, by the others."""
        left: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
        for entry in self.entries:
            left[entry.filename, entry.target, entry.code, entry.fingerprint].append(entry)
            if not (self.path.parent / entry.filename).exists():
                left[entry.target, entry.code, entry.fingerprint].append(entry)
        used: Counter[Entry] = Counter()
        free = Counter(self.entries)
        findings: set[int] = set()
        keys: Sequence[Callable[[Finding], tuple[str, ...]]] = (
            lambda f: (self.name(f.filename), f.target, f.code, f.fingerprint),
            lambda f: (f.target, f.code, f.fingerprint),
        )
        for key in keys:
            for finding in report.findings:
                if id(finding) in findings:
                    continue
                match = next((e for e in left.get(key(finding), ()) if used[e] < free[e]), None)
                if match is not None:
                    used[match] += 1
                    findings.add(id(finding))
        return Known(frozenset(findings), used)

    def name(self, filename: str) -> str:
        """A file's name as entries have it."""
        return Path(os.path.relpath(Path(filename).absolute(), self.path.parent.absolute())).as_posix()

    def update(self, report: Report, is_stale: Callable[[Entry], bool]) -> Baseline:
        """With all findings of the report, without the entries that it has outdated."""
        used = self.known(report).used
        kept = [entry for entry in self.entries if not used[entry] and not is_stale(entry)]
        new = [
            _entry(self.name(finding.filename), finding)
            for finding in report.findings
            if not finding.code.startswith(NEVER)
        ]
        entries = tuple(sorted([*kept, *new]))
        lines = ",\n".join(f"    {json.dumps(asdict(entry), ensure_ascii=False)}" for entry in entries)
        listed = f"[\n{lines}\n  ]" if entries else "[]"
        return Baseline(self.path, f'{{\n  "version": {VERSION},\n  "entries": {listed}\n}}\n', entries)

    def write(self) -> None:
        try:
            write_files({self.path: self.text.encode("utf-8")})
        except WriteError as error:
            raise UsageError(str(error)) from None


def _is_sound(entry: Entry) -> bool:
    texts = all(isinstance(value, str) for value in asdict(entry).values())
    return texts and entry.severity in SEVERITIES and entry.confidence in CONFIDENCES


def _entry(filename: str, finding: Finding) -> Entry:
    return Entry(
        filename,
        finding.target,
        finding.code,
        finding.fingerprint,
        finding.severity,
        finding.confidence,
        finding.message,
    )
