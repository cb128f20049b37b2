"""Writes down the losses of a program and, per step, what XLA did.

Never imports torch_xla. Loss tensors are read when the program has ended, so that no step pays for it. A
controlled run has no dropout and no autocast, and noise comes from the CPU's generator, whatever the device.
"""

from __future__ import annotations

import atexit
import json
import os
import random
import sys
import traceback
from pathlib import Path
from typing import Any

import cuda_as_cpu
import torch
from torch.optim import optimizer
from torch.overrides import TorchFunctionMode

MOST_LOSSES = 64
NOISE = (
    "rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal", "bernoulli",
    "multinomial", "poisson",
)  # fmt: skip
METHODS = (
    "normal_", "uniform_", "bernoulli_", "exponential_", "random_", "cauchy_", "geometric_", "log_normal_",
    "bernoulli", "multinomial",
)  # fmt: skip
DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
INITS = [f for name, f in vars(torch.nn.init).items() if name.endswith("_") and not name.startswith("_")]
MAKING = frozenset(getattr(torch, name) for name in ("rand", "randn", "randint", "randperm"))
DRAWING = frozenset([getattr(torch, n) for n in NOISE] + [getattr(torch.Tensor, n) for n in METHODS] + INITS)
DROPPING = frozenset([getattr(torch.nn.functional, name) for name in DROPOUTS] + [torch.dropout])


