"""Recall of `xlamig check` on the lines that people changed when they ported public code to XLA.

    python -m benchmarks.ports --mirror DIR --split dev

Each port is checked as it was before: the labelled files alone. Recall is the share of labels that are real
today, and that an analyser could know, with a finding within a line.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.ports.labels import LABELS
from benchmarks.ports.score import missed, score, tables
from benchmarks.split import SPLITS


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ports",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--mirror", type=Path, required=True, help="folder of git directories owner+name/repo"
    )
    parser.add_argument("--labels", type=Path, default=LABELS)
    parser.add_argument("--split", choices=SPLITS, help="one half; of `test`, totals alone are printed")
    args = parser.parse_args()
    results = [one for one in score(args.mirror.resolve(), args.labels) if args.split in (None, one.half)]
    for row in (*tables(results), *missed(results)):
        print(row)


if __name__ == "__main__":
    main()
