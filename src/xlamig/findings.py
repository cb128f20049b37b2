"""The result of a run: findings with their reasons, fixes and effort, in the shape every report uses.

Offsets are code points in the decoded text of a file, `end` exclusive; rows and columns are
1-based, columns in code points. File names are relative to the working directory, with "/".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning", "info"]
Confidence = Literal["certain", "likely", "possible"]
Frequency = Literal["once", "epoch", "interval", "step", "unknown"]
Mechanism = Literal[
    "error", "wrong-result", "recompile", "host-sync", "cpu-fallback", "slow", "api-surface", "no-op"
]
Applicability = Literal["safe", "unsafe", "display"]
Level = Literal["info", "trivial", "simple", "complex", "redesign", "rearchitect", "unknown"]
Unit = Literal["site", "function", "file", "repo", "dependency"]
Phase = Literal["run", "correct", "scale", "fast"]

Aside = Literal["tests", "converters", "unused", "no-action", "job"]
"""Why a finding is counted and not shown: it is in a test or benchmark, in a script that only converts
checkpoints, in a file that the program does not use, or asks for no change. "job": another finding of the
same job names its place."""

UNPARSABLE = "XLA000"
ABOUT_THE_RUN = (UNPARSABLE, "XLA09")
"""How the codes begin that say something of the run: a file that cannot be read, a comment that ignores
nothing."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")  # most serious first
CONFIDENCES: tuple[Confidence, ...] = ("certain", "likely", "possible")  # surest first


def rule_url(code: str) -> str:
    """Where the rule is documented."""
    return f"https://xlamig.readthedocs.io/rules/{code}/"


@dataclass(frozen=True, slots=True, order=True)
class Location:
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Range:
    """A piece of one file: offsets for programs, locations for people."""

    start: int
    end: int
    location: Location
    end_location: Location


@dataclass(frozen=True, slots=True)
class Reason:
    """One link of the chain that led to a finding. `place` is None for a fact about no place."""

    message: str
    filename: str
    place: Range | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `place` in `filename` by `content`; an empty place is an insertion."""

    filename: str
    cell: int | None
    place: Range
    content: str


@dataclass(frozen=True, slots=True)
class Create:
    """A file the fix needs and writes when it is not there yet."""

    filename: str
    content: str


@dataclass(frozen=True, slots=True)
class Fix:
    """All edits and creates together, or none. A display fix has a message and may have none; `held`
    says why nothing could be written here; `covers` are offsets of code that needs no other fix with it."""

    message: str
    applicability: Applicability
    edits: tuple[Edit, ...] = ()
    creates: tuple[Create, ...] = ()
    held: str = ""
    covers: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Effort:
    """The work that a finding asks for; hours exist only in `effort/`. `optional` work is listed outside the
    total."""

    level: Level
    unit: Unit
    group: str
    phase: Phase = "run"
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Concern:
    """A remark of a finding about others of the program: their places are among its reasons."""

    text: str
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    code: str
    name: str
    severity: Severity
    mechanism: Mechanism
    frequency: Frequency
    confidence: Confidence
    target: str
    message: str
    filename: str
    cell: int | None
    place: Range
    effort: Effort
    fingerprint: str
    url: str
    help: str = ""
    reasons: tuple[Reason, ...] = ()
    fix: Fix | None = None
    scope: str = ""  # qualified name of the enclosing function or class, "" at module level
    statement: str = ""  # the statement's normalised text: the unit in which sites are counted
    observed: str = ""  # what a real run showed of it
    concerns: tuple[Concern, ...] = ()
    dependency: str = ""  # findings of one rule with the same text here are one in a program
    no_action: bool = False  # nothing has to change
    aside: Aside | None = None
    job: str = ""  # findings with the same text here are done by one edit, or belong to one unit
    also: tuple[Finding, ...] = ()  # the others of the job, where they are not reported themselves

    @property
    def places(self) -> tuple[Finding, ...]:
        """The finding and the others of its job."""
        return (self, *self.also)


@dataclass(frozen=True, slots=True)
class SkippedFile:
    filename: str
    reason: str


@dataclass(frozen=True, slots=True)
class RuleError:
    """A rule that raised on a file: the run went on without it."""

    code: str
    filename: str
    message: str


@dataclass(frozen=True, slots=True)
class Part:
    """A class or function at the top of a file, or the file's own statements, as plain data. `bases`
    are dotted names where they are known, `members` are methods, `calls` says how often it calls
    which API of torch."""

    name: str
    kind: str  # "class" | "function" | "module"
    bases: tuple[str, ...]
    members: tuple[str, ...]
    decorators: tuple[str, ...]
    calls: tuple[tuple[str, int], ...]
    first_row: int
    last_row: int


@dataclass(frozen=True, slots=True)
class Size:
    """A literal size of a model: `kind` is hidden, heads, head, feed-forward or vocabulary; `owner`
    the part it stands in, "" for the file itself. `given` says how: "value", "default" of a parameter
    of the owner's, or "call", an argument of `callee`."""

    kind: str
    name: str
    value: int
    owner: str
    row: int
    given: str = "value"
    callee: str = ""


@dataclass(frozen=True, slots=True)
class FileReport:
    """The result for one file. `sites` counts torch and CUDA API uses seen, for coverage; `silenced` are the
    codes of findings that comments suppress, `unsure` the findings left out because they are less sure than
    asked for, `unfollowed` the functions that not all calls were followed into, because there were too many,
    `on_xla` what it uses that computes with XLA already, `aside` the findings that are only counted."""

    filename: str
    findings: tuple[Finding, ...] = ()
    skipped: SkippedFile | None = None
    rule_errors: tuple[RuleError, ...] = ()
    suppressed: int = 0
    lines: int = 0
    sites: int = 0
    silenced: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    sizes: tuple[Size, ...] = ()
    unfollowed: tuple[str, ...] = ()
    on_xla: tuple[str, ...] = ()
    unsure: int = 0
    aside: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a report. `revision` and `date` are those of the commit that is checked out, empty
    outside a git repository; `changed` if files differ from it. `entries`: only what these reach."""

    name: str
    revision: str = ""
    date: str = ""
    changed: bool = False
    entries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run, in a fixed order: by file name, then place, then code."""

    target: str
    files: tuple[FileReport, ...] = field(default=())
    hidden: int = 0  # findings left out because they are known or unchanged

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for file in self.files for finding in file.findings)

    @property
    def aside(self) -> tuple[Finding, ...]:
        """The findings that are counted and not shown."""
        return tuple(finding for file in self.files for finding in file.aside)

    @property
    def planned(self) -> tuple[Finding, ...]:
        """The findings that a plan counts: those shown, with all their places, and those in tests."""
        tests = (finding for finding in self.aside if finding.aside == "tests")
        return tuple(place for finding in (*self.findings, *tests) for place in finding.places)

    @property
    def skipped(self) -> tuple[SkippedFile, ...]:
        return tuple(file.skipped for file in self.files if file.skipped)

    @property
    def unread(self) -> tuple[Finding, ...]:
        """The findings of files that could not be read, templates aside: nothing is known of these."""
        found = (place for finding in self.findings for place in finding.places)
        return tuple(one for one in found if one.code == UNPARSABLE and one.severity != "info")

    @property
    def partly(self) -> tuple[FileReport, ...]:
        """The files of which something was left out of the analysis."""
        return tuple(file for file in self.files if file.unfollowed)

    @property
    def rule_errors(self) -> tuple[RuleError, ...]:
        return tuple(error for file in self.files for error in file.rule_errors)
