"""torch_tpu with no TPU attached: its device, its kernels in the mode that builds graphs, and small helpers.

In the mode `INTERNAL_COMPILE_FX_GRAPH` a placeholder tensor dispatches to the kernels of torch_tpu, which
check their arguments and build a graph; nothing is executed. Private names of torch_tpu 0.2.0.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

for name, value in {
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "true",
    "TPU_STDERR_LOG_LEVEL": "3",
    "TPU_MIN_LOG_LEVEL": "3",
}.items():
    os.environ.setdefault(name, value)
warnings.filterwarnings("ignore")

import torch  # noqa: E402
import torch_tpu  # noqa: E402, F401
from torch_tpu import _loader  # noqa: E402
from torch_tpu._internal import execution_mode  # noqa: E402

_loader._init_device("tpu")
from torch_tpu._internal.compile import tpu_torch_compile as compiler  # noqa: E402, F401

MODE = execution_mode.execution_mode_impl._EagerMode.INTERNAL_COMPILE_FX_GRAPH


READS = ("cannot record EventSnapshot", "cannot Materialize()")
NEEDS_DEVICE = ("failed to retrieve the PjRt client",)


class Untried(Exception):
    pass


def on_device(kwargs: dict[str, Any]) -> dict[str, Any]:
    if kwargs.get("device") is None:
        return kwargs
    return {**kwargs, "device": torch.device("tpu")}


def state_of(module: torch.nn.Module | None) -> dict[str, torch.Tensor]:
    if module is None:
        return {}
    return {name: t.detach() for name, t in (*module.named_parameters(), *module.named_buffers())}


def is_on_tpu(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "tpu"


def aten_name(func: Any) -> str:
    namespace, _, rest = str(func).partition(".")
    base, _, overload = rest.rpartition(".")
    return f"{namespace}::{base}" + ("" if overload == "default" else f".{overload}")


def has(text: str, parts: tuple[str, ...]) -> bool:
    return any(part in text for part in parts)


def text_of(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".split("\nException raised")[0][:400]
