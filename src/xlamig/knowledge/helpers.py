"""The functions of the helper module that fixes write, by what they stand for on XLA."""

from __future__ import annotations

DEVICE = "default_device"
ACCELERATOR = "current_accelerator"
AVAILABLE = "accelerator_is_available"
BOUNDARY = "step_boundary"
COUNT = "device_count"
EVAL = "eval_mode"
HOST = "run_on_host"
PADDED = "run_padded"
SEED = "seed_xla"
UPDATES = "update_on_host"
WAIT = "wait_for_device"

_MEANINGS = {
    DEVICE: "torch_xla.device",
    ACCELERATOR: "torch_xla.device",
    BOUNDARY: "torch_xla.sync",
    SEED: "torch_xla.manual_seed",
    WAIT: "torch_xla.sync.wait",
}
FUNCTIONS = (*_MEANINGS, AVAILABLE, COUNT, EVAL, HOST, PADDED, UPDATES)

DOCSTRINGS = {
    DEVICE: "Return CUDA's device, or XLA's on a TPU host or with PJRT_DEVICE set, or else the CPU.",
    ACCELERATOR: "Return `torch.accelerator.current_accelerator()`, or XLA's device, which it does not know.",
    AVAILABLE: "Return `torch.accelerator.is_available()`, or True for XLA, which it does not know.",
    COUNT: "Return `torch.cuda.device_count()`, or 1 for XLA: a process has one device there.",
    BOUNDARY: "End the step: XLA runs what it has traced. Elsewhere nothing happens.",
    EVAL: "Put a module into evaluation mode, and give its BatchNorm layers a gradient on XLA.",
    HOST: "Run a function on the host where it is given XLA tensors, and return its results to the device.",
    PADDED: "Run an RNN on a padded batch as on its packed sequences, which XLA does not have.",
    SEED: "Seed XLA's generator, which `torch.manual_seed` leaves alone.",
    UPDATES: "Return a class of optimizer that updates XLA parameters on copies on the host.",
    WAIT: "Wait until the device has finished, as `torch.cuda.synchronize` does for CUDA.",
}
"""The comment of a script that cannot import a helper, above the functions it defines itself."""


def is_inline(function: str, docstring: object) -> bool:
    """xlamig wrote this definition into the file that uses it."""
    return function in DOCSTRINGS and DOCSTRINGS[function] == docstring


def inline_meaning(function: str, docstring: object) -> str:
    """The torch_xla function that such a definition calls; "" for other functions."""
    return _MEANINGS.get(function, "") if is_inline(function, docstring) else ""


def meaning(dotted: str, module: str) -> str:
    """The torch_xla function that `package.module.function` calls where XLA is; "" for other names."""
    owner, _, function = dotted.rpartition(".")
    return _MEANINGS.get(function, "") if owner.rpartition(".")[2] == module else ""
