"""The helper runs here on stand-ins for torch and torch_xla."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from xlamig.fix import helper, helper_text
from xlamig.knowledge import helpers

Decide = Callable[..., str]


@pytest.fixture
def decide(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Decide:
    def run(
        *,
        xla: bool,
        cuda: bool = False,
        env: str | None = None,
        pci: tuple[str, str] | None = None,
        index: int | str | None = None,
    ) -> str:
        torch = ModuleType("torch")
        torch.device = lambda *name: ":".join(map(str, name))  # type: ignore[attr-defined]
        torch.cuda = SimpleNamespace(is_available=lambda: cuda)  # type: ignore[attr-defined]
        torch_xla = ModuleType("torch_xla")
        torch_xla.device = lambda: "xla:0"  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "torch", torch)
        monkeypatch.setitem(sys.modules, "torch_xla", torch_xla)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if xla else None)
        monkeypatch.delenv("PJRT_DEVICE", raising=False)
        if env is not None:
            monkeypatch.setenv("PJRT_DEVICE", env)
        if pci is not None:
            slot = tmp_path / "0000:00:05.0"
            slot.mkdir()
            (slot / "vendor").write_text(f"{pci[0]}\n")
            (slot / "device").write_text(f"{pci[1]}\n")
        space: dict[str, object] = {"__name__": "xla_compat"}
        text = helper.TEXT.replace("/sys/bus/pci/devices", tmp_path.as_posix())
        exec(compile(text, "xla_compat.py", "exec"), space)
        return space[helpers.DEVICE](*([] if index is None else [index]))  # type: ignore[operator]

    return run


@pytest.mark.parametrize(
    ("host", "device"),
    [
        ({"xla": False}, "cpu"),
        ({"xla": True}, "cpu"),  # installed, but nothing to run it on
        ({"xla": False, "env": "TPU"}, "cpu"),
        ({"xla": False, "cuda": True}, "cuda"),
        ({"xla": True, "cuda": True}, "cuda"),
        ({"xla": True, "cuda": True, "env": "CPU"}, "cuda"),  # torch_xla sets this itself
        ({"xla": True, "cuda": True, "pci": ("0x1ae0", "0x0042")}, "cuda"),  # Google's network card
        ({"xla": True, "cuda": True, "pci": ("0x10de", "0x0063")}, "cuda"),
        ({"xla": True, "env": "CPU"}, "xla:0"),
        ({"xla": True, "cuda": True, "env": "TPU"}, "xla:0"),
        ({"xla": True, "pci": ("0x1ae0", "0x0063")}, "xla:0"),
    ],
)
def test_which_device(decide: Decide, host: dict[str, object], device: str) -> None:
    assert decide(**host) == device


def test_text_starts_with_the_marker() -> None:
    assert helper.TEXT.splitlines()[0] == helper_text.MARKER


def test_a_folder_of_that_name_stands_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "xla_compat").mkdir()
    assert helper.helper_place(tmp_path, "", "xla_compat") is None


@pytest.mark.parametrize("index", [1, "cuda:1"])
def test_what_chose_a_gpu_still_does(decide: Decide, index: int | str) -> None:
    assert decide(xla=False, cuda=True, index=index) == "cuda:1"
    assert decide(xla=True, env="TPU", index=index) == "xla:0"
    assert decide(xla=False, index=index) == "cpu"
