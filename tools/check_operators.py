"""Is what `xlamig ops` says true? Draws operators from the table and calls each on torch_xla.

    python tools/check_operators.py --count 200 --seed 1

in the environment of `operators_torch_xla.py`. The calls are not the recorded ones: samples of torch's test
suite drawn by lot, of other sizes and values, one of them in bfloat16, with gradients; `check_judge.py` says
what each does. A call agrees only if the conditions that the table tells decide it. Prints every
disagreement, what is shown by an example only, and the operators of which the table knows nothing.
"""

from __future__ import annotations

import os

os.environ["PJRT_DEVICE"] = "CPU"

import argparse
import contextlib
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import torch
import xla_names
from check_ops_answers import ANY, said
from operator_samples import Sample, Subject, find, shown, subjects
from xla_measure_operator import features
from xla_pool import Pool
from xla_verify import CASES

from xlamig.knowledge.operators import Operator, operators

OTHER_SIZES = {"XS": 2, "S": 6, "M": 11, "L": 18}  # of the test suite's 3, 5, 10 and 20
OTHER_PLAIN_SIZES = {"rows": 5, "columns": 7}
CALLS = 4  # in the main type
LOOK_AT = 200


@dataclass(frozen=True)
class Verdict:
    operator: Operator
    calls: int
    gradients: int
    wrong: tuple[str, ...]
    unsure: tuple[str, ...]


def drawn(count: int, seed: int) -> tuple[list[Operator], list[Operator]]:
    """`count` operators about which the table claims to know something, and the unknown ones that were
    drawn on the way."""
    every = list(operators("torch_xla"))
    random.Random(seed).shuffle(every)
    known = [operator for operator in every if operator.status != "unknown"][:count]
    last = every.index(known[-1])
    return known, [operator for operator in every[:last] if operator.status == "unknown"]


def check(wanted: Sequence[Operator], cache: Path, jobs: int, seed: int) -> Iterator[Verdict]:
    """Calls every operator for real; one verdict each, also where no call was possible."""
    xla_names.SIZES.update(OTHER_PLAIN_SIZES)
    sampled = list(subjects())
    having: dict[str, list[Subject]] = {}
    for subject in (*sampled, *xla_names.remaining(sampled)):
        for name in (*subject.names, *([subject.inplace] if subject.inplace else [])):
            having.setdefault(name, []).append(subject)
    pool = Pool(cache, jobs)
    works = {o.name: Calls(o.name, having.get(o.name, []), seed) for o in wanted}
    for name, work in works.items():
        pool.run(name, work.all)
    pool.finish()
    for operator in wanted:
        work, records = works[operator.name], pool.records(operator.name)
        for record in records:
            # Some lowerings are right for the first call in a process only: what is wrong is asked again.
            if any(record.get(half, {}).get("status") == "wrong-result" for half in ("forward", "backward")):
                pool.run(f"{operator.name} {record['call']}", work.only(record["call"]))
        pool.finish()
        for index, record in enumerate(records):
            again = pool.records(f"{operator.name} {record.get('call')}")
            records[index] = next((r for r in again if "forward" in r), record)
        yield verdict(operator, records)


@dataclass(frozen=True)
class Calls:
    """The calls of one name, the same ones each time."""

    name: str
    having: Sequence[Subject]
    seed: int

    def all(self, done: set[str]) -> Iterator[dict[str, Any]]:
        return self._made(lambda call: call not in done)

    def only(self, call: str) -> Callable[[set[str]], Iterator[dict[str, Any]]]:
        return lambda done: self._made(lambda other: other == call and call not in done)

    def _made(self, wanted: Callable[[str], bool]) -> Iterator[dict[str, Any]]:
        import check_judge

        warnings.filterwarnings("ignore")
        torch.set_num_threads(1)
        _other_sizes()
        for number, (subject, dtype, sample) in enumerate(self._samples()):
            call = f"{dtype}/{number}"
            if not wanted(call):
                continue
            yield {"call": call}
            record = {"call": call, **features(sample), "dtype": dtype}
            record["given"] = [shown(value) for value in sample.args] if sample.module else []
            # Arguments first, so that a call that kills the process can be judged as well.
            yield {**record, "call": call + " arguments"}
            try:
                gradient = subject.differentiable and dtype == subject.dtypes[0]
                yield record | check_judge.judge(sample, self.seed, gradient)
            except check_judge.Unusable:
                yield record | {"skipped": True}

    def _samples(self) -> Iterator[tuple[Subject, str, Sample]]:
        lot = random.Random(f"{self.seed} {self.name}")
        having = list(self.having)
        lot.shuffle(having)
        for subject in having[:3]:
            types = [*subject.dtypes[:1] * CALLS, *(["bfloat16"] if "bfloat16" in subject.dtypes[1:] else [])]
            made: dict[str, list[Sample]] = {}
            for dtype in dict.fromkeys(types):
                torch.manual_seed(self.seed)
                made[dtype] = []
                # Some samples cannot be made in another size; those before them are kept.
                with contextlib.suppress(Exception):
                    made[dtype].extend(islice(subject.samples(getattr(torch, dtype)), LOOK_AT))
                lot.shuffle(made[dtype])
            for dtype in types:
                if made[dtype]:
                    yield subject, dtype, _named(self.name, subject, made[dtype].pop())


