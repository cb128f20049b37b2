"""The public names of torch's operators, and sample calls for those that its test suite leaves out."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import torch
from operator_samples import Sample, Subject, call, evaluated, find, of_module
from torch import nn
from torch.overrides import get_testing_overrides

CALLS = tomllib.loads(Path(__file__).with_name("operator_calls.toml").read_text("utf-8"))
SIZES = {"rows": 3, "columns": 4}  # of plain arguments
SPACES = {
    "torch": torch,
    "torch.nn.functional": nn.functional,
    "torch.linalg": torch.linalg,
    "torch.fft": torch.fft,
    "torch.special": torch.special,
    "Tensor": torch.Tensor,
}
# They are containers or abstract, or do nothing to a tensor.
_NO_OPERATORS = frozenset(
    {"Container", "DataParallel", "Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList"}
    | {"RNNBase", "RNNCellBase", "Sequential", "SyncBatchNorm"}
    | {"has_torch_function", "save", "seed", "initial_seed", "manual_seed", "wait", "from_file"}
    | {
        "get_autocast_dtype",
        "get_device",
        "is_autocast_cpu_enabled",
        "is_autocast_enabled",
        "is_grad_enabled",
    }
    | {"register_hook", "register_post_accumulate_grad_hook", "module_load", "retain_grad", "backward"}
)

# Kernels of other libraries and of quantisation, which user code reaches through other names.
_INTERNAL = ("cudnn_", "fbgemm_", "miopen_", "mkldnn_", "q_", "quantized_", "sym_", "batch_norm_")


def public_names() -> list[str]:
    """Functions and methods that reach an operator, and the classes of torch.nn."""
    overridable = get_testing_overrides()
    found = set()
    for space, holder in SPACES.items():
        for word in dir(holder):
            value = getattr(holder, word, None)
            if word.startswith(("_", *_INTERNAL)) or word in _NO_OPERATORS:
                continue
            if not callable(value) or inspect.isclass(value):
                continue
            if value in overridable or hasattr(torch.ops.aten, word):
                found.add(f"{space}.{word}")
    for word in dir(nn):
        if (
            inspect.isclass(cls := getattr(nn, word))
            and issubclass(cls, nn.Module)
            and word not in _NO_OPERATORS
        ):
            found.add(f"torch.nn.{word}")
    return sorted(found)


def is_operator(name: str) -> bool:
    """Types and modules share the namespace: torch.float is no operator though there is a sample."""
    return callable(find(name)) and not isinstance(find(name), torch.dtype)


def remaining(sampled: Iterable[Subject]) -> Iterator[Subject]:
    """Subjects for what `sampled` leaves out: the written calls, and for public names without any, a form
    in place is called like the other one, the rest with plain arguments, if the CPU accepts any."""
    by_name: dict[str, Subject] = {}
    for subject in sampled:
        for name in (*subject.names, *([subject.inplace] if subject.inplace else [])):
            by_name.setdefault(name, subject)
    for name, calls in CALLS.items():
        yield Subject("call|" + name, (name,), partial(_written, name, calls), ("float32",))
    for name in public_names():
        if name in by_name or name in CALLS:
            continue
        function = find(name)
        base = by_name.get(name.removesuffix("_")) or by_name.get(
            "Tensor." + name.rpartition(".")[2].rstrip("_")
        )
        if name.endswith("_") and base is not None:
            yield _like(name, function, base)
        elif not inspect.isclass(function):
            yield Subject("plain|" + name, (name,), lambda dtype, f=function: _plain(f), ("float32",))
        elif name in _MODULES:
            yield Subject("plain|" + name, (name,), _MODULES[name], ("float32",))


def _written(name: str, calls: Sequence[str], dtype: torch.dtype) -> Iterator[Sample]:
    return (evaluated(name, call) for call in calls)


def _like(name: str, function: Any, base: Subject) -> Subject:
    def samples(dtype: torch.dtype) -> Iterator[Sample]:
        return (replace(sample, function=function) for sample in base.samples(dtype))

    return Subject("in place|" + name, (name,), samples, base.dtypes, differentiable=False)


def _plain(function: Any) -> Iterator[Sample]:
    rows, columns = SIZES["rows"], SIZES["columns"]
    x, square, line = torch.rand(rows, columns), torch.rand(columns, columns), torch.rand(columns)
    index = torch.randint(0, rows, (rows, columns))
    image, sequence = torch.rand(1, 4, 6, 6), torch.rand(1, 4, 6)
    plain: tuple[tuple[Any, ...], ...] = (
        (x,), (square,), (line,), (image,), (sequence,), (image, 2), (sequence, 2), (x, x), (square, square),
        (x, 0), (x, 0, 0), (x, 2), (x, [1, columns - 2, 1]), (x, (columns, rows)), (x, 0, index),
        (x, 0, index, x), (x, x, x),
        (line, x, line), (x, 0.5, 1.0), (image, torch.rand(2, 4, 3, 3), None, 1), (x, 0.5, True),
        (image, 0.5, True), (3,), (3, 4), (0, 5, 1), ([1.0, 2.0],), (torch.float32, torch.int64),
        (x, torch.float64),
    )  # fmt: skip
    accepted = 0
    for args in plain:
        try:
            with torch.no_grad():
                function(*(a.clone() if isinstance(a, torch.Tensor) else a for a in args))
        except Exception:
            continue
        yield call(function, *args)
        accepted += 1
        if accepted == 3:
            return


def _lazy(cls: Any, *made_with: Any, shape: tuple[int, ...]) -> Any:
    def samples(dtype: torch.dtype) -> Iterator[Sample]:
        # Made again for each call: a copy has lost the hooks that give it a shape.
        yield call(lambda x: cls(*made_with).to(x.device)(x), torch.rand(shape))

    return samples


_MODULES: Mapping[str, Any] = {
    "torch.nn.LazyLinear": _lazy(nn.LazyLinear, 3, shape=(2, 4)),
    "torch.nn.NLLLoss2d": lambda dtype: iter(
        [of_module(nn.NLLLoss2d(), (), {}, (torch.rand(1, 3, 2, 2), torch.zeros(1, 2, 2, dtype=torch.long)))]
    ),
    **{
        f"torch.nn.Lazy{kind}Norm{n}d": _lazy(getattr(nn, f"Lazy{kind}Norm{n}d"), shape=(2, 3, *[4] * n))
        for kind, n in product(("Batch", "Instance"), (1, 2, 3))
    },
}
