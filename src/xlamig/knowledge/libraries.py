"""How the sources of libraries are recognised that projects carry copies of."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

_MARKS = MappingProxyType(
    {
        "apex": ("amp/__init__.py", "multi_tensor_apply/__init__.py"),
        "deepspeed": ("runtime/engine.py", "ops/__init__.py"),
        "detectron2": ("modeling/__init__.py", "structures/__init__.py"),
        "diffusers": ("configuration_utils.py", "schedulers/__init__.py"),
        "fairseq": ("models/__init__.py", "tasks/__init__.py"),
        "mmcls": ("apis/__init__.py", "models/builder.py"),
        "mmcv": ("cnn/__init__.py", "image/__init__.py"),
        "mmdet": ("apis/__init__.py", "models/builder.py"),
        "mmdet3d": ("apis/__init__.py", "models/builder.py"),
        "mmengine": ("registry/__init__.py", "runner/__init__.py"),
        "mmseg": ("apis/__init__.py", "models/builder.py"),
        "tensorboardX": ("writer.py", "event_file_writer.py"),
        "timm": ("models/__init__.py", "data/auto_augment.py"),
        "transformers": ("configuration_utils.py", "modeling_utils.py"),
    }
)
"""By the name of a package, files that it holds."""


def is_copy(name: str, holds: Callable[[str], bool]) -> bool:
    """Return whether a folder of this name that holds certain files is a copy of a library's package."""
    return name in _MARKS and all(map(holds, _MARKS[name]))