def _other_sizes() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.testing._internal"):
            for size, value in OTHER_SIZES.items():
                if isinstance(getattr(module, size, None), int):
                    setattr(module, size, value)


def _named(name: str, subject: Subject, sample: Sample) -> Sample:
    """The call by this very name, where it takes the same arguments."""
    if name == subject.inplace and subject.inplace_function is not None:
        return replace(sample, function=subject.inplace_function)
    function = find(name)
    if name == subject.names[0] or function is None or isinstance(function, type):
        return sample
    copies = [
        a.clone() if isinstance(a, torch.Tensor) and a.layout == torch.strided else a for a in sample.args
    ]
    try:
        function(*copies, **sample.kwargs)
    except Exception:
        return sample
    return replace(sample, function=function)


def verdict(operator: Operator, records: Sequence[dict[str, Any]]) -> Verdict:
    arguments = {r["call"].removesuffix(" arguments"): r for r in records if r.get("call", "").endswith("s")}
    wrong: list[str] = []
    unsure: list[str] = []
    calls = gradients = 0
    for record in records:
        if "lost" in record and record.get("call") in arguments:
            record = arguments[record["call"]] | {"forward": {"status": "error", "why": record["lost"]}}
        for half in ("forward", "backward"):
            if half not in record:
                continue
            happened = _excused(operator, record[half])
            expected = said(operator, record, half == "backward")
            if expected is None:
                continue
            calls += half == "forward"
            gradients += half == "backward"
            if any(_is_same(happened, one) for one in expected.sure):
                continue
            text = f"{record['args']} {record['kwargs']} {record['given'] or ''}"[:200]
            told = " or ".join(sorted({status for status, _ in expected.sure}))
            line = f"{half} {happened} for {record['dtype']} {text}; said {told}"
            (unsure if any(_is_same(happened, one) for one in expected.perhaps) else wrong).append(line)
    return Verdict(operator, calls, gradients, tuple(wrong), tuple(unsure))


def _excused(operator: Operator, happened: dict[str, Any]) -> dict[str, Any]:
    """Without what the table leaves out on purpose, see `operator_cases.toml`."""
    aten = [name for name in happened.get("aten", ()) if name not in CASES["cpu-client"]["aten"]]
    status = happened["status"]
    name = operator.same_as or operator.name
    plain = name.removeprefix("Tensor.").removesuffix("_")
    artefact = bool({name, plain, f"torch.{plain}"} & CASES["artefact"].keys())
    if status == "fallback" or (status == "wrong-result" and artefact):
        status = "fallback" if aten else "native"
    return {"status": status, "aten": aten, "why": happened.get("why", "")}


def _is_same(happened: dict[str, Any], one: tuple[str, tuple[str, ...]]) -> bool:
    """A fallback has to be of an operator that is named."""
    status, aten = one
    if happened["status"] != status:
        return False
    return status != "fallback" or aten == ANY or bool(set(happened["aten"]) & set(aten))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--names", nargs="+", default=(), help="these operators instead of drawn ones")
    parser.add_argument(
        "--at-least", type=float, default=97.0, help="exit with 1 below this share, in percent"
    )
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    wanted, unknown = drawn(options.count, options.seed)
    if options.names:
        wanted, unknown = [operators("torch_xla")[name] for name in options.names], []
    with tempfile.TemporaryDirectory() as folder:
        verdicts = list(check(wanted, Path(folder), options.jobs, options.seed))
    for v in verdicts:
        for word, lines in (("WRONG", v.wrong), ("example", () if v.wrong else v.unsure)):
            for line in lines:
                print(f"{word} {v.operator.name} ({v.operator.status}): {line}")
    called = [v for v in verdicts if v.calls]
    wrong = [v for v in called if v.wrong]
    unsure = [v for v in called if v.unsure and not v.wrong]
    agreed = len(called) - len(wrong) - len(unsure)
    share = 100 * agreed / len(called) if called else 0.0
    calls, gradients = sum(v.calls for v in called), sum(v.gradients for v in called)
    print(f"{agreed} of {len(called)} operators agree: {share:.1f} %; {calls} calls, {gradients} gradients")
    print(f"{len(wrong)} disagree, {len(unsure)} are told by an example only, which counts as no agreement")
    missed = [v.operator.name for v in verdicts if not v.calls]
    print(f"not called: {len(missed)} {missed}")
    print(f"drawn besides, and unknown: {len(unknown)} {[operator.name for operator in unknown]}")
    return 0 if share >= options.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
