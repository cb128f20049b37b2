"""The ruling of a verdict or table row: severity, mechanism and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from xlamig.findings import CONFIDENCES, SEVERITIES, Confidence, Level, Mechanism, Severity
from xlamig.rulebook.keys import Keys
from xlamig.rulebook.templates import Template

LEVELS: tuple[Level, ...] = get_args(Level)
MECHANISMS: tuple[Mechanism, ...] = get_args(Mechanism)


@dataclass(frozen=True, slots=True)
class Ruling:
    """None: not said here."""

    severity: Severity | None = None
    mechanism: Mechanism | None = None
    message: Template | None = None
    help: Template | None = None
    reason: Template | None = None
    effort: Level | None = None
    confidence: Confidence | None = None
    measured: bool = True
    preview: bool = False
    no_action: bool = False  # the reader has nothing to change
    supersedes: tuple[str, ...] = ()
    ignores_guards: bool = False  # it holds because a guard keeps the target out

    def over(self, other: Ruling) -> Ruling:
        """Return this ruling, completed by `other`; doubts of either stay."""
        return Ruling(
            self.severity or other.severity,
            self.mechanism or other.mechanism,
            self.message or other.message,
            self.help or other.help,
            self.reason or other.reason,
            self.effort or other.effort,
            self.confidence or other.confidence,
            self.measured and other.measured,
            self.preview or other.preview,
            self.no_action or other.no_action,
            (*self.supersedes, *other.supersedes),
            self.ignores_guards or other.ignores_guards,
        )


RULING_KEYS = (
    "severity", "mechanism", "message", "help", "reason", "effort", "confidence", "measured", "status",
    "no-action", "supersedes", "ignore-guards",
)  # fmt: skip


def read_ruling(keys: Keys) -> Ruling:
    return Ruling(
        severity=keys.choice("severity", SEVERITIES),
        mechanism=keys.choice("mechanism", MECHANISMS),
        message=read_template(keys, "message"),
        help=read_template(keys, "help"),
        reason=read_template(keys, "reason"),
        effort=keys.choice("effort", LEVELS),
        confidence=keys.choice("confidence", CONFIDENCES),
        measured=keys.flag("measured", True),
        preview=keys.choice("status", ("stable", "preview")) == "preview",
        no_action=keys.flag("no-action", False),
        supersedes=keys.texts("supersedes"),
        ignores_guards=keys.flag("ignore-guards", False),
    )


def read_template(keys: Keys, key: str) -> Template | None:
    text = keys.text(key)
    return None if text is None else Template(text, keys.where.at(key))
