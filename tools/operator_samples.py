"""Calls of public torch operators with sample arguments on the CPU, for the probes of both targets.

torch's own test suite holds them: OpInfo for functions and methods, ModuleInfo for modules. What it
leaves out, or shows without the arguments that matter, is in `operator_extras.py`. Needs torch and
expecttest.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch
from operator_aliases import means_the_same
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db

TRIED = 8  # samples that another name has to agree on
DTYPES = ("float32", "int64", "bool", "complex64", "bfloat16", "float16", "float64", "int32", "int8", "uint8")


@dataclass
class Sample:
    """One call: `function(*args, **kwargs)` with CPU tensors. `shown` are the arguments as data; those
    of a module are its constructor's, and `given` what it is called with."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    module: torch.nn.Module | None = None
    shown: tuple[list[Any], dict[str, Any]] = field(default_factory=lambda: ([], {}))
    given: tuple[list[Any], dict[str, Any]] | None = None


@dataclass
class Subject:
    """The samples of one entry of the test suite. `names` are the public names that reach the same operators
    with the same arguments; `inplace` is the name of the method that overwrites."""

    key: str
    names: tuple[str, ...]
    samples: Callable[[torch.dtype], Iterator[Sample]]
    dtypes: tuple[str, ...]
    inplace: str = ""
    inplace_function: Callable[..., Any] | None = None
    differentiable: bool = True


def subjects() -> Iterator[Subject]:
    """Every operator and module that can be sampled here, in a fixed order."""
    from operator_extras import EXTRAS  # type: ignore[import-not-found]  # beside this file

    seen: set[str] = set()
    for info in op_db:
        key = "op|" + info.name + (f"|{info.variant_test_name}" if info.variant_test_name else "")
        names = _names(info)
        if key in seen or not (names or info.inplace_variant):
            continue
        seen.add(key)
        yield _of_operator(key, names, info)
    for info in module_db:
        name = public_module(info.module_cls)
        yield Subject("module|" + name, (name,), _module_samples(info), _known(info.dtypes))
    for key, names, make in EXTRAS:
        yield Subject("extra|" + key, names, _extra_samples(make), ("float32",))


def distinct(samples: Iterator[Sample], limit: int, look_at: int = 400) -> list[Sample]:
    """Up to `limit` samples that differ in their constant arguments or in the number of dimensions."""
    found: dict[str, Sample] = {}
    for _, sample in zip(range(look_at), samples, strict=False):
        key = [
            _coarse(sample.shown),
            _coarse(sample.given),
            sample.module is not None and sample.module.training,
        ]
        found.setdefault(json.dumps(key, sort_keys=True), sample)
        if len(found) == limit:
            break
    return list(found.values())


def shown(value: Any) -> Any:
    """An argument as data: constants as they are, tensors as shape and type, the rest by type."""
    if isinstance(value, torch.Tensor):
        return {"shape": list(value.shape), "dtype": str(value.dtype).removeprefix("torch.")}
    if value is None or isinstance(value, bool | int | float | str):
        return value if value == value and value not in (float("inf"), -float("inf")) else str(value)
    if isinstance(value, list | tuple):
        return [shown(item) for item in value]
    if isinstance(value, torch.dtype | torch.device | torch.layout | torch.memory_format):
        return {"api": str(value)}
    return {"type": type(value).__name__}


def find(name: str) -> Any:
    """The object of a canonical name, `torch.median`, `Tensor.median`; None where there is none."""
    found: Any = torch
    for part in name.removeprefix("torch.").split("."):
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def public_module(cls: type) -> str:
    if getattr(torch.nn, cls.__name__, None) is cls:
        return f"torch.nn.{cls.__name__}"
    return f"{cls.__module__}.{cls.__name__}"


def _coarse(shown_arguments: tuple[Sequence[Any], Mapping[str, Any]] | None) -> Any:
    def coarse(value: Any) -> Any:
        if isinstance(value, dict) and "shape" in value:
            return [len(value["shape"]), 0 in value["shape"], value["dtype"]]
        if isinstance(value, list | tuple):
            return [coarse(item) for item in value]
        if isinstance(value, float):
            return "float"
        return value

    args, kwargs = shown_arguments or ([], {})
    return [coarse(list(args)), {key: coarse(value) for key, value in kwargs.items()}]


# ------------------------------------------------------------------------------- functions


# Deprecated, and only another name.
_MORE = {"nn.functional.interpolate": ("torch.nn.functional.upsample",)}


