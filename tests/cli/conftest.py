from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click.testing
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from making import a_finding, a_report
from xlamig.config.settings import Settings
from xlamig.engine.ignoring import Ignored
from xlamig.engine.options import Options, UsageError
from xlamig.findings import Provenance, Report
from xlamig.source.text import SourceText


@dataclass
class FakeFixedFile:
    filename: str = "train.py"
    old: str = "a\n"
    new: str = "b\n"
    applied: dict[str, int] = field(default_factory=lambda: {"XLA005": 2})


@dataclass
class FakeOutcome:
    after: Report
    files: tuple[FakeFixedFile, ...] = (FakeFixedFile(),)
    created: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    stdin: SourceText | None = None


class FakeEngine(types.ModuleType):
    """A stand-in for the engine, with answers that a test sets."""

    Options, UsageError = Options, UsageError

    def __init__(self) -> None:
        super().__init__("xlamig.engine")
        self.report = a_report(a_finding(severity="warning"))
        self.outcome = FakeOutcome(self.report)
        self.settings = Settings()
        self.ignored = Ignored(2, 1, 0)
        self.previewed: tuple[str, ...] = ()
        self.error: BaseException | None = None
        self.asked: dict[str, Any] = {}

    def check(self, paths: Sequence[Path], options: Options, entries: Sequence[Path] = ()) -> Report:
        self.asked = {"paths": paths, "options": options, "entries": entries}
        if self.error:
            raise self.error
        return self.report

    def fix(
        self, paths: Sequence[Path], options: Options, applicabilities: frozenset[str], write: bool
    ) -> FakeOutcome:
        self.asked = {"paths": paths, "options": options, "grades": applicabilities, "write": write}
        return self.outcome

    def update_baseline(self, paths: Sequence[Path], options: Options) -> tuple[int, int, int]:
        self.asked = {"paths": paths, "options": options}
        return 3, 2, 1

    def add_ignores(self, paths: Sequence[Path], options: Options, reason: str = "") -> Ignored:
        self.asked = {"paths": paths, "options": options, "reason": reason}
        return self.ignored

    def provenance(self, path: Path, entries: Sequence[Path] = ()) -> Provenance:
        return Provenance("project", entries=tuple(map(str, entries)))

    def text_of(self, options: Options) -> Callable[[str], str | None]:
        return lambda filename: None

    def show_files(self, paths: Sequence[Path], options: Options) -> tuple[str, ...]:
        return ("a.py", "b.py")

    def show_settings(self, path: Path, options: Options) -> Settings:
        return self.settings

    def previews(self, path: Path, options: Options) -> tuple[str, ...]:
        return self.previewed

    def clean(self, options: Options) -> int:
        self.asked = {"options": options}
        return 1


Invoke = Callable[..., click.testing.Result]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    fake = FakeEngine()
    monkeypatch.setitem(sys.modules, "xlamig.engine", fake)
    monkeypatch.setattr("xlamig.engine", fake, raising=False)
    return fake


@pytest.fixture
def invoke(engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Runs the command line in an empty folder against the fake engine."""
    from xlamig.cli import xlamig

    monkeypatch.chdir(tmp_path)
    for name in ("CI", "NO_COLOR", "FORCE_COLOR", "XLAMIG_OUTPUT_FORMAT"):
        monkeypatch.delenv(name, raising=False)

    def run(*args: str, **extra: Any) -> click.testing.Result:
        return click.testing.CliRunner().invoke(xlamig, args, **extra)

    return run
