"""Which rules a file is judged by, and which findings a report shows."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable

from xlamig.config.settings import Settings
from xlamig.findings import CONFIDENCES, SEVERITIES, Finding
from xlamig.rulebook.judgement import Judgement


def codes_for(
    filename: str,
    codes: Iterable[str],
    enabled: Container[str],
    ignored_for: Callable[[str, str], bool],
) -> frozenset[str]:
    """The rules to evaluate in a file. `ignored_for` takes a file name and a code."""
    return frozenset(code for code in codes if code in enabled and not ignored_for(filename, code))


def is_shown(finding: Finding, settings: Settings) -> bool:
    """Return whether the finding is serious and sure enough for the settings."""
    return _is_serious(finding, settings) and _is_sure(finding, settings)


def is_unsure(finding: Finding, settings: Settings) -> bool:
    """Return whether it is left out only because it is not sure enough."""
    return _is_serious(finding, settings) and not _is_sure(finding, settings)


def _is_serious(finding: Finding, settings: Settings) -> bool:
    return SEVERITIES.index(finding.severity) <= SEVERITIES.index(settings.severity)


def _is_sure(finding: Finding, settings: Settings) -> bool:
    return CONFIDENCES.index(finding.confidence) <= CONFIDENCES.index(settings.confidence)


def keep(
    judgements: Iterable[Judgement],
    settings: Settings,
    enabled: Container[str],
    ignored_for: Callable[[str, str], bool],
) -> tuple[Judgement, ...]:
    """The judgements that a report shows."""
    return tuple(
        judgement
        for judgement in judgements
        if judgement.finding.code in enabled
        and not ignored_for(judgement.finding.filename, judgement.finding.code)
        and is_shown(judgement.finding, settings)
    )