def is_xla(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        value = value.device
    kind = value.type if isinstance(value, torch.device) else value
    return isinstance(kind, str) and kind.startswith("xla")


class Chance(TorchFunctionMode):
    """Notes what is drawn on the device; `controlled`, it is not."""

    def __init__(self, controlled: bool) -> None:
        super().__init__()
        self.controlled = controlled
        self.drawn = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in MAKING and kwargs.get("device") is None and kwargs.get("out") is None:
            kwargs["device"] = torch.get_default_device()
        on_device = any(map(is_xla, (*args, *kwargs.values())))
        if func in DROPPING:
            self.drawn = self.drawn or on_device
            if self.controlled:
                return args[0] if args else kwargs["input"]
        elif func is torch.nn.functional.scaled_dot_product_attention and kwargs.get("dropout_p"):
            self.drawn = self.drawn or on_device
            kwargs["dropout_p"] = 0.0 if self.controlled else kwargs["dropout_p"]
        elif func is torch.nn.functional.multi_head_attention_forward and kwargs.get("training", True):
            self.drawn = self.drawn or on_device
            kwargs["training"] = not self.controlled  # which turns nothing but the dropout off
        elif func in DRAWING and on_device:
            self.drawn = True
            if self.controlled:
                return _on_the_host(func, args, kwargs)
        return func(*args, **kwargs)


def watch_autocast(chance: Chance) -> None:
    """Autocast to bfloat16 on XLA rounds in another order than on the CPU; `controlled`, there is none."""
    make = torch.amp.autocast_mode.autocast.__init__

    def made(self: Any, device_type: str, dtype: Any = None, enabled: bool = True, **more: Any) -> None:
        chance.drawn = chance.drawn or (enabled and is_xla(device_type))
        make(self, device_type, dtype, enabled and not chance.controlled, **more)

    torch.amp.autocast_mode.autocast.__init__ = made


def watch_scaler(observer: Observer) -> None:
    """Note the loss before a scaler multiplies it: no scaler is enabled on XLA in what is fixed."""
    scale = torch.amp.GradScaler.scale

    def scaled(self: Any, outputs: Any) -> Any:
        observer.loss(outputs)
        result = scale(self, outputs)
        observer.scaled = result
        return result

    torch.amp.GradScaler.scale = scaled


def _on_the_host(func: Any, args: Any, kwargs: Any) -> Any:
    given = next(value for value in (*args, *kwargs.values()) if is_xla(value))
    device = given.device if isinstance(given, torch.Tensor) else given
    drawn = func(*map(_host, args), **{name: _host(value) for name, value in kwargs.items()})
    if not func.__name__.endswith("_"):
        return drawn.to(device)
    with torch.no_grad():
        return given.copy_(drawn)


def _host(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.cpu()
    return "cpu" if is_xla(value) else value


def counters() -> dict[str, float]:
    if "torch_xla" not in sys.modules:
        return {}
    import torch_xla.debug.metrics as metrics

    counted = {name: metrics.counter_value(name) or 0 for name in metrics.counter_names()}
    read = metrics.metric_data("TransferFromDeviceTime")
    return {
        "compiles": counted.get("UncachedCompile", 0),
        "executions": counted.get("ExecuteComputation", 0),
        "reads": read[0] if read else 0,
    }


class Observer:
    def __init__(self, out: Path, most: int, chance: Chance) -> None:
        self.out, self.most, self.chance = out, most, chance
        self.process = os.getpid()
        self.losses: list[torch.Tensor] = []
        self.steps: list[dict[str, float]] = []
        self.error: dict[str, Any] | None = None
        self.optimizer: optimizer.Optimizer | None = None  # the first to step: its updates count
        self.scaled: Any = None  # a loss that is noted already

    def loss(self, tensors: Any) -> None:
        if isinstance(tensors, torch.Tensor) and tensors.numel() == 1 and len(self.losses) < MOST_LOSSES:
            self.losses.append(tensors.detach())

    def step(self, updated: optimizer.Optimizer, *_: Any) -> None:
        """Before an update; after the most, the program ends. Updates before any gradient are no steps, nor
        are those of further optimizers."""
        self.optimizer = self.optimizer or updated
        if not self.losses or updated is not self.optimizer:
            return
        self.steps.append(counters())
        if len(self.steps) > self.most:
            sys.stdout.flush()
            self.finish()
            os._exit(0)

    def failed(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(trace)]
        self.error = {"type": kind.__name__, "message": str(error)[:300], "frames": frames}
        sys.__excepthook__(kind, error, trace)

    def finish(self) -> None:
        if os.getpid() != self.process:
            return
        totals = counters()
        devices = sorted({loss.device.type for loss in self.losses})
        never_ran = "xla" in devices and not totals.get("executions")
        found = {
            "losses": [] if never_ran else [float(loss) for loss in self.losses],
            "devices": devices,
            "steps": self.steps,
            "totals": totals,
            "drawn": self.chance.drawn,
            "error": self.error,
        }
        self.out.write_text(json.dumps(found))


def trust_data() -> None:
    """Let torchvision read data that is not the published one: it compares MD5 sums."""
    from torchvision.datasets import cifar, utils

    for module in (cifar, utils):
        module.check_integrity = lambda path, md5=None: Path(path).is_file()


def start() -> Observer:
    """Observe this process, as the variables `MIGRATE_*` say."""
    if os.environ.get("MIGRATE_TRUST_DATA"):
        trust_data()
    if os.environ.get("MIGRATE_CUDA_AS_CPU"):
        cuda_as_cpu.install()
    return install(
        Path(os.environ["MIGRATE_OUT"]), int(os.environ["MIGRATE_STEPS"]), "MIGRATE_CONTROLLED" in os.environ
    )


def install(out: Path, most: int, controlled: bool) -> Observer:
    random.seed(0)
    torch.manual_seed(0)
    try:
        import numpy

        numpy.random.seed(0)
        sequence = numpy.random.SeedSequence  # of environments that nobody seeds
        numpy.random.SeedSequence = lambda entropy=None, **more: sequence(
            0 if entropy is None else entropy, **more
        )
    except ImportError:
        pass
    chance = Chance(controlled)
    observer = Observer(out, most, chance)
    watch_autocast(chance)
    watch_scaler(observer)
    backward = torch.autograd.backward

    def watched(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if tensors is not observer.scaled:
            observer.loss(tensors)
        observer.scaled = None
        return backward(tensors, *args, **kwargs)

    torch.autograd.backward = watched
    optimizer.register_optimizer_step_pre_hook(observer.step)
    chance.__enter__()
    sys.excepthook = observer.failed
    atexit.register(observer.finish)
    return observer
