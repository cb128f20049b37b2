"""Second stage, per file: IR and the interfaces it depends on -> findings."""

from __future__ import annotations

import pickle

from xlamig import per_file
from xlamig.engine.jobs import Analysed, AnalyseJob


def analyse(job: AnalyseJob) -> Analysed:
    """Analyse one file. Nothing it raises is the file's fault."""
    from xlamig.engine.judging import report_on  # a run in which nothing has changed does without

    try:
        return report_on(job, pickle.loads(job.tree) if isinstance(job.tree, bytes) else job.tree)
    finally:
        per_file.forget()
