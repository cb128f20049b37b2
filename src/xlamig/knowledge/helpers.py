"""The functions of the helper module that fixes write, by what they stand for on XLA."""

from __future__ import annotations

DEVICE = "default_device"
ACCELERATOR = "current_accelerator"
AVAILABLE = "accelerator_is_available"
BOUNDARY = "step_boundary"
SEED = "seed_xla"
WAIT = "wait_for_device"

_MEANINGS = {
    DEVICE: "torch_xla.device",
    ACCELERATOR: "torch_xla.device",
    BOUNDARY: "torch_xla.sync",
    SEED: "torch_xla.manual_seed",
    WAIT: "torch_xla.core.xla_model.wait_device_ops",
}
FUNCTIONS = (*_MEANINGS, AVAILABLE)


def meaning(dotted: str, module: str) -> str:
    """The torch_xla function that `package.module.function` calls where XLA is; "" for other names."""
    owner, _, function = dotted.rpartition(".")
    return _MEANINGS.get(function, "") if owner.rpartition(".")[2] == module else ""
