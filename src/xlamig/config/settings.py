"""Every setting of a run, with its default; one flat, frozen, picklable value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from xlamig.findings import Confidence, Severity

Target = Literal["torch_xla", "torch_tpu"]
Style = Literal["portable", "native"]

TARGETS: tuple[Target, ...] = ("torch_xla", "torch_tpu")
STYLES: tuple[Style, ...] = ("portable", "native")
KEEP_WORKING_ON = ("cuda", "cpu", "mps", *TARGETS)

MEASURED: Mapping[Target, tuple[str, str]] = {"torch_xla": ("2.5", "2.9"), "torch_tpu": ("0.2", "0.2")}
"""The first and the last release of each target that the rules speak of."""

DEFAULT_EXCLUDE = (
    ".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox",
    ".pyenv", ".pytest_cache", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode",
    ".xlamig_cache", "__pycache__", "__pypackages__", "_build", "build", "dist",
    "node_modules", "site-packages", "venv",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class EffortSettings:
    """`[tool.xlamig.effort]`: `levels` overrides (offset, per site) in minutes, `lines` lines per
    site. None of it reaches the findings, so none of it is in the key of a cache."""

    hours_per_day: float = 8.0
    overhead_low_hours: float = 16.0
    overhead_high_hours: float = 40.0
    exponent: float = 0.68
    levels: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    confidence: Mapping[str, float] = field(default_factory=dict)
    tests_weight: float = 0.25
    examples_weight: float = 0.25
    safe_review_minutes: float = 0.5  # to read one site that a safe fix rewrote
    unsafe_share: float = 0.25  # of the manual work is left where an unsafe fix was applied
    moderate_days: float = 1.0
    hard_days: float = 10.0
    dominant_share: float = 0.4
    lines: Mapping[str, float] = field(default_factory=dict)
    lines_further: float = 1.0
    fixed_lines: float = 10.0
    hardware: Path | None = None  # the user's own table of hardware and prices
    hourly_rate: float | None = None  # of the people who migrate, in the table's currency


@dataclass(frozen=True, slots=True)
class Settings:
    target: Target = "torch_xla"
    target_version: str | None = None  # None: the last one measured
    keep_working_on: tuple[str, ...] = ("cuda", "cpu")
    style: Style = "portable"
    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fixable: tuple[str, ...] = ("ALL",)
    unfixable: tuple[str, ...] = ()
    severity: Severity = "info"  # report findings at least this serious
    confidence: Confidence = "likely"  # and at least this sure
    fail_on: Severity = "warning"
    preview: bool = False
    include_tests: bool = False  # report on tests and benchmarks like on other code
    include_converters: bool = False  # and on what only converts checkpoints or exports models
    include_unused: bool = False  # and on copies of libraries and modules that no script imports
    include_no_action: bool = False  # report what asks for no change
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    rules: tuple[Path, ...] = ()  # folders with the user's own pages
    max_file_size: int = 2_000_000  # bytes
    cache_dir: Path | None = None
    helper: str = "xla_compat"  # module name of the device helper that portable fixes call
    accumulate_in_graph: bool = False  # gradients that are summed up stay in the update's graph
    python: Path | None = None  # has torch_xla; this and the next two: an interpreter or its environment
    compiler_python: Path | None = None  # has jax and libtpu
    torch_tpu_python: Path | None = None
    effort: EffortSettings = field(default_factory=EffortSettings)
    root: Path = field(default_factory=Path.cwd)  # where globs start from: the configuration's folder
    source: Path | None = None  # the configuration file, None when all is default

    def version_of(self, target: Target) -> str:
        """The release of a target that rules are evaluated for."""
        given = self.target_version if target == self.target else None
        return given or MEASURED[target][1]
