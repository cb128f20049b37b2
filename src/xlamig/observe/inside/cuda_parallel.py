"""Data parallelism and process groups, as of one process with one GPU."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist

from .redirect import Redirect


def install(redirect: Redirect) -> None:
    for kind in (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel):
        _replace_wrapper(kind, redirect)
    torch.nn.parallel.DistributedDataParallel.no_sync = _no_sync
    functional = torch.nn.parallel
    functional.data_parallel = lambda module, inputs, *a, **k: module(*_as_tuple(redirect.move(inputs)))
    batch_norm: Any = torch.nn.modules.batchnorm._BatchNorm
    torch.nn.SyncBatchNorm.forward = batch_norm.forward
    if dist.is_available():
        _replace_process_groups(redirect)


def _replace_wrapper(kind: Any, redirect: Redirect) -> None:
    def init(self: Any, module: Any, device_ids: Any = None, *args: Any, **kwargs: Any) -> None:
        redirect.noted(kind.__name__)
        torch.nn.Module.__init__(self)
        self.module = module.to(redirect.device) if kind is torch.nn.DataParallel else module
        self.device_ids, self.dim, self.require_backward_grad_sync = [0], 0, True

    def forward(self: Any, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*redirect.move(inputs), **redirect.move(kwargs))

    kind.__init__, kind.forward = init, forward
    for name in ("train", "__getstate__", "__setstate__", "_set_static_graph", "register_comm_hook"):
        if name in vars(kind):
            delattr(kind, name)
    if not hasattr(kind, "_set_static_graph"):
        kind._set_static_graph = kind.register_comm_hook = lambda *args, **kwargs: None


@contextlib.contextmanager
def _no_sync(self: Any) -> Iterator[None]:
    yield


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _replace_process_groups(redirect: Redirect) -> None:
    start = dist.init_process_group

    @functools.wraps(start)
    def started(backend: Any = None, *args: Any, **kwargs: Any) -> Any:
        redirect.noted("torch.distributed.init_process_group")
        kwargs.pop("device_id", None)
        return start("gloo", *args, **kwargs)

    dist.init_process_group = dist.distributed_c10d.init_process_group = started
    redirect.replace(dist, "is_nccl_available", lambda: True)
    collectives: dict[str, Callable[..., Any]] = {
        "all_reduce": lambda tensor, *a, **k: None,
        "reduce": lambda tensor, *a, **k: None,
        "broadcast": lambda tensor, *a, **k: None,
        "all_gather": lambda outputs, tensor, *a, **k: outputs[0].copy_(tensor),
        "gather": lambda tensor, gather_list=None, *a, **k: gather_list and gather_list[0].copy_(tensor),
        "scatter": lambda tensor, scatter_list=None, *a, **k: scatter_list and tensor.copy_(scatter_list[0]),
        "all_gather_into_tensor": lambda output, tensor, *a, **k: output.copy_(tensor),
        "reduce_scatter_tensor": lambda output, tensor, *a, **k: output.copy_(tensor),
        "all_to_all_single": lambda output, tensor, *a, **k: output.copy_(tensor),
    }
    for name, local in collectives.items():
        real = getattr(dist, name)
        setattr(dist, name, _alone(name, real, local, redirect))
        setattr(dist.distributed_c10d, name, getattr(dist, name))


def _alone(
    name: str, real: Callable[..., Any], local: Callable[..., Any], redirect: Redirect
) -> Callable[..., Any]:
    """In a group of one process each collective is a copy at most."""

    @functools.wraps(real)
    def collective(*args: Any, **kwargs: Any) -> Any:
        if dist.get_world_size() > 1:
            return real(*args, **kwargs)
        redirect.noted(f"torch.distributed.{name}")
        local(*args, **{key: value for key, value in kwargs.items() if key != "async_op"})
        return _Done() if kwargs.get("async_op") else None

    return collective


class _Done:
    """The handle of a collective that has ended."""

    def wait(self, timeout: Any = None) -> bool:
        return True

    def is_completed(self) -> bool:
        return True
