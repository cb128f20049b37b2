"""The process that scans one repository: `python -m xlamig.fleet.child RESULT` with a job on stdin.

It ends with its parent, whose death closes stdin.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import threading
from pathlib import Path

from xlamig import engine
from xlamig.fleet import store
from xlamig.fleet.job import Job
from xlamig.fleet.reading import SourceError, files_of
from xlamig.fleet.rows import Scanned, all_rows


def main() -> None:
    job, revision, scratch = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    status, error = scan_here(job, revision, scratch)
    result = Path(sys.argv[1])
    result.write_text(json.dumps([status, error]), encoding="utf-8")
    os._exit(0)  # the thread that waits for the parent's end is never joined


def scan_here(job: Job, revision: str, scratch: Path) -> tuple[str, str]:
    """Scan and store one repository; the status and what went wrong. Changes the working directory."""
    try:
        folder, missing = files_of(job.source, revision, scratch)
        os.chdir(folder)
        rows = all_rows(job, revision, _scan(job, missing))
    except (SourceError, engine.UsageError) as error:
        return "error", str(error)
    except MemoryError:
        return "memory", "the process ran out of memory"
    except OSError as error:
        return "disk" if store.is_full(error) else "error", _describe(error, scratch)
    except Exception as error:  # one repository never stops a scan
        return "error", f"internal error, please report it: {type(error).__name__}: {error}"
    try:
        store.write(job, rows)
    except OSError as error:
        return "disk", f"{job.out}: {_reason(error)}"
    return "ok", ""


def _describe(error: OSError, scratch: Path) -> str:
    """The error, without names that differ from run to run."""
    where = str(error.filename or "").replace(str(scratch), "scratch folder")
    return f"{where}: {_reason(error)}" if where else _reason(error)


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)


def _scan(job: Job, missing: int) -> Scanned:
    options = engine.Options(job.overrides, job.config, job.isolated, job.limits.cores, job.cache)
    inventory = engine.take_inventory([Path()], options)
    return Scanned(inventory, engine.show_settings(Path(), options).effort, missing)


def _end_with_parent() -> None:
    """Reads the descriptor: processes that the engine forks would wait for a lock held on `sys.stdin`."""
    while os.read(0, 1024):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