def _names(info: Any) -> tuple[str, ...]:
    """Return the names of the entry, with the aliases that really do the same."""
    found: dict[str, None] = {}
    for name in (info.name, *(alias.name for alias in info.aliases)):
        if "_aten" in name or name.startswith(("torch.ops", "_", "ops.")):
            continue
        full = name if name.startswith("torch.") else f"torch.{name}"
        if find(full) is not None:
            found[full] = None
        if "." not in name and callable(getattr(torch.Tensor, name, None)):
            found[f"Tensor.{name}"] = None
    if info.name.startswith("nn.functional."):
        leaf = info.name.rpartition(".")[2]
        if find(f"torch.{leaf}") is not None:  # torch.relu and F.relu
            found[f"torch.{leaf}"] = None
        if callable(getattr(torch.Tensor, leaf, None)):
            found[f"Tensor.{leaf}"] = None
    found |= dict.fromkeys(_MORE.get(info.name, ()))
    own = {f"torch.{info.name}", f"Tensor.{info.name}"}
    return tuple(name for name in found if name in own or _is_alias(name, info))


def _is_alias(name: str, info: Any) -> bool:
    function = find(name)
    if function is find(info.name) or not _known(info.dtypes):
        return True
    made = info.sample_inputs("cpu", getattr(torch, _known(info.dtypes)[0]), requires_grad=False)
    calls = ((info.op, (sample.input, *sample.args), dict(sample.kwargs)) for sample in made)
    return means_the_same(function, islice(calls, TRIED))


def _known(dtypes: Any) -> tuple[str, ...]:
    names = {str(dtype).removeprefix("torch.") for dtype in dtypes}
    return tuple(name for name in DTYPES if name in names)


def _of_operator(key: str, names: tuple[str, ...], info: Any) -> Subject:
    inplace = ""
    if info.inplace_variant is not None:
        inplace = f"Tensor.{getattr(info.inplace_variant, '__name__', info.name + '_')}"
        if find(inplace) is None:
            inplace = ""

    def samples(dtype: torch.dtype) -> Iterator[Sample]:
        for made in info.sample_inputs("cpu", dtype, requires_grad=False):
            args = (made.input, *made.args)
            kwargs = dict(made.kwargs)
            yield Sample(info.op, args, kwargs, None, _data(args, kwargs))

    return Subject(
        key,
        names,
        samples,
        _known(info.dtypes),
        inplace,
        info.inplace_variant if inplace else None,
        info.supports_autograd,
    )


# ------------------------------------------------------------------------------- modules


def _module_samples(info: Any) -> Callable[[torch.dtype], Iterator[Sample]]:
    def samples(dtype: torch.dtype) -> Iterator[Sample]:
        for training in (True, False):
            made_inputs = info.module_inputs_func(
                info, device="cpu", dtype=dtype, requires_grad=False, training=training
            )
            for made in made_inputs:
                if made.forward_input is None:
                    continue
                built, given = made.constructor_input, made.forward_input
                module = info.module_cls(*built.args, **built.kwargs).to(dtype).train(training)
                yield of_module(module, built.args, built.kwargs, given.args, given.kwargs)

    return samples


def of_module(
    module: torch.nn.Module,
    made_with: Sequence[Any],
    made_with_keywords: Mapping[str, Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
) -> Sample:
    """A call of a module, shown by the arguments of its constructor."""
    keywords = dict(kwargs or {})
    return Sample(
        module, tuple(args), keywords, module, _data(made_with, made_with_keywords), _data(args, keywords)
    )


def _extra_samples(make: Callable[[], Iterator[Sample]]) -> Callable[[torch.dtype], Iterator[Sample]]:
    return lambda dtype: make()


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Sample:
    """A sample of a function, for `operator_extras.py`."""
    return Sample(function, args, kwargs, None, _data(args, kwargs))


def evaluated(name: str, arguments: str) -> Sample:
    """A call of `name` with arguments as text: "n(3, 4), dim=1", or for a module "10, 4 | n(2, 3)", the
    constructor's before the bar; "10, 4 | eval: n(2, 3)" in evaluation."""
    function = find(name)
    scope = {
        "torch": torch,
        "nn": torch.nn,
        "inf": float("inf"),
        "r": torch.rand,
        "n": torch.randn,
        "i": _ids,
    }

    def made(text: str) -> Sample:
        sample: Sample = eval(f"call(function, {text})", scope | {"call": call, "function": function})
        return sample

    if not inspect.isclass(function):
        return made(arguments)
    constructor, _, given = arguments.partition(" | ")
    make = made(constructor)
    module = function(*make.args, **make.kwargs)
    if given.startswith("eval: "):
        given = given.removeprefix("eval: ")
        module.eval()
    forward = made(given)
    return of_module(module, make.args, make.kwargs, forward.args, forward.kwargs)


def _ids(high: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, high, shape)


def _data(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    return [shown(value) for value in args], {key: shown(value) for key, value in kwargs.items()}
