"""Score `check` against the labels of ports: recall by what a label is worth today."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.checked import CACHE, ROOT, CheckFailed, checked
from benchmarks.intervals import percent
from benchmarks.mirror import MissingMirror
from benchmarks.ports.hits import SEVERITIES, reported
from benchmarks.ports.labels import LABELS, TODAY, Label, moved, ports
from benchmarks.split import SPLITS, Split

STRONG = ("error", "warning")


@dataclass(frozen=True, slots=True)
class Result:
    """The labels of one port with the severity that reports each; `failed` says why there are none."""

    id: str
    half: Split
    source: str
    labels: tuple[tuple[Label, str], ...] = ()
    failed: str = ""


def score(mirror: Path, labels: Path = LABELS, source: Path = ROOT, store: Path = CACHE) -> Iterator[Result]:
    """Check every labelled port with the xlamig of a checkout."""
    for port in ports(labels):
        try:
            found = checked(port.repo, port.commit, mirror, store, source, port.files)
        except (MissingMirror, CheckFailed) as why:
            yield Result(port.id, port.half, port.source, failed=str(why))
            continue
        if lost := list(moved(port, found.folder)):
            yield Result(port.id, port.half, port.source, failed=f"{len(lost)} labels are not at their line")
            continue
        hits = reported(port, found.folder, found.findings)
        yield Result(port.id, port.half, port.source, tuple(zip(port.labels, hits, strict=True)))


def recall(
    results: Sequence[Result],
    today: str = "real",
    category: str = "",
    severities: tuple[str, ...] = SEVERITIES,
) -> tuple[int, int]:
    """Return how many labels of a kind are reported, and of how many; `unknowable` ones do not count."""
    hits = [
        severity in severities
        for result in results
        for label, severity in result.labels
        if label.today == today and label.detectability != "unknowable" and category in ("", label.category)
    ]
    return sum(hits), len(hits)


def tables(results: Sequence[Result]) -> Iterator[str]:
    """Return recall by half, by source of the labels, and by category on dev, as lines of text."""
    halves = {half: [one for one in results if one.half == half] for half in SPLITS}
    yield f"{'labels reported':24}" + "".join(f"{half:>26}" for half in SPLITS)
    for today in TODAY:
        yield f"{today:24}" + "".join(_cell(*recall(of, today)) for of in halves.values())
    yield f"{'real, error or warning':24}" + "".join(
        _cell(*recall(of, severities=STRONG)) for of in halves.values()
    )
    for source in sorted({one.source for one in results}):
        chosen = [[one for one in of if one.source == source] for of in halves.values()]
        yield f"{f'real, {source}':24}" + "".join(_cell(*recall(of)) for of in chosen)
    for category, _ in _categories(halves["dev"]):
        yield f"{f'real, {category}'[:23]:24}{_cell(*recall(halves['dev'], category=category))}"
    ports_ = {half: f"{sum(not one.failed for one in of)} of {len(of)} ports" for half, of in halves.items()}
    yield f"{'scored':24}" + "".join(f"{ports_[half]:>26}" for half in SPLITS)


def missed(results: Sequence[Result]) -> Iterator[str]:
    """Return the ports that could not be scored, and on dev each real label that is not reported."""
    for one in results:
        if one.failed:
            yield f"not scored: {one.id}: {one.failed}"
        for label, severity in one.labels if one.half == "dev" else ():
            if not severity and label.today == "real" and label.detectability != "unknowable":
                yield f"missed: {one.id} {label.file}:{label.line} {label.category}, {label.detectability}"


def _cell(part: int, whole: int) -> str:
    return f"{f'{part} of {whole} = {percent(part, whole)}' if whole else '-':>26}"


def _categories(results: Sequence[Result]) -> list[tuple[str, int]]:
    real = (label for one in results for label, _ in one.labels if label.today == "real")
    return Counter(label.category for label in real).most_common()
