"""Regenerates `src/xlamig/knowledge/data/operators-torch_tpu.json`.

    python tools/operators_torch_tpu.py

in an environment with torch 2.13.0, torch_tpu 0.2.0 and expecttest. Needs no TPU; takes some minutes. The
probe's results are kept in `--cache`, so that a run which was interrupted goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import probing
import torch
from case_search import ABSENT, Seen, Test, fits
from operator_samples import Sample, Subject, call, distinct, subjects
from xla_names import remaining
from xla_verify import parameters

DATA = Path(__file__).parents[1] / "src" / "xlamig" / "knowledge" / "data"
SAMPLES, SAMPLES_OF_OTHER_TYPES, GRADIENTS, LOWERED = 32, 3, 32, 3


def all_subjects() -> Iterator[Subject]:
    sampled = list(subjects())
    yield from (*sampled, *remaining(sampled))


def jobs(only: str) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    for subject in all_subjects():
        if only in subject.key:
            yield subject.key, lambda subject=subject: probe(subject)


def probe(subject: Subject) -> dict[str, Any]:
    """All samples of a subject, by type; the first type is the one that its status rests on."""
    import tpu_trace

    found: dict[str, Any] = {
        "names": subject.names,
        "inplace": subject.inplace,
        "differentiable": subject.differentiable,
        "types": {},
    }
    for number, dtype in enumerate(subject.dtypes):
        try:
            limit = SAMPLES if number == 0 else SAMPLES_OF_OTHER_TYPES
            samples = distinct(subject.samples(getattr(torch, dtype)), limit)
        except Exception as error:
            found["types"][dtype] = [{"status": "untried", "error": f"no sample: {str(error)[:200]}"}]
            continue
        rows = []
        for index, sample in enumerate(samples):
            outcome = tpu_trace.forward(sample, lower=index < LOWERED)
            if _is_doubtful(outcome.error) and not _runs_on_cpu(sample):
                outcome = tpu_trace.Outcome("untried", "raises on the CPU too")
            if number == 0 and subject.differentiable and index < GRADIENTS and outcome.status == "ok":
                tpu_trace.backward(sample, outcome)
            rows.append(compact({"shown": sample.shown, "given": sample.given, **asdict(outcome)}))
        found["types"][dtype] = rows
        if number == 0 and subject.inplace_function is not None:
            found["inplace_rows"] = [_in_place(subject, sample) for sample in samples[:4]]
    return found


def _in_place(subject: Subject, sample: Sample) -> dict[str, Any]:
    import tpu_trace

    again = Sample(subject.inplace_function, sample.args, sample.kwargs, None, sample.shown)
    outcome = tpu_trace.forward(again, lower=False, clone=True)
    if _is_doubtful(outcome.error) and not _runs_on_cpu(again):
        outcome = tpu_trace.Outcome("untried", "raises on the CPU too")
    return compact({"shown": sample.shown, **asdict(outcome)})


def _is_doubtful(error: str) -> bool:
    return bool(error) and "is not implemented for TPU" not in error


def compact(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value not in ("", [], {}, None)}


class Confirm:
    """Return whether an argument decides: changing it alone has to change what happens."""

    def __init__(self) -> None:
        self._subjects = {subject.key: subject for subject in all_subjects()}

    def __call__(self, name: str, test: Test, seen: Sequence[Seen], outcome: str) -> bool:
        from tpu_rows import cause_of

        parameter, pattern = test
        inside = [s for s in seen if fits({parameter: pattern}, s.values)]
        outside = [s for s in seen if not fits({parameter: pattern}, s.values)]
        verdicts = []
        for mine, others, wanted in ((inside, outside, False), (outside, inside, True)):
            for s in mine[:2] if others else ():
                became = self._with(name, s, parameter, others[0].values.get(parameter, ABSENT))
                if became is not None:
                    verdicts.append((outcome in (became.outcome, cause_of(became))) == wanted)
        if verdicts:
            return all(verdicts)
        values = pattern if isinstance(pattern, list) else [pattern]  # cannot be changed: believe words
        return all(isinstance(value, str | bool | dict) for value in values)

    def _with(self, name: str, seen: Seen, parameter: str, value: Any) -> Seen | None:
        import tpu_trace
        from tpu_rows import judged

        if "key" not in seen.traits:  # of a form in place, only what was recorded is known
            return None
        subject = self._subjects[seen.traits["key"]]
        samples = distinct(subject.samples(getattr(torch, seen.traits["dtype"])), SAMPLES)
        changed = _changed(name, samples[seen.traits["index"]], parameter, value)
        if changed is None or not _runs_on_cpu(changed):
            return None
        row = compact({"shown": changed.shown, **asdict(tpu_trace.forward(changed, lower=False))})
        return judged(name, row, {})


def _changed(name: str, sample: Sample, parameter: str, value: Any) -> Sample | None:
    """The sample with another constant for a parameter; None where that cannot be written."""
    if sample.module is not None or isinstance(value, dict | list):
        return None
    names = parameters(name)
    position = names.index(parameter) if parameter in names else len(sample.args)
    args, kwargs = list(sample.args), dict(sample.kwargs)
    if position < len(args):
        if value == ABSENT and position < len(args) - 1:
            return None
        args[position:] = [] if value == ABSENT else [value, *args[position + 1 :]]
    elif value == ABSENT:
        kwargs.pop(parameter, None)
    else:
        kwargs[parameter] = value
    return call(sample.function, *args, **kwargs)


def _runs_on_cpu(sample: Sample) -> bool:
    args = [a.clone() if isinstance(a, torch.Tensor) else a for a in sample.args]  # it may write to them
    try:
        with torch.no_grad():
            sample.function(*args, **sample.kwargs)
    except Exception:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--cache", type=Path, default=Path(tempfile.gettempdir()) / "xlamig-operators-torch_tpu"
    )
    parser.add_argument("--only", default="", help="subjects whose key holds this text; writes no table")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one subject")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    path = options.cache / "probe.jsonl"
    if options.worker:
        probing.work(path, jobs(options.only))
        return
    command = [sys.executable, __file__, "--worker", "--cache", str(options.cache), "--only", options.only]
    probing.supervise(path, command, options.limit)
    records = list(probing.results(path).values())
    seconds = sum(record.get("seconds", 0) for record in records)
    print(f"{len(records)} subjects, {seconds:.0f} s, in {path}")
    if options.only:
        return
    import tpu_table

    table = tpu_table.build(records, seconds, Confirm())
    tpu_table.write(DATA / "operators-torch_tpu.json", table)
    print(json.dumps(table["about"], indent=1))


if __name__ == "__main__":
    main()
