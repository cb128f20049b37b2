"""The sections of the scoreboard. A section yields its rows, and says in `problems` what it could not run."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.checked import CACHE, CHECK, ROOT, RUN, Checked, cpu_seconds
from benchmarks.judged.compare import Outcome, compare
from benchmarks.judged.records import load_sets
from benchmarks.ports.score import recall, score
from benchmarks.programs import accuracy
from benchmarks.programs.traces import kept
from benchmarks.scoreboard.rows import Figure, Row
from benchmarks.scripts.cases import MANIFEST, of_manifest
from benchmarks.scripts.results import RESULTS, Results, totals
from benchmarks.split import SPLITS, split_of
from benchmarks.zoo import manifest, observed
from benchmarks.zoo.compare import FOUND, Totals
from benchmarks.zoo.compare import score as zoo_score
from benchmarks.zoo.predictions import predict

WARM = 2  # repositories for which a second run is timed


@dataclass(slots=True)
class Run:
    """Where repositories and results are, and what could not be run."""

    mirror: Path | None
    store: Path = CACHE
    problems: list[str] = field(default_factory=list)
    checked: dict[str, Checked] = field(default_factory=dict)


Section = Callable[[Run], Iterator[Row]]


def judged(run: Run) -> Iterator[Row]:
    """Yield what became of the findings that people judged, and the findings and seconds per 1000 lines."""
    if run.mirror is None:
        run.problems.append("judged, findings per 1000 lines, times: no --mirror")
        return
    for name, findings in load_sets().items():
        compared = compare(findings, run.mirror, store=run.store)
        run.problems += [f"judged: {problem}" for problem in compared.problems]
        run.checked |= compared.checked
        yield from _verdicts(name, compared.outcomes)
    density = Row("errors and warnings per 1000 lines", unit="per 1000 lines", better="neither")
    cold = Row("seconds per 1000 lines, cold", unit="s", better="less")
    for split in SPLITS:
        found = [one for repository, one in run.checked.items() if split_of(repository) == split]
        thousands = sum(one.lines for one in found) / 1000
        reported = sum(f["severity"] != "info" for one in found for f in one.findings)
        density.figures[split] = Figure(reported, thousands)
        cold.figures[split] = Figure(sum(one.cpu for one in found), thousands)
    yield from (density, cold)


def _verdicts(name: str, outcomes: Sequence[Outcome]) -> Iterator[Row]:
    """Yield the rows of one set of judged findings: its errors and warnings."""
    left = Row(f"judged {name}: true of those still reported")
    held = Row(f"judged {name}: true ones still reported")
    gone = Row(f"judged {name}: false and noise gone")
    for split in SPLITS:
        strong = [o for o in outcomes if o.judged.strong and o.judged.split == split]
        true = [o.strong for o in strong if o.judged.verdict == "true"]
        unwanted = [not o.strong for o in strong if o.judged.verdict in ("false", "noise")]
        held.figures[split] = Figure(sum(true), len(true))
        gone.figures[split] = Figure(sum(unwanted), len(unwanted))
        left.figures[split] = Figure(sum(true), sum(o.strong for o in strong))
    yield from (left, held, gone)


def warm(run: Run) -> Iterator[Row]:
    """Yield the time of a second run over unchanged files."""
    row = Row("seconds per 1000 lines, unchanged", unit="s", better="less")
    ordered = sorted(run.checked.items(), key=lambda item: item[1].lines)
    chosen = [item for item in ordered if item[1].lines][: WARM * 3][-WARM:]
    seconds = sum(_second_run(found.folder) for _, found in chosen)
    if chosen:
        row.figures["dev"] = Figure(seconds, sum(found.lines for _, found in chosen) / 1000)
        yield row


def _second_run(folder: Path) -> float:
    """Return the seconds of a check with a filled cache."""
    options = [option for option in CHECK if option != "--no-cache"]
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-c", RUN, str(ROOT / "src"), *options, "-j1", "--cache-dir", cache]
        subprocess.run(command, cwd=folder, capture_output=True, check=True)
        return cpu_seconds(command, folder)


def programs(run: Run) -> Iterator[Row]:
    """Yield precision and recall on the kept traces of our own programs.

    Those that the analyser was developed on stand under dev, those that were unseen when new under test.
    """
    names = {"host-sync": "host reads", "recompile": "recompilation", "cpu-fallback": "CPU fallbacks"}
    rows = {(m, kind): Row(f"own programs: {name}, {kind}")
            for m, name in names.items() for kind in ("precision", "recall")}  # fmt: skip
    count = 0
    for split in SPLITS:
        chosen = [name for name in accuracy.sets() if (name == "developed-on") == (split == "dev")]
        traced = {p: kept(p) for name in chosen for p in accuracy.programs_of(name)}
        missing = [program.stem for program, trace in traced.items() if trace is None]
        if missing:
            run.problems.append(
                f"programs: {len(missing)} of {len(traced)} have no trace: {', '.join(missing)}"
            )
        scores = _scores({program: trace for program, trace in traced.items() if trace is not None})
        for mechanism in names:
            score = scores[mechanism]
            right, found = score["confirmed"], score["observed and predicted"]
            rows[mechanism, "precision"].figures[split] = Figure(right, right + score["not observed"])
            rows[mechanism, "recall"].figures[split] = Figure(found, found + score["observed only"])
        count += len(traced) - len(missing)
    for row in rows.values():
        row.cases = f"{count} programs"
        yield row


def _scores(traced: dict[Path, dict[str, Any]]) -> dict[str, accuracy.Score]:
    scores: dict[str, accuracy.Score] = defaultdict(accuracy.Score)
    for program, trace in traced.items():
        accuracy.measure(program, trace, scores)
    return scores


def ported(run: Run) -> Iterator[Row]:
    """Yield the share of lines of public ports that are reported, of those that are real today."""
    if run.mirror is None:
        run.problems.append("ports: no --mirror")
        return
    results = list(score(run.mirror, store=run.store))
    run.problems += [f"ports: {one.id}: {one.failed}" for one in results if one.failed]
    figures = {split: Figure(*recall([one for one in results if one.half == split])) for split in SPLITS}
    yield Row("lines of ports, real today: reported", figures)


def scripts(run: Run) -> Iterator[Row]:
    """Yield the stored results of the last migration of scripts."""
    results = [*Results(RESULTS, resume=False).by_id.values()]
    if not results:
        run.problems.append(f"scripts: no stored results in {RESULTS.name}")
        return
    measured = ", ".join(sorted({str(one["commit"]) for one in results}))
    count = f"{len(results)} of {len(of_manifest(MANIFEST))} scripts"
    run.problems.append(f"scripts: the figures are stored ones, of {count} at {measured}")
    found = totals(results)
    figures = {split: Figure(found[split]["migrated"], found[split]["ran"]) for split in SPLITS}
    yield Row("scripts migrated", figures, cases=f"{sum(half['ran'] for half in found.values())} scripts")


def zoo(run: Run) -> Iterator[Row]:
    """Yield precision and recall, line by line, on the kept traces of published packages."""
    packages, sources = manifest.load([]), run.store / "zoo-sources"
    seen = observed.load(packages)
    names = [name for name, _ in observed.counted(seen)]
    lacking = sorted({name.partition("/")[0] for name in names if not (sources / name).is_file()})
    if lacking:
        run.problems.append(
            f"zoo: sources not fetched (python -m benchmarks.zoo fetch): {', '.join(lacking)}"
        )
    found = predict((name for name in names if name.partition("/")[0] not in lacking), sources, run.store)
    seen = observed.without(seen, frozenset(lacking))
    totals = {split: zoo_score(packages, seen, found, split).totals for split in SPLITS}
    cases = f"{sum(t.lines for t in totals.values())} lines"
    precise = {split: _precision(t) for split, t in totals.items()}
    yield Row("zoo: errors and warnings observed", precise, cases=cases)
    name = "zoo: lines with an event reported"
    yield Row(name, {split: _recall(t, *observed.KINDS) for split, t in totals.items()}, cases=cases)
    for kind in observed.KINDS:
        yield Row(f"{name}, {kind}", {split: _recall(t, kind) for split, t in totals.items()}, cases=cases)


def _precision(totals: Totals) -> Figure:
    """Return how many errors and warnings on lines that ran were observed; `possible` ones do not count."""
    shown = (f"{sure} {severity}" for sure in FOUND for severity in ("error", "warning"))
    counts = [totals.precision[name] for name in shown if name in totals.precision]
    right = sum(count.right for count in counts)
    return Figure(right, right + sum(count.wrong for count in counts))


def _recall(totals: Totals, *kinds: observed.Kind) -> Figure:
    counts = [totals.recall[kind] for kind in kinds]
    return Figure(sum(count.found for count in counts), sum(count.observed for count in counts))


SECTIONS: dict[str, Section] = {
    "judged": judged, "ports": ported, "warm": warm, "programs": programs, "scripts": scripts, "zoo": zoo,
}  # fmt: skip
