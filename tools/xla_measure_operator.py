"""Measure one subject: all its samples under the first name, a few under the others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import torch
from operator_samples import Sample, Subject, distinct, find
from xla_pool import GRADIENT

LOOK_AT = 60
SAMPLES = 24  # of the main type
ODD = 6  # besides these, empty or without dimensions
OF_MODE = 6  # of a module in training, and in evaluation
OTHER_TYPES = {"float32": ("int64", "bool", "bfloat16", "float64"), "int64": ("bool",)}
OTHER_SAMPLES = 2
GRADIENTS = 6
UNDER_OTHER_NAMES = 3


def work_on(subject: Subject) -> Callable[[set[str]], Iterator[dict[str, Any]]]:
    """The work of a `xla_pool.Pool` for a subject."""

    def work(done: set[str]) -> Iterator[dict[str, Any]]:
        import xla_measure

        xla_measure.start()
        seen: dict[str, Sample] = {}
        for dtype, number, sample in samples_of(subject):
            call_id = f"{dtype}/{number}"
            few = 2 * OF_MODE if subject.key.startswith("module|") else GRADIENTS
            gradient = subject.differentiable and dtype in ("float32", "complex64") and number < few
            yield from _measured(
                call_id,
                subject.names[0] if subject.names else subject.inplace,
                dtype,
                sample,
                gradient,
                done,
                seen,
            )
        shown = list(seen.values())[:UNDER_OTHER_NAMES]
        for name in subject.names[1:]:
            for number, sample in enumerate(shown):
                yield from _measured(f"{name}/{number}", name, "", _under(name, sample), False, done, {})
        if subject.inplace_function is not None:
            for number, sample in enumerate(shown):
                other = replace(sample, function=subject.inplace_function)
                yield from _measured(
                    f"{subject.inplace}/{number}", subject.inplace, "", other, False, done, {}
                )

    def _measured(
        call_id: str,
        name: str,
        dtype: str,
        sample: Sample,
        gradient: bool,
        done: set[str],
        seen: dict[str, Sample],
    ) -> Iterator[dict[str, Any]]:
        if call_id in done:
            return
        known = {"call": call_id, "name": name, "dtype": dtype, **features(sample)}
        for record in records(sample, gradient, known):
            if "forward" in record:
                seen.setdefault(json.dumps(record["forward"], sort_keys=True), sample)
            yield record

    return work


def records(sample: Sample, gradient: bool, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the records that a `xla_pool.Pool` keeps of a call. The gradient is a record of its own, so that
    it can kill the process without taking the result along."""
    import xla_measure

    call = record["call"]
    yield {"call": call}
    try:
        for half, what in xla_measure.measure(sample, gradient):
            if half == "forward":
                yield record | {half: what}
            else:
                yield {"call": call + GRADIENT} | ({half: what} if half else {})
    except xla_measure.NotOnCpu as error:
        yield record | {"skipped": str(error)}


def samples_of(subject: Subject) -> Iterator[tuple[str, int, Sample]]:
    """(type, number, sample), the same ones each time."""
    if not subject.dtypes:
        return
    main = subject.dtypes[0]
    for dtype in (main, *(other for other in OTHER_TYPES.get(main, ()) if other in subject.dtypes)):
        torch.manual_seed(0)
        limit, odd = (SAMPLES, ODD) if dtype == main else (OTHER_SAMPLES, 0)
        if subject.key.startswith("in place|"):  # the other form tells the rest
            limit, odd = UNDER_OTHER_NAMES, 0
        try:
            found = _different(subject, getattr(torch, dtype))
        except Exception:
            continue
        ordered = telling(found)
        further = [sample for sample in ordered[limit:] if _is_odd(features(sample))]
        for number, sample in enumerate([*ordered[:limit], *further[:odd]]):
            yield dtype, number, sample


def _different(subject: Subject, dtype: torch.dtype) -> list[Sample]:
    """Return samples of a module, some in training and some in evaluation."""
    if not subject.key.startswith("module|"):
        return distinct(subject.samples(dtype), LOOK_AT)
    modes: list[list[Sample]] = [[], []]
    for sample in subject.samples(dtype):
        modes[sample.module is not None and not sample.module.training].append(sample)
    both = [distinct(iter(mode), OF_MODE) for mode in modes]
    return [sample for pair in zip_longest(*both) for sample in pair if sample is not None]


def telling(samples: list[Sample]) -> list[Sample]:
    """Ordinary ones first, and of these the ones that show an argument's value for the first time."""
    ordinary = sorted(samples, key=lambda sample: _is_odd(features(sample)))
    seen: set[str] = set()
    new, rest = [], []
    for sample in ordinary:
        values = set(_constants(features(sample)))
        (rest if values <= seen else new).append(sample)
        seen |= values
    return sorted(new + rest, key=lambda sample: _is_odd(features(sample)))


def _is_odd(known: Mapping[str, Any]) -> int:
    return 2 * known.get("empty", False) + (known.get("dimensions", 1) == 0)


def _constants(known: Mapping[str, Any]) -> Iterator[str]:
    yield str(known.get("dimensions"))
    for name, value in (*enumerate(known["args"]), *known["kwargs"].items()):
        yield f"{name}={'tensor' if isinstance(value, dict) and 'shape' in value else value}"


def features(sample: Sample) -> dict[str, Any]:
    """Return the features that a case may depend on: arguments as data, dimensions, whether a tensor is
    empty."""
    tensors = [a for a in (*sample.args, *sample.kwargs.values()) if isinstance(a, torch.Tensor)]
    known: dict[str, Any] = {"args": sample.shown[0], "kwargs": sample.shown[1]}
    if tensors:
        known["dimensions"] = tensors[0].dim()
        known["empty"] = any(t.numel() == 0 for t in tensors)
    if sample.module is not None:
        known["training"] = sample.module.training
    return known


def _under(name: str, sample: Sample) -> Sample:
    """The same call by another public name, if that one takes the same arguments."""
    function = find(name)
    if function is None or isinstance(function, type):
        return sample
    try:
        torch.manual_seed(0)
        function(*_copied(sample.args), **sample.kwargs)
    except Exception:
        return sample
    return replace(sample, function=function)


def _copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.clone() if isinstance(a, torch.Tensor) and a.layout == torch.strided else a for a in args)
