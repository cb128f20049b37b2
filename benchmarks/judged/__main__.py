"""Draw findings of a repository, store verdicts on them, and check later versions of xlamig against these.

usage: python -m benchmarks.judged sample REPO --mirror DIR [--n 50] [--seed 1] [-o SHEET]
       python -m benchmarks.judged store SHEET --set NAME [--second]
       python -m benchmarks.judged check --mirror DIR [--split dev|test] [--set NAME ...]
           [--by rule|repository|...] [--accept]
       python -m benchmarks.judged agreement [--set NAME ...]

`sample` writes a sheet, one finding a line: fill in `verdict` and `why`, or for a second, blind reading
`second` and `second_why`. The verdicts:
true        right, and the advice helps at this place
bad-advice  right place, but the help does not fit it
noise       right, but nothing follows from it: tests, GPU-only code, dead code, converters
false       wrong
`check` says what became of the findings: what was false or noise must be gone, what was true must still be
reported. It exits with 1 where that does not hold, unless the finding is in sets/accepted.txt, which --accept
writes: so what is gone cannot come back, and what is reported cannot vanish, without being noticed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.checked import CACHE, ROOT, CheckFailed, checked
from benchmarks.judged import report
from benchmarks.judged.compare import Compared, Outcome, compare
from benchmarks.judged.places import Sources
from benchmarks.judged.records import SETS, BadRecord, Judged, load, load_sets, parse, save
from benchmarks.judged.sample import Finding, sheet
from benchmarks.mirror import MissingMirror, git, git_directory
from benchmarks.split import SPLITS

ACCEPTED = "accepted.txt"
TOTALS = ("severity", "confidence")  # what is printed of test


def sample(arguments: argparse.Namespace) -> None:
    """Draw findings and write the sheet; show each with its source, unless --no-source."""
    directory = git_directory(arguments.mirror, arguments.repository)
    commit = git(directory, "rev-parse", arguments.commit).strip()
    head = ["git", "-C", str(arguments.source), "rev-parse", "--short", "HEAD"]
    analyser = subprocess.run(head, capture_output=True, text=True).stdout.strip()
    found = checked(arguments.repository, commit, arguments.mirror, arguments.cache, arguments.source)
    rows = sheet(arguments.repository, commit, analyser, found, arguments.n, arguments.seed)
    sources = Sources(found.folder)
    for number, (record, finding) in enumerate(rows, 1):
        print("\n".join(_shown(number, record, finding, sources, arguments.context)))
    lines = [json.dumps({"id": record.id, **asdict(record)}) for record, _ in rows]
    output = arguments.output or Path(f"{arguments.repository.replace('/', '+')}.jsonl")
    output.write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{len(rows)} of {len(found.shown)} findings: {output}", file=sys.stderr)


def _shown(number: int, record: Judged, finding: Finding, sources: Sources, context: int) -> Iterator[str]:
    yield f"== {number}. {record.path}:{record.line} {record.rule} {finding['name']} ({record.id})"
    yield f"   {record.severity}, {record.confidence}, {record.frequency}: {finding['message']}"
    yield f"   help: {finding.get('help') or '-'}"
    for reason in finding["reasons"]:
        at = f" ({reason['filename']}:{reason['location']['row']})" if reason.get("location") else ""
        yield f"   because: {reason['message']}{at}"
    rows = sources.text(record.path, record.cell).splitlines()
    for row in range(max(1, record.line - context), min(len(rows), record.line + context) + 1):
        yield f"{'>' if row == record.line else ' '}{row:5} {rows[row - 1]}"


def store(arguments: argparse.Namespace) -> None:
    """Add the verdicts of a sheet to a set; rows without one are counted."""
    path = arguments.sets / f"{arguments.set}.jsonl"
    known = {finding.id: finding for finding in (load(path) if path.exists() else [])}
    rows = [json.loads(line) for line in arguments.sheet.read_text("utf-8").splitlines()]
    kept = ("second", "second_why") if arguments.second else ("verdict", "why")
    stored = 0
    for row in rows:
        old = known.get(row.get("id"))
        if row.get(kept[0]) is None or (arguments.second and old is None):
            continue
        found = parse({**(asdict(old) if old else row), **{name: row.get(name) for name in kept}})
        known[found.id] = found
        stored += 1
    save(path, known.values())
    print(f"{stored} stored, {len(rows) - stored} without a verdict or unknown")
    print(f"{path.name}: {len(known)}")


def check(arguments: argparse.Namespace) -> int:
    """Print what became of the judged findings; cases of dev only."""
    wrong: list[Outcome] = []
    path = arguments.sets / ACCEPTED
    accepted = set(path.read_text("utf-8").split()) if path.exists() else set()
    judged = [finding for findings in _sets(arguments).values() for finding in findings]
    for split in arguments.split:
        rows = [finding for finding in judged if finding.split == split]
        compared = compare(rows, arguments.mirror, store=arguments.cache)
        print(f"\n{split}: {len(rows)} findings judged in {len({f.repo for f in rows})} repositories")
        print("\n".join((*report.summary(compared), "", *report.verdict_table(rows))))
        for by in arguments.by if split == "dev" else TOTALS:
            print("", *report.group_table(rows, compared.outcomes, by), sep="\n")
        regressions = [o for o in compared.outcomes if o.regression]
        new = [o for o in regressions if o.judged.id not in accepted]
        total = f"{len(regressions)} of {len(compared.outcomes)} are not as they should be"
        print(f"\n{split}: {total}, {len(new)} of them new")
        for outcome in regressions if split == "dev" else ():
            row = outcome.judged
            mark = "" if row.id in accepted else "NEW "
            print(f"  {mark}{outcome.regression}: {row.repo} {row.path}:{row.line} {row.rule}")
            print(f"      {row.verdict}: {row.why}")
        wrong += new
        accepted = _without(accepted, compared) | {o.judged.id for o in regressions}
    if arguments.accept:
        path.write_text("".join(f"{name}\n" for name in sorted(accepted)), "utf-8")
    return int(bool(wrong) and not arguments.accept)


def _without(accepted: set[str], compared: Compared) -> set[str]:
    return accepted - {outcome.judged.id for outcome in compared.outcomes}


def agreement(arguments: argparse.Namespace) -> None:
    for name, findings in _sets(arguments).items():
        print(f"{name}: {report.agreement(findings)}")


def _sets(arguments: argparse.Namespace) -> dict[str, list[Judged]]:
    return load_sets(arguments.set, arguments.sets)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.judged",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    mirror = os.environ.get("XLAMIG_MIRROR")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--mirror", type=Path, default=mirror, required=not mirror, help="a folder of git directories"
    )
    common.add_argument("--cache", type=Path, default=CACHE, help="where check-outs and findings are kept")
    sets = argparse.ArgumentParser(add_help=False)
    sets.add_argument("--sets", type=Path, default=SETS, help="the folder of these files")
    commands = parser.add_subparsers(dest="command", required=True)
    draw = commands.add_parser("sample", parents=[common], help="draw findings for review")
    draw.add_argument("repository", help="owner/name")
    draw.add_argument("--commit", default="HEAD")
    draw.add_argument("--n", type=int, default=50)
    draw.add_argument("--seed", type=int, default=1)
    draw.add_argument("--source", type=Path, default=ROOT, help="the checkout of xlamig that is judged")
    draw.add_argument("--context", type=int, default=12, help="lines of source shown around each finding")
    draw.add_argument("-o", "--output", type=Path, help="the sheet")
    kept = commands.add_parser("store", parents=[sets], help="store the verdicts of a sheet")
    kept.add_argument("sheet", type=Path)
    kept.add_argument("--set", required=True, help="the set to store them in: a name, without .jsonl")
    kept.add_argument("--second", action="store_true", help="they are those of a second reader")
    held = commands.add_parser("check", parents=[common, sets], help="hold this version against the verdicts")
    both = commands.add_parser("agreement", parents=[sets], help="how far two readers agree")
    for command in (held, both):
        command.add_argument("--set", nargs="+", default=[], help="sets of findings, without .jsonl")
    held.add_argument("--split", action="append", choices=SPLITS)
    held.add_argument("--by", nargs="+", choices=tuple(report.GROUPS), default=[*TOTALS, "rule"])
    held.add_argument("--accept", action="store_true", help="take what is not as it should be as known")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(words)
    try:
        match arguments.command:
            case "sample":
                sample(arguments)
            case "store":
                store(arguments)
            case "check":
                arguments.split = arguments.split or list(SPLITS)
                return check(arguments)
            case _:
                agreement(arguments)
    except (MissingMirror, CheckFailed, BadRecord, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
