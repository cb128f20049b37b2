"""The text of the helper module."""

from __future__ import annotations

import ast
from textwrap import dedent

MARKER = "# Written by xlamig: one place that decides which device this project runs on."


def is_helper(text: str) -> bool:
    """Return whether xlamig wrote the module, perhaps an earlier one."""
    return text.startswith(f"{MARKER}\n")


def body_of(function: str) -> str:
    """Return the statements of a function of the helper below its docstring, without their indentation."""
    nodes = (node for node in ast.parse(TEXT).body if isinstance(node, ast.FunctionDef))
    (node,) = (node for node in nodes if node.name == function)
    return dedent("".join(TEXT.splitlines(keepends=True)[node.body[1].lineno - 1 : node.end_lineno]))


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


def eval_mode(module: torch.nn.Module) -> torch.nn.Module:
    """`module.eval()`, after which BatchNorm has a gradient on XLA too: torch_xla raises there."""
    for layer in module.modules():
        if type(layer).forward is torch.nn.modules.batchnorm._BatchNorm.forward:
            if _normalized not in layer._forward_hooks.values():
                layer.register_forward_hook(_normalized)
    return module.eval()


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


def run_padded(
    rnn: torch.nn.RNNBase,
    x: torch.Tensor,
    lengths: Any,
    batch_first: bool = False,
    state: Any = None,
    total_length: int | None = None,
) -> tuple[torch.Tensor, Any]:
    """Run an RNN on a padded batch as on its packed sequences, which XLA does not have.

    Returns the outputs, zero where a sequence has ended, and the last state of each sequence. On XLA the
    outputs are as long as `x`, elsewhere as the longest sequence or `total_length`. The cells of all steps
    are one graph, in both directions; a state stays as it is where there is padding.
    """
    lengths = torch.as_tensor(lengths).long()
    if x.device.type != "xla":
        utils = torch.nn.utils.rnn
        packed = utils.pack_padded_sequence(x, lengths.cpu(), batch_first, enforce_sorted=False)
        out, state = rnn(packed, state)
        return utils.pad_packed_sequence(out, batch_first, total_length=total_length)[0], state
    rows = x.transpose(0, 1) if batch_first else x
    inside = (torch.arange(len(rows), device=x.device)[:, None] < lengths.to(x.device))[..., None]
    is_lstm = rnn.mode == "LSTM"
    cell = getattr(torch, f"{{rnn.mode.lower()}}_cell")
    ways = ("", "_reverse") if rnn.bidirectional else ("",)
    kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")[: 4 if rnn.bias else 2]
    if state is None:
        zeros = rows.new_zeros(rnn.num_layers * len(ways), rows.size(1), rnn.hidden_size)
        state = (zeros, zeros) if is_lstm else zeros
    starts = state if is_lstm else (state,)
    lasts = []
    for layer in range(rnn.num_layers):
        outs = []
        for way in ways:
            weights = [getattr(rnn, f"{{kind}}_l{{layer}}{{way}}") for kind in kinds]
            held = tuple(one[len(lasts)] for one in starts)
            steps = range(len(rows))
            out = [held[0]] * len(rows)
            for t in reversed(steps) if way else steps:
                new = cell(rows[t], held, *weights) if is_lstm else (cell(rows[t], *held, *weights),)
                held = tuple(torch.where(inside[t], a, b) for a, b in zip(new, held))
                out[t] = torch.where(inside[t], held[0], 0)
            lasts.append(held)
            outs.append(torch.stack(out))
        rows = torch.cat(outs, -1)
        if rnn.dropout and layer < rnn.num_layers - 1:
            rows = torch.nn.functional.dropout(rows, rnn.dropout, rnn.training)
    states = tuple(map(torch.stack, zip(*lasts)))
    return rows.transpose(0, 1) if batch_first else rows, states if is_lstm else states[0]


def update_on_host(optimizer: Any) -> Any:
    """A class of optimizer that updates XLA parameters on copies on the host, where its state stays.

    This is for small models, and optimizers that read values or choose elements in every update: the
    device runs the closure alone. For other parameters it is the optimizer as it was.
    """

    def to_host(value):
        if type(value) is list:
            return [to_host(item) for item in value]
        return value.cpu() if isinstance(value, torch.Tensor) else value

    class OnHost(optimizer):
        def step(self, closure=None):
            lists = [group["params"] for group in self.param_groups]
            device = [parameter for parameters in lists for parameter in parameters]
            if not any(parameter.device.type == "xla" for parameter in device):
                return super().step() if closure is None else super().step(closure)
            import torch_xla

            def hold(new, old):
                rest = iter(new)
                for parameters in lists:
                    parameters[:] = [next(rest) for _ in parameters]
                for one, other in zip(new, old):
                    if other in self.state:
                        self.state[one] = self.state.pop(other)

            def copy(new, old, gradients=False):
                torch_xla.sync()  # one execution computes all that is copied
                with torch.no_grad():
                    for one, other in zip(new, old):
                        one.copy_(other)
                        if gradients:
                            one.grad = to_host(other.grad)

            def evaluate():
                copy(device, host)
                hold(device, host)
                with torch.enable_grad():
                    loss = closure()
                copy(host, device, gradients=True)
                hold(host, device)
                return to_host(loss)

            host = [torch.empty(one.shape, dtype=one.dtype) for one in device]
            copy(host, device, gradients=True)
            hold(host, device)
            for state in self.state.values():  # which a checkpoint puts on the device
                state.update({{key: to_host(value) for key, value in state.items()}})
            try:
                loss = super().step() if closure is None else super().step(evaluate)
            finally:
                hold(device, host)
            copy(device, host)
            return loss.to(device[0].device) if isinstance(loss, torch.Tensor) else loss

    OnHost.__name__ = OnHost.__qualname__ = optimizer.__name__
    return OnHost


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


def _normalized(layer: Any, args: Any, out: torch.Tensor) -> torch.Tensor:
    x, mean, scale = args[0], layer.running_mean, layer.weight
    if layer.training or mean is None or x.device.type != "xla":
        return out
    shape = (1, -1) + (1,) * (x.dim() - 2)
    factor = torch.rsqrt(layer.running_var + layer.eps)
    x = (x - mean.view(shape)) * (factor if scale is None else factor * scale).view(shape)
    return (x if scale is None else x + layer.bias.view(shape)).to(out.dtype)


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
