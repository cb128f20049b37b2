"""GPU scripts of public repositories, migrated by `xlamig check --fix --unsafe-fixes` alone, and run.

Each script runs seeded for a few steps: as it is on the CPU; after `--fix` alone on the CPU; after
`--fix --unsafe-fixes` on torch_xla's CPU client and, unless the strategy is native, on the CPU. Compared are
the losses handed to `backward()`, and what XLA did per step. Where random numbers were drawn on the device or
autocast computed in bfloat16 there, losses are compared between two more runs with dropout and autocast off
and noise from the CPU's generator on both sides. Nothing outside a temporary folder is written.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.scripts.cases import MANIFEST, of_files, of_manifest
from benchmarks.scripts.results import RESULTS, Results, line, summary
from benchmarks.scripts.runs import Bench
from benchmarks.scripts.servers import Server
from benchmarks.split import SPLITS


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "scripts", nargs="*", type=Path, help="files; without any, the scripts of the manifest"
    )
    parser.add_argument(
        "--whole", action="store_true", help="copy the folder of each file as well, for what it imports"
    )
    parser.add_argument("--mirror", type=Path, help="folder of git directories named owner+name/repo")
    parser.add_argument("--manifest", type=Path, default=MANIFEST)
    parser.add_argument(
        "--only", nargs="+", metavar="ID", help="these scripts of the manifest, in this order"
    )
    parser.add_argument("--split", choices=SPLITS, help="one half; of `test`, totals alone are printed")
    parser.add_argument("--python", default=sys.executable, help="one with torch, torch_xla and requirements")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--strategy", choices=("portable", "native"), default="portable")
    parser.add_argument("--limit", type=int, default=240, help="CPU seconds per run")
    parser.add_argument("--quick", action="store_true", help="leave out the runs of fixed code on the CPU")
    parser.add_argument("--keep", type=Path, help="a folder for the copies, to look at them")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file to store the results in")
    parser.add_argument("--resume", action="store_true", help="leave out what the file has of this xlamig")
    args = parser.parse_args()
    if not args.scripts and not args.mirror:
        parser.error("the manifest needs --mirror; name files to migrate your own")
    chosen = of_files(args.scripts, args.whole) if args.scripts else of_manifest(args.manifest)
    if unknown := set(args.only or ()) - {script.id for script in chosen}:
        parser.error(f"not in the manifest: {', '.join(sorted(unknown))}")
    if args.only:
        chosen = sorted((s for s in chosen if s.id in args.only), key=lambda s: args.only.index(s.id))
    chosen = [s for s in chosen if args.split in (None, s.half)]
    stored = Results(None if args.scripts else args.results, args.resume)
    python = str(Path(shutil.which(args.python) or args.python).absolute())
    servers = Server(python, xla=False), Server(python, xla=True)
    mirror = args.mirror and args.mirror.resolve()
    print(
        "compilations/executions/reads per step; worst of the first losses (*: without chance and autocast);"
    )
    print("CPU: losses unchanged by --fix, by --fix --unsafe-fixes")
    with tempfile.TemporaryDirectory() as temporary:
        work = (args.keep or Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        bench = Bench(python, *servers, args.steps, args.limit, work, args.strategy, mirror, args.quick)
        for script in chosen:
            result = stored.get(script.id) or stored.add(bench.migrate(script))
            if not script.repo or script.half == "dev":
                print(line(result), flush=True)
    for server in servers:
        server.close()
    for row in summary([stored.by_id[script.id] for script in chosen]):
        print(row)


if __name__ == "__main__":
    main()
