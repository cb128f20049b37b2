"""Compare `check` with `trace`, line by line, on programs written for GPUs.

Each program runs as it stands on torch_xla's CPU client (`--as-cuda`). Only what that client shows is
compared (host reads, changing graphs, operators on the CPU), and only on lines that ran in at least three
steps. Precision is of what is predicted for each step or every few; recall is of the lines that cost
something in several steps, whatever frequency was predicted for them. A batch whose shape changes is seen
where it enters the graph, and is predicted where a finding (XLA904) says that batches have shapes of their
own, which stands where they are made; it is confirmed at a line of its reasons, such as where the batch is
put on the device. That the last batch is smaller (XLA901) predicts a copy to the device with another number
of rows. A finding about a number that is read to be an index (XLA109) says both that the host waits and that
each value compiles, and one that names the operators that a module runs on the CPU (XLA501) stands where the
module is made: it predicts the calls in which just these were seen. A value that becomes text is seen at its
whole string, which may have several lines. With `--fixtures` the programs are those of `fixtures/`, written
by the hand that wrote the rules: a regression test and no evidence of accuracy.
Traces are read from `traces/`; --trace adds to them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.checked import with_places
from benchmarks.intervals import wilson
from benchmarks.programs.traces import XLAMIG, keep, kept, trace
from xlamig.observe.merge import SHOWN_BY

PROGRAMS = Path(__file__).parent / "sources"
MANIFEST = Path(__file__).with_name("manifest.toml")
FIXTURES = Path(__file__).parents[2] / "fixtures"
# A program run as if on CUDA gets a boundary after each optimizer step: that there is none is not seen.
NOT_SEEN = ("XLA401", "XLA402", "XLA403")
OF_LOADERS = ("XLA904",)
OF_LAST_BATCH = ("XLA901",)
OF_MODULES = ("XLA501",)
OF_BOTH = ("XLA109",)  # a read by its mechanism, and each value that is read compiles
ENOUGH = 3  # steps in which a line has to run
KINDS = {
    "input": "recompile",
    "rows": "recompile",
    "host-read": "host-sync",
    "execution": "host-sync",
    "dynamic-shape": "recompile",
    "changing-shape": "recompile",
    "changing-constant": "recompile",
    "changing-path": "recompile",
    "operator": "cpu-fallback",
}
MECHANISMS = frozenset(KINDS.values())


def check(program: Path, folder: Path) -> list[dict[str, Any]]:
    command = [*XLAMIG, "check", "--isolated", "--no-cache", "--exit-zero", "--output-format", "json"]
    run = subprocess.run(
        [*command, "--confidence", "possible", program], cwd=folder, capture_output=True, check=True
    )
    return list(with_places(json.loads(run.stdout)["findings"]))


def programs_of(name: str) -> list[Path]:
    """Return the programs of one set of the manifest."""
    return [PROGRAMS / f"{program}.py" for program in sets()[name]["programs"]]


def sets() -> dict[str, dict[str, list[str]]]:
    """Return the sets of the manifest."""
    return tomllib.loads(MANIFEST.read_text())


def of_fixtures() -> list[Path]:
    """The fixture programs that a trace can say something of."""
    found = (p for p in sorted(FIXTURES.glob("XLA*/*/*.py")) if p.stem != "fixed")
    return [p for p in found if p.read_text().startswith("# run = trace")]


def stepper(program: Path, folder: Path) -> Path:
    """A script that runs a fixture's steps, each with a boundary after it."""
    script = folder / "steps.py"
    script.write_text(
        "import importlib.util, torch_xla\n"
        f"spec = importlib.util.spec_from_file_location('fixture', {str(program)!r})\n"
        "fixture = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(fixture)\n"
        "for i in range(8):\n"
        "    fixture.step(i)\n"
        "    torch_xla.sync()\n"
    )
    return script


