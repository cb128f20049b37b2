"""Regenerates `src/xlamig/knowledge/data/results.json`: what torch's operators return.

    PYTHONPATH=src PJRT_DEVICE=CPU python tools/operator_results.py

in an environment with torch 2.9.0. Each operator of torch's own test database is run on the samples that come
with it. A shape rule (`xlamig.flow.interp.shape_rules`) is that of an operator if it gives the shape of every
sample; a result type is "bool", "int", "float" or "complex" if every sample has it, "same" if it is that of
the first operand. A line of the table is

    "torch.add": "broadcast same"
"""

from __future__ import annotations

import datetime
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

warnings.filterwarnings("ignore")

import torch  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

from xlamig.flow.interp.operands import Operands  # noqa: E402
from xlamig.flow.interp.shape_rules import RULES  # noqa: E402
from xlamig.knowledge import signatures  # noqa: E402

PATH = Path(__file__).parents[1] / "src" / "xlamig" / "knowledge" / "data" / "results.json"
SAMPLES = 60  # of one operator and type
TYPES = (torch.float32, torch.int64, torch.bool)


def operands_of(name: str, sample: Any) -> Operands | None:
    """Return the arguments of a sample as a rule sees them; None for what a rule cannot see."""
    tensors: list[tuple[int, ...]] = []
    numbers: dict[str, Any] = {}
    known = signatures.signature(name) or signatures.signature(name.replace("torch.", "Tensor.", 1))
    given = (sample.input, *sample.args)
    names = known.positional if known is not None else ()
    method = name.startswith("Tensor.")
    for i, value in enumerate(given):
        at = i - method
        parameter = names[at] if 0 <= at < len(names) else "*"
        if parameter == "*" and known is not None and known.open and not isinstance(value, torch.Tensor):
            numbers.setdefault("*", []).append(value)
        else:
            _add(parameter, value, tensors, numbers)
    for parameter, value in sample.kwargs.items():
        _add(parameter, value, tensors, numbers)
    return Operands(tensors, {k: _plain(v) for k, v in numbers.items()})


def _add(parameter: str, value: Any, tensors: list[tuple[int, ...]], numbers: dict[str, Any]) -> None:
    if isinstance(value, torch.Tensor):
        tensors.append(tuple(value.shape))
    elif isinstance(value, list | tuple) and value and all(isinstance(v, torch.Tensor) for v in value):
        tensors.extend(tuple(v.shape) for v in value)
    else:
        numbers[parameter] = value


def _plain(value: Any) -> Any:
    return tuple(map(_plain, value)) if isinstance(value, list | tuple) else value


def runs(op: Any) -> Iterator[tuple[Any, Any, torch.dtype]]:
    """Yield samples with their results."""
    for dtype in TYPES:
        if dtype not in op.dtypes:
            continue
        try:
            samples = list(islice(op.sample_inputs("cpu", dtype), SAMPLES))
        except Exception:
            continue
        for sample in samples:
            try:
                yield sample, op.op(sample.input, *sample.args, **sample.kwargs), dtype
            except Exception:
                continue


def canonical(op: Any) -> list[str]:
    names = [f"torch.{op.name}"]
    if op.method_variant is not None and "." not in op.name:
        names.append(f"Tensor.{op.name}")
    return [name for name in names if signatures.signature(name) is not None]


def described(name: str, found: list[tuple[Any, Any, torch.dtype]]) -> str:
    results = [result for _, result, _ in found]
    pair = all(isinstance(result, tuple) and len(result) == 2 for result in results)
    if pair and all(isinstance(part, torch.Tensor) for result in results for part in result):
        results, prefix = [result[0] for result in results], "pair "
    elif all(isinstance(result, torch.Tensor) for result in results):
        prefix = ""
    else:
        return ""
    shape = next((rule for rule in RULES if _fits(rule, name, found, results)), "-")
    return f"{prefix}{shape} {_dtype(found, results)}"


def _fits(rule: str, name: str, found: list[tuple[Any, Any, torch.dtype]], results: list[Any]) -> bool:
    ranks = set()
    for (sample, _, _), result in zip(found, results, strict=True):
        given = operands_of(name, sample)
        if given is None or RULES[rule](given) != tuple(result.shape):
            return False
        ranks.add(result.dim())
    return True


def _dtype(found: list[tuple[Any, Any, torch.dtype]], results: list[Any]) -> str:
    pairs = {(dtype, _kind(result.dtype)) for (_, _, dtype), result in zip(found, results, strict=True)}
    kinds = {kind for _, kind in pairs}
    if len(kinds) == 1 and (kinds != {"float"} or len({d for d, _ in pairs}) > 1):
        return kinds.pop()
    return "same" if all(_kind(dtype) == kind for dtype, kind in pairs) else "-"


def _kind(dtype: torch.dtype) -> str:
    if dtype.is_complex:
        return "complex"
    return "bool" if dtype is torch.bool else "float" if dtype.is_floating_point else "int"


def main() -> None:
    started = time.monotonic()
    by_name: dict[str, list[Any]] = defaultdict(list)
    for op in op_db:
        found = list(runs(op))
        for name in canonical(op):
            by_name[name].extend(found)
        for alias in op.aliases:
            by_name[f"torch.{alias.name}"].extend(found)
    lines = {
        name: line for name, found in sorted(by_name.items()) if found and (line := described(name, found))
    }
    lines = {name: line for name, line in lines.items() if line.strip("- ") not in ("", "pair")}
    about = {
        "versions": {"torch": torch.__version__.partition("+")[0]},
        "date": datetime.date.today().isoformat(),
        "command": "PYTHONPATH=src PJRT_DEVICE=CPU python tools/operator_results.py",
        "method": "each operator of torch's test database is run on its samples; a rule holds if it fits all",
        "seconds": round(time.monotonic() - started, 1),
    }
    body = ",\n".join(f"{json.dumps(name)}: {json.dumps(line)}" for name, line in lines.items())
    PATH.write_text(f'{{\n"about": {json.dumps(about)},\n"results": {{\n{body}\n}}\n}}\n', "utf-8")
    print(
        len(lines),
        "names,",
        sum(not line.removeprefix("pair ").startswith("-") for line in lines.values()),
        "with a shape rule",
    )


if __name__ == "__main__":
    main()
