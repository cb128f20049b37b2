"""The figures about judged findings in the record of accuracy follow from their data."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from benchmarks.intervals import wilson
from benchmarks.judged.agreement import kappa, raw
from benchmarks.judged.records import VERDICTS, Judged, load_sets
from benchmarks.scoreboard.history import load
from benchmarks.scripts.results import RESULTS, Results, totals
from benchmarks.split import SPLITS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "research" / "accuracy.md").read_text("utf-8")
SUMMARY = (DOCS / "accuracy.md").read_text("utf-8")
SETS = load_sets()


OF_THE_ZOO = {  # row of the page: measure of the scoreboard
    "recall, all kinds": "zoo: lines with an event reported",
    "recall, host reads": "zoo: lines with an event reported, read",
    "recall, dynamic shapes": "zoo: lines with an event reported, shape",
    "recall, CPU fallbacks": "zoo: lines with an event reported, fallback",
    "recall, recompilation": "zoo: lines with an event reported, recompile",
    "recall, errors": "zoo: lines with an event reported, error",
    "precision, errors and warnings, likely or certain": "zoo: errors and warnings observed",
}


def share(part: int, whole: int) -> str:
    found = wilson(part, whole)
    assert found is not None
    return f"{found[0] * 100:.0f} % ({found[1] * 100:.0f}-{found[2] * 100:.0f})"


def cells(name: str) -> list[str]:
    """The cells of the first row that begins with a name."""
    row = next(line for line in PAGE.splitlines() if line.replace("*", "").startswith(f"| {name} |"))
    return [cell.strip(" *") for cell in row.strip("|").split("|")][1:]


def of(split: str) -> list[Judged]:
    return [finding for finding in SETS["2026-11-22"] if finding.split == split]


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_verdicts_of_both_halves(verdict: str) -> None:
    counts = [Counter(f.verdict for f in of(split) if f.strong) for split in SPLITS]
    told = [f"{c[verdict]}, {share(c[verdict], c.total())}" for c in counts]
    assert cells(verdict.replace("-", " ")) == told
    assert cells("judged") == [str(c.total()) for c in counts]


@pytest.mark.parametrize("severity", ["error", "warning", "info"])
def test_the_severities_of_both_halves(severity: str) -> None:
    for told, split in zip(cells(f"{severity}s, true"), SPLITS, strict=True):
        rows = [f.verdict == "true" for f in of(split) if f.severity == severity]
        assert told == f"{sum(rows)} of {len(rows)}, {share(sum(rows), len(rows))}"


def test_the_rules_of_both_readings() -> None:
    rules: dict[str, list[bool]] = defaultdict(list)
    both = (*SETS["2026-11-22"], *SETS["reviewed"])  # of one version of xlamig
    for finding in (f for f in both if f.strong):
        rules[finding.rule].append(finding.verdict == "true")
    told = dict(re.findall(r"\| (XLA\d+) \S+ \| (\d+ of \d+)", PAGE))
    assert told == {r: f"{sum(v)} of {len(v)}" for r, v in rules.items() if len(v) >= 10}


def test_the_agreement_of_two_readers() -> None:
    findings = SETS["2026-11-22"]
    pairs = [(str(f.verdict), str(f.second)) for f in findings if f.second]
    same, both = (
        sum(one == two for one, two in pairs),
        [(str(a == "true"), str(b == "true")) for a, b in pairs],
    )
    agreed = sum(one == two for one, two in both)
    text = " ".join(PAGE.split())
    assert f"judged {len(pairs)} of the {len(findings)} findings" in text
    assert f"agree on {same} ({raw(pairs):.2f}, Cohen's kappa {kappa(pairs):.2f})" in text
    assert f"on {agreed} ({raw(both):.2f}, kappa {kappa(both):.2f})" in text
    true = [sum(side == "true" for side in pair) for pair in zip(*pairs, strict=True)]
    assert f"({true[1]} instead of {true[0]})" in text


@pytest.mark.parametrize("row", OF_THE_ZOO)
def test_the_zoo_is_what_the_scoreboard_stored(row: str) -> None:
    commit = re.search(r"Compared with xlamig (\w+)", " ".join(PAGE.split()))
    assert commit is not None
    stored = next(entry for entry in load() if entry.commit.startswith(commit[1]))
    figures = stored.rows[OF_THE_ZOO[row]].figures
    told = [f"{f.part:.0f} of {f.whole:.0f}, {share(int(f.part), int(f.whole))}" for f in figures.values()]
    assert cells(row) == told


def test_scripts_are_what_their_results_say() -> None:
    counts = totals(Results(RESULTS, resume=False).by_id.values())
    assert cells("migrated") == [
        f"{c['migrated']} of {c['ran']}, {share(c['migrated'], c['ran'])}" for c in counts.values()
    ]


def test_the_summary_has_the_scripts_of_the_record() -> None:
    dev, test = totals(Results(RESULTS, resume=False).by_id.values()).values()
    assert f"(dev {dev['migrated']} of {dev['ran']}, test {test['migrated']} of {test['ran']})" in SUMMARY
    assert f"| {test['migrated']} of {test['ran']}, {share(test['migrated'], test['ran'])} |" in SUMMARY


@pytest.mark.parametrize(
    ("reading", "name"),
    [
        ("second", "2026-11-23-blind"),
        ("third", "2026-11-23-blind-2"),
        ("fourth", "2026-11-23-blind-3"),
        ("fifth", "2026-11-23-blind-4"),
        ("sixth", "2026-11-24-blind-5"),
        ("seventh", "2026-11-24-blind-6"),
        ("eighth", "2026-11-24-blind-7"),
        ("ninth", "2026-11-24-blind-8"),
        ("tenth", "2026-11-28-blind-9"),
        ("eleventh", "2026-11-28-blind-10"),
        ("twelfth", "2026-11-28-blind-11"),
        ("thirteenth", "2026-11-28-blind-12"),
        ("fourteenth", "2026-11-28-blind-13"),
        ("fifteenth", "2026-11-28-blind-14"),
        ("sixteenth", "2026-11-29-blind-15"),
        ("seventeenth", "2026-11-29-blind-16"),
        ("eighteenth", "2026-11-29-blind-17"),
        ("nineteenth", "2026-11-29-blind-18"),
        ("twentieth", "2026-11-29-blind-19"),
        ("twenty-first", "2026-11-29-blind-20"),
        ("twenty-second", "2026-11-29-blind-21"),
        ("twenty-third", "2026-11-30-blind-22"),
        ("twenty-fourth", "2026-11-30-blind-23"),
        ("twenty-fifth", "2026-11-30-blind-24"),
        ("twenty-sixth", "2026-11-30-blind-25"),
        ("twenty-seventh", "2026-11-30-blind-26"),
        ("twenty-eighth", "2026-11-30-blind-27"),
        ("twenty-ninth", "2026-12-01-blind-28"),
        ("thirtieth", "2026-12-01-blind-29"),
    ],
)
def test_the_summary_counts_the_verdicts_of_blind_readings(reading: str, name: str) -> None:
    verdicts = Counter(f.verdict for f in SETS[name] if f.strong)
    row = next(line for line in SUMMARY.splitlines() if line.startswith(f"| {reading} "))
    counts = [int(cell.split(",")[0]) for cell in row.strip("|").split("|")[1:]]
    assert counts == [verdicts.total(), *(verdicts[verdict] for verdict in VERDICTS)]
