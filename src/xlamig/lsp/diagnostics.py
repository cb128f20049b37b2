"""Findings as diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path

from xlamig.findings import Finding, Severity
from xlamig.lsp.positions import Encoding, to_range
from xlamig.source.text import SourceText

SOURCE = "xlamig"
_SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


@dataclass(frozen=True, slots=True)
class View:
    """How the client is shown the files of a folder. `cell_uri` gives the document of a notebook's
    cell by file name and number; None where the notebook is not open."""

    root: Path
    text_of: Callable[[str], SourceText | None]
    cell_uri: Callable[[str, int], str | None]
    encoding: Encoding

    def uri(self, filename: str, cell: int | None = None) -> str:
        """The document that shows a file, or the cell of a notebook that is open."""
        shown = self.cell_uri(filename, cell) if cell is not None else None
        return shown or from_fs_path(str(self.root / filename)) or ""

    def range(self, finding: Finding) -> types.Range:
        text = self.text_of(finding.filename)
        if text is None:
            row, column = finding.place.location.row - 1, finding.place.location.column - 1
            return types.Range(types.Position(row, column), types.Position(row, column))
        return to_range(finding.place, text, self.encoding)


def diagnostic(finding: Finding, view: View) -> types.Diagnostic:
    message = f"{finding.message}\n{finding.help}" if finding.help else finding.message
    return types.Diagnostic(
        range=view.range(finding),
        message=message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(finding.url),
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if finding.mechanism == "no-op" else None,
        related_information=list(_related_information(finding, view)) or None,
        data={"fingerprint": finding.fingerprint},
    )


def _related_information(finding: Finding, view: View) -> Iterator[types.DiagnosticRelatedInformation]:
    """The reasons, each at its place; one that has none stands at the finding itself."""
    for reason in finding.reasons:
        text = view.text_of(reason.filename)
        if reason.place is None or text is None:
            location = types.Location(view.uri(finding.filename, finding.cell), view.range(finding))
        else:
            uri = view.uri(reason.filename, text.cell_at(min(reason.place.start, len(text.text))))
            location = types.Location(uri, to_range(reason.place, text, view.encoding))
        yield types.DiagnosticRelatedInformation(location, reason.message)
