"""`--update-baseline`: all of today's findings become known ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xlamig.engine.new_only.baseline import Baseline
from xlamig.engine.new_only.stale import outdated_test
from xlamig.engine.options import Options, UsageError
from xlamig.engine.run import Run


def update(paths: Sequence[Path], options: Options) -> tuple[int, int, int]:
    """How many entries the baseline has now, how many are new and how many are gone."""
    if options.baseline is None:
        raise UsageError("--update-baseline needs --baseline FILE")
    old = Baseline.read(options.baseline) if options.baseline.exists() else Baseline(options.baseline)
    report = Run(paths, options).report()
    new = old.update(report, outdated_test(old, report, paths, options))
    new.write()
    before, after = set(old.entries), set(new.entries)
    return len(new.entries), len(after - before), len(before - after)
