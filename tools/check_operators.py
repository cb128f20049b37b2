"""Is what `xlamig ops` says true? Draws operators from the table and calls each on torch_xla.

    python tools/check_operators.py --count 200 --seed 1

in the environment of `operators_torch_xla.py`. The calls differ from the recorded ones: other sizes, other
values, and one in another floating-point type. Prints every disagreement and the share that agrees.
"""

from __future__ import annotations

import os

os.environ["PJRT_DEVICE"] = "CPU"

import argparse
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import torch
from case_search import fits
from operator_samples import Sample, Subject, find, subjects
from xla_names import remaining
from xla_pool import Pool
from xla_verify import CASES, bound
from xla_work import features, telling

from xlamig.knowledge.operators import Operator, operators

OTHER_SIZES = {"XS": 2, "S": 6, "M": 11, "L": 18}  # of the test suite's 3, 5, 10 and 20
OTHER_TYPES = ("float64", "bfloat16", "float16")
CALLS = 4


@dataclass(frozen=True)
class Verdict:
    name: str
    said: str
    disagreements: tuple[str, ...]
    calls: int
    worded: int  # calls that a case allows which only people can apply


def drawn(count: int, seed: int) -> list[Operator]:
    """Operators about which the table claims to know something."""
    known = [operator for operator in operators("torch_xla") if operator.status != "unknown"]
    return random.Random(seed).sample(known, min(count, len(known)))


def check(wanted: Sequence[Operator], cache: Path, jobs: int = 1) -> Iterator[Verdict]:
    """Calls every operator for real; one verdict each, also where no call was possible."""
    sampled = list(subjects())
    by_name: dict[str, list[Subject]] = {}
    for subject in (*sampled, *remaining(sampled)):
        for name in (*subject.names, *([subject.inplace] if subject.inplace else [])):
            by_name.setdefault(name, []).append(subject)
    pool = Pool(cache, jobs)
    for operator in wanted:
        pool.run(operator.name, _calls(operator.name, by_name.get(operator.name, [])))
    pool.finish()
    for operator in wanted:
        yield _verdict(operator, pool.records(operator.name))


def _calls(name: str, having: Sequence[Subject]) -> Callable[[set[str]], Iterator[dict[str, Any]]]:
    def work(done: set[str]) -> Iterator[dict[str, Any]]:
        import xla_measure

        xla_measure.start()
        _other_sizes()
        for number, (subject, dtype, sample) in enumerate(_samples(name, having)):
            call = f"{dtype}/{number}"
            if call in done:
                continue
            yield {"call": call}
            record = {"call": call, **features(sample), "dtype": dtype, "main": dtype == subject.dtypes[0]}
            try:
                yield record | xla_measure.measure(sample, False)
            except xla_measure.NotOnCpu as error:
                yield record | {"skipped": str(error)}

    return work


def _other_sizes() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.testing._internal"):
            for size, value in OTHER_SIZES.items():
                if isinstance(getattr(module, size, None), int):
                    setattr(module, size, value)


def _samples(name: str, having: Sequence[Subject]) -> Iterator[tuple[Subject, str, Sample]]:
    """Some samples of every subject, from the end of the order in which the table's were chosen."""
    left = CALLS * 2
    for subject in having:
        main = subject.dtypes[0]
        others = [dtype for dtype in OTHER_TYPES if dtype in subject.dtypes and dtype != main]
        for dtype, count in ((main, CALLS - 1), *((other, 1) for other in others[:1])):
            torch.manual_seed(7)
            try:
                made = telling(list(_some(subject.samples(getattr(torch, dtype)))))
            except Exception:
                continue
            for sample in made[max(0, len(made) // 2 - count) :][:count]:
                if left:
                    left -= 1
                    yield subject, dtype, _named(name, subject, sample)


def _some(samples: Iterator[Sample]) -> Iterator[Sample]:
    return (sample for _, sample in zip(range(60), samples, strict=False))


def _named(name: str, subject: Subject, sample: Sample) -> Sample:
    """The call by this very name, where it takes the same arguments."""
    if name == subject.inplace and subject.inplace_function is not None:
        return replace(sample, function=subject.inplace_function)
    function = find(name)
    if name == subject.names[0] or function is None or isinstance(function, type):
        return sample
    copies = tuple(
        a.clone() if isinstance(a, torch.Tensor) and a.layout == torch.strided else a for a in sample.args
    )
    try:
        function(*copies, **sample.kwargs)
    except Exception:
        return sample
    return replace(sample, function=function)


def _verdict(operator: Operator, records: Sequence[dict[str, Any]]) -> Verdict:
    ran = [r for r in records if "forward" in r or ("lost" in r and "call" in r)]
    wrong, worded = [], 0
    for record in ran:
        happened = record.get("forward", {"status": "error", "error": record.get("lost", "")})
        said, in_words = _said(operator, record)
        if _is_same(operator, happened, said):
            continue
        if _is_same(operator, happened, in_words):
            worded += 1
            continue
        shown = f"{record.get('args')} {record.get('kwargs')}"[:160]
        wrong.append(f"{happened} for {record['call']} {shown}; said {' or '.join(sorted(said | in_words))}")
    return Verdict(operator.name, operator.status, tuple(wrong), len(ran), worded)


def _is_same(operator: Operator, happened: dict[str, Any], allowed: set[str]) -> bool:
    status = happened["status"]
    if status == "wrong-result" and (operator.same_as or operator.name) in CASES["artefact"]:
        status = "fallback" if happened.get("aten") else "native"
    return status in allowed


def _said(operator: Operator, record: dict[str, Any]) -> tuple[set[str], set[str]]:
    """The statuses that the table gives a call: by its row and patterns, and by cases in words that may
    be about it."""
    values = bound(operator.same_as or operator.name, record.get("args", ()), record.get("kwargs", {}))
    base = "native" if operator.status == "conditional" else operator.status
    forward = [case for case in operator.cases if not case.backward]
    exact = {case.status for case in forward if case.when and fits(case.when, values)}
    worded = {case.status for case in forward if case.text and _may_hold(case.text, record)}
    return exact or {base}, worded


def _may_hold(text: str, record: dict[str, Any]) -> bool:
    """False where the words of a case are plainly about other calls."""
    text = text.replace("for some ", "for ")
    traits = {
        "empty tensors": record.get("empty", False),
        "without dimensions": record.get("dimensions") == 0,
        "in training": record.get("training", True),
        "in evaluation": not record.get("training", False),
    }
    for words, holds in traits.items():
        if words in text:
            return bool(holds)
    if text.startswith("for an input of"):
        return f"{record.get('dimensions')} dimension" in text
    if text.startswith("for ") and text.endswith(" tensors") and " " not in text[4:-8]:
        return bool(text[4:-8] == record.get("dtype"))
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--at-least", type=float, default=97.0, help="exit with 1 below this share, in percent"
    )
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    wanted = drawn(options.count, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        verdicts = list(check(wanted, Path(folder), options.jobs))
    called = [v for v in verdicts if v.calls]
    for verdict in called:
        for line in verdict.disagreements:
            print(f"{verdict.name} ({verdict.said}): {line}")
    agreed = sum(not v.disagreements for v in called)
    share = 100 * agreed / len(called) if called else 0.0
    worded = sum(bool(v.worded) for v in called)
    print(f"{agreed} of {len(called)} operators agree: {share:.1f} %; {sum(v.calls for v in called)} calls")
    print(f"{len(verdicts) - len(called)} could not be called; {worded} agree by a case in words")
    return 0 if share >= options.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
