"""The device helper that portable fixes call: its text, and where it goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

FUNCTION = "default_device"
MARKER = "# Written by xlamig: one place that decides which device this project runs on."

TEXT = f'''{MARKER}
"""The device to run on: TPU through torch_xla, then CUDA, then CPU."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import torch

_GOOGLE = "0x1ae0"
_TPU_CHIPS = {{"0x0027", "0x0056", "0x005e", "0x0062", "0x0063", "0x006f", "0x0076"}}  # v2 ... 7x


def {FUNCTION}(cuda_index: int | None = None) -> torch.device:
    """The device of this process. `cuda_index` matters on CUDA alone, None is the current device.

    Call it where the program starts, in the process that uses the device: not while a library is
    imported, and not in a launcher that starts one process per device.
    """
    if _use_xla():
        import torch_xla

        return torch_xla.device()
    if not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda") if cuda_index is None else torch.device("cuda", cuda_index)


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


@dataclass(frozen=True, slots=True)
class HelperPlace:
    """`filename` is where the helper belongs, `module` how the file under repair imports it."""

    filename: str
    module: str
    exists: bool


def helper_place(filename: str, name: str, package_root: Path | None) -> HelperPlace | None:
    """Where helper `name` goes for `filename`; None when another file has taken its place."""
    if package_root is None:
        folder, module = PurePath(filename).parent, name
    else:
        folder, module = _like(filename, package_root), f"{package_root.name}.{name}"
    path = folder / f"{name}.py"
    state = _state(Path(path))
    return None if state is None else HelperPlace(path.as_posix(), module, state)


def _like(filename: str, folder: Path) -> PurePath:
    """`folder` written as `filename` is: relative to the working directory, if that is."""
    if folder.is_absolute() and not PurePath(filename).is_absolute():
        here = Path.cwd()
        return folder.relative_to(here) if folder.is_relative_to(here) else folder
    return folder


def _state(path: Path) -> bool | None:
    """True: our helper is there; False: nothing is there; None: something else is."""
    try:
        if path.with_suffix("").is_dir():
            return None
        with path.open(encoding="utf-8") as file:
            return True if file.readline().rstrip() == MARKER else None
    except FileNotFoundError:
        return False
    except (OSError, UnicodeDecodeError):
        return None