class Score:
    """The score of one kind of prediction. `reached` lines ran often enough to tell."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def __getitem__(self, name: str) -> int:
        return self.counts[name]

    def row(self) -> dict[str, Any]:
        right, wrong = self["confirmed"], self["not observed"]
        found, missed = self["observed and predicted"], self["observed only"]
        return {
            **{name: self[name] for name in ("confirmed", "not observed", "not told", "not reached")},
            "precision": wilson(right, right + wrong),
            "observed": found + missed,
            "recall": wilson(found, found + missed),
        }


def events_by_rows(traced: dict[str, Any], program: Path) -> dict[range, set[str]]:
    """Kinds of events that cost something in more than one step, by the row at which they begin, or by all
    rows of a string; "input" is another shape than before, "rows" a copy to the device with another number
    of rows."""
    found: dict[range, set[str]] = defaultdict(set)
    text = program.read_text().splitlines()
    for event in traced["events"]:
        here = event["filename"] and Path(event["filename"]).name == program.name
        often = event["frequency"] in ("step", "interval") or event["count"] >= ENOUGH
        if here and often and event["kind"] in KINDS:
            row, kind = event["location"]["row"], event["kind"]
            if kind == "changing-shape" and event["via"] == "input":
                copied = re.search(r"\.(?:to|cuda)\(", text[row - 1])
                kind = "rows" if copied and rows_alone(event["detail"]) else "input"
            last = event["end_location"]["row"] if event["via"] == "format" else row
            found[range(row, last + 1)].add(kind)
    return found


def shown_by(mechanism: str) -> frozenset[str]:
    return SHOWN_BY[mechanism] | ({"input", "rows"} if mechanism == "recompile" else frozenset())


def rows_alone(detail: str) -> bool:
    """Return whether the shapes of what differed, such as "16x10, 16 -> 8x10, 8", have all but their first
    size in common, and that is smaller for all or larger for all."""
    sides = [
        [shape.split("x") for shape in side.split(", ")] for side in detail.split(" -> ") if side.strip()
    ]
    if len(sides) != 2 or len(sides[0]) != len(sides[1]):
        return False
    pairs = [(old, new) for old, new in zip(*sides, strict=True) if old != new]
    return (
        all(old[1:] == new[1:] for old, new in pairs) and len({(old[0], new[0]) for old, new in pairs}) == 1
    )


def runs_of(message: str, traced: dict[str, Any], program: Path) -> Iterator[int]:
    """The rows at which operators ran on the CPU that a message names."""
    named = set(re.findall(r"aten::[\w.]+", message))
    for event in traced["events"]:
        here = event["filename"] and Path(event["filename"]).name == program.name
        if here and named & set(event["operators"]):
            yield event["location"]["row"]


def compare(
    program: Path, traced: dict[str, Any], findings: Sequence[dict[str, Any]], scores: dict[str, Score]
) -> list[str]:
    """Adds to the scores; what was predicted wrongly and what was missed, in words."""
    lines: dict[str, int] = next(
        (rows for name, rows in traced["lines"].items() if Path(name).name == program.name), {}
    )
    observed = events_by_rows(traced, program)
    predicted: dict[str, set[int]] = defaultdict(set)
    codes = {finding["code"] for finding in findings}
    explained = {"rows"} if codes & {*OF_LAST_BATCH} else set()
    explained |= {"input", "rows"} if codes & {*OF_LOADERS} else set()
    # A trace names the first thing that differs between two steps: what else does, it cannot tell.
    recompiles = any(
        event["kind"] in KINDS and KINDS[event["kind"]] == "recompile" and event["compiles"] >= ENOUGH
        for event in traced["events"]
    )
    wrong: list[str] = []
    for finding in findings:
        mechanism = finding["mechanism"]
        if mechanism not in MECHANISMS or finding["code"] in NOT_SEEN:
            continue
        rows = range(finding["location"]["row"], finding["end_location"]["row"] + 1)
        predicted[mechanism].update(rows)
        if finding["code"] in OF_BOTH:
            predicted["recompile"].update(rows)
        if finding["code"] in OF_MODULES:
            predicted[mechanism].update(runs_of(finding["message"], traced, program))
        if finding["frequency"] not in ("step", "interval"):
            continue
        ran = max((lines.get(str(row), 0) for row in rows), default=0)
        places = [*rows]
        if finding["code"] in OF_LOADERS:
            places += [reason["location"]["row"] for reason in finding["reasons"] if reason["location"]]
        shown = any(kinds & shown_by(mechanism) and {*rows} & {*places} for rows, kinds in observed.items())
        verdict = "confirmed" if shown else "not observed" if ran >= ENOUGH else "not reached"
        if verdict == "not observed" and mechanism == "recompile" and recompiles:
            verdict = "not told"
        for key in (mechanism, finding["confidence"]):
            scores[key].counts[verdict] += 1
        if verdict == "not observed":
            wrong.append(f"{finding['code']} {finding['confidence']} line {finding['location']['row']}")
    for rows, kinds in observed.items():
        if lines.get(str(rows[0]), 0) < ENOUGH:
            continue
        for mechanism in {KINDS[kind] for kind in kinds}:
            said = any(told & {*rows} for name, told in predicted.items() if kinds & shown_by(name))
            said = said or (mechanism == "recompile" and bool(kinds & explained))
            scores[mechanism].counts["observed and predicted" if said else "observed only"] += 1
            if not said:
                wrong.append(f"missed {'/'.join(sorted(kinds))} line {rows[0]}")
    return wrong


def report(scores: dict[str, Score]) -> Iterator[str]:
    heads = (
        ("confirmed", 10),
        ("not obs.", 10),
        ("not told", 10),
        ("not reached", 13),
        ("precision", 22),
        ("lines", 8),
        ("recall", 22),
    )
    yield f"{'':<14}" + "".join(f"{head:>{width}}" for head, width in heads)
    for name, score in sorted(scores.items()):
        row = score.row()
        told = [_share(row["precision"]), _share(row["recall"])]
        yield (
            f"{name:<14}{row['confirmed']:>10}{row['not observed']:>10}{row['not told']:>10}"
            f"{row['not reached']:>13}{told[0]:>22}{row['observed']:>8}{told[1]:>22}"
        )


def _share(share: list[float] | None) -> str:
    return "-" if share is None else f"{share[0]:.0%} ({share[1]:.0%}-{share[2]:.0%})"


def trace_of(program: Path, args: argparse.Namespace) -> dict[str, Any] | None:
    """Return the kept trace of a program; with --trace run one that has none, and keep its trace."""
    options = ["--steps", str(args.steps)] if args.steps else []
    if args.fixtures:
        with tempfile.TemporaryDirectory() as folder:
            return trace(stepper(program, Path(folder)), args.python, options)
    traced = kept(program)
    if traced is None and args.trace:
        found = trace(program, args.python, options)
        if found is not None and found["steps"] >= ENOUGH:
            keep(program, found)
            traced = kept(program)
    return traced


def measure(program: Path, traced: dict[str, Any], scores: dict[str, Score]) -> list[str]:
    """Check a program and add to the scores; returns what was wrong and what was missed."""
    with tempfile.TemporaryDirectory() as folder:
        return compare(program, traced, check(program.resolve(), Path(folder)), scores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", type=Path, help="default: those of --set")
    parser.add_argument("--set", choices=tuple(sets()), default="developed-on", help="a set of manifest.toml")
    parser.add_argument("--trace", action="store_true", help="run programs without a trace, and keep it")
    parser.add_argument("--python", default=os.environ.get("XLAMIG_XLA_PYTHON", sys.executable))
    parser.add_argument("--steps", type=int, default=0, help="stop each program after that many")
    parser.add_argument("--fixtures", action="store_true", help="run the programs of fixtures/ instead")
    parser.add_argument("-v", "--verbose", action="store_true", help="also what was wrong, line by line")
    args = parser.parse_args()
    scores: dict[str, Score] = defaultdict(Score)
    untraced = []
    for program in of_fixtures() if args.fixtures else args.programs or programs_of(args.set):
        label = "-".join((*program.parts[-3:-1], program.stem)) if args.fixtures else program.stem
        traced = trace_of(program, args)
        if traced is None:
            untraced.append(label)
            continue
        wrong = measure(program, traced, scores)
        cost = traced["steady_state"] and "/".join(f"{value:g}" for value in traced["steady_state"].values())
        print(f"{label:<28}{traced['steps']:>4} steps  {cost or '-'}", flush=True)
        for line in wrong if args.verbose else ():
            print(f"    {line}")
    print("\n".join(report(scores)))
    if untraced:
        print(f"without a trace: {len(untraced)}: {', '.join(untraced)}")
    print(json.dumps({"untraced": untraced, "scores": {name: s.row() for name, s in sorted(scores.items())}}))


if __name__ == "__main__":
    main()
