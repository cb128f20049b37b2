"""The results of torch's operators: a generated table, with reviewed rows on top."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

DType = Literal["bool", "int", "float", "complex", "same", "real", "numbers", ""]

_DATA = Path(__file__).parent / "data"
_PREFIXES = ("torch.", "Tensor.", "torch.nn.functional.", "torch.linalg.")


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an operator. `shape` names a rule of `interp.shape_rules`, "" for none; `dtype` "same" is
    that of the first operand, "real" that of its parts if it is complex, "numbers" that of the numbers it is
    made of; of a `pair` both are those of the first element."""

    shape: str = ""
    dtype: DType = ""
    pair: bool = False


UNKNOWN_RESULT = Result()


@cache
def result_of(name: str) -> Result:
    """Return the row of a canonical name, or of the function or method that has its last part."""
    exact = _rows().get(name)
    if exact is not None:
        return exact
    last = name.rpartition(".")[2].rstrip("_")
    found = (_rows().get(prefix + last) for prefix in _PREFIXES)
    row = next((row for row in found if row is not None), UNKNOWN_RESULT)
    in_place = name.endswith("_") and row is not UNKNOWN_RESULT
    return replace(row, dtype="same") if in_place else row  # `x.gt_(0)` writes into `x`


@cache
def _rows() -> dict[str, Result]:
    generated = json.loads((_DATA / "results.json").read_text("utf-8"))["results"]
    reviewed = tomllib.loads((_DATA / "results.toml").read_text("utf-8"))["results"]
    return {name: _parse(line) for name, line in {**generated, **reviewed}.items()}


def _parse(line: str) -> Result:
    """Return the row of "pair reduce same": `-` stands for what is not known."""
    *pair, shape, dtype = (word if word != "-" else "" for word in line.split())
    return Result(shape, dtype, bool(pair))  # type: ignore[arg-type]
