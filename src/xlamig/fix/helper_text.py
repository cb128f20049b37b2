"""The text of the helper module."""

from __future__ import annotations

MARKER = "# Written by xlamig: one place that decides which device this project runs on."


def is_helper(text: str) -> bool:
    """Return whether xlamig wrote the module, perhaps an earlier one."""
    return text.startswith(f"{MARKER}\n")


TEXT = f'''{MARKER}
"""The device to run on: TPU through torch_xla, then CUDA, then CPU."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

_GOOGLE = "0x1ae0"
_TPU_CHIPS = {{"0x0027", "0x0056", "0x005e", "0x0062", "0x0063", "0x006f", "0x0076"}}  # v2 ... 7x


def default_device(cuda_index: int | str | torch.device | None = None) -> torch.device:
    """The device of this process. `cuda_index`, or a device, matters on CUDA alone; None is the current one.

    Call it where the program starts, in the process that uses the device: not while a library is
    imported, and not in a launcher that starts one process per device.
    """
    if _use_xla():
        import torch_xla

        return torch_xla.device()
    if not torch.cuda.is_available():
        return torch.device("cpu")
    if cuda_index is None:
        return torch.device("cuda")
    return torch.device("cuda", cuda_index) if isinstance(cuda_index, int) else torch.device(cuda_index)


def current_accelerator(check_available: bool = False) -> torch.device | None:
    """`torch.accelerator.current_accelerator`, which does not know XLA."""
    if _use_xla():
        return default_device()
    return torch.accelerator.current_accelerator(check_available)


def accelerator_is_available() -> bool:
    """`torch.accelerator.is_available`, which does not know XLA."""
    return _use_xla() or torch.accelerator.is_available()


def device_count() -> int:
    """`torch.cuda.device_count`, which does not know XLA: a process has one device there."""
    return 1 if _use_xla() else torch.cuda.device_count()


def step_boundary(wait: bool = False) -> None:
    """The end of a step: run what was traced for XLA. Nothing happens where torch_xla is not in use."""
    if "torch_xla" in sys.modules:
        import torch_xla

        torch_xla.sync(wait=wait)


def wait_for_device(device: torch.device | int | None = None) -> None:
    """`torch.cuda.synchronize`, which does not know XLA. What was asked of the device is done then."""
    if _use_xla():
        step_boundary(wait=True)
    elif torch.cuda.is_available():
        torch.cuda.synchronize(device)


def seed_xla(seed: int) -> None:
    """Seed XLA's generator, which `torch.manual_seed` does not do."""
    if _use_xla():
        import torch_xla

        torch_xla.manual_seed(seed)


def run_on_host(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that runs on copies on the host where it is given XLA tensors; its results go to the device.

    XLA compiles a program for every shape: this is for code with shapes that depend on values. Gradients
    go through the copies. Tensors in lists, tuples and dictionaries are copied too, other objects are not.
    """

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        devices: list[torch.device] = []

        def to_host(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.device.type != "xla":
                return tensor
            if not devices:
                step_boundary()  # one execution computes all that is copied
            devices.append(tensor.device)
            return tensor.cpu()

        if "torch_xla" not in sys.modules:
            return function(*args, **kwargs)
        args, kwargs = _for_each_tensor((args, kwargs), to_host)
        result = function(*args, **kwargs)
        return _for_each_tensor(result, lambda tensor: tensor.to(devices[0])) if devices else result

    return run


def _for_each_tensor(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) is dict:
        return {{key: _for_each_tensor(item, change) for key, item in value.items()}}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_for_each_tensor(item, change) for item in value))
    if type(value) in (list, tuple):
        return type(value)(_for_each_tensor(item, change) for item in value)
    return value


@functools.cache
def _use_xla() -> bool:
    if importlib.util.find_spec("torch_xla") is None:
        return False
    asked_for = os.environ.get("PJRT_DEVICE", "")
    if asked_for == "CPU":
        # torch_xla sets this by itself where it finds no TPU; that must not take CUDA away.
        return not torch.cuda.is_available()
    return bool(asked_for) or _tpu_is_present()


def _tpu_is_present() -> bool:
    for vendor in Path("/sys/bus/pci/devices").glob("*/vendor"):
        try:
            if vendor.read_text().strip() == _GOOGLE:
                if vendor.with_name("device").read_text().strip() in _TPU_CHIPS:
                    return True
        except OSError:
            continue
    return False
'''
