"""Files that can import no helper define what they need."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from xlamig.fix.inline import inline_function
from xlamig.knowledge import helpers
from xlamig.syntax import module_from_text

Page = Callable[..., "object"]


def defined(page: Page, text: str, function: str = helpers.DEVICE, use: str = "USE") -> str | None:
    from xlamig.fix.edits import apply_edits

    made = page(text, home=None)
    found = inline_function(made.context, function, made.span(use))
    return apply_edits(text, found.edits) if found else None


@pytest.mark.parametrize(
    "text",
    [
        "default_device = 1\nUSE\n",
        "from other import default_device\nUSE\n",
        "def default_device():\n    return 'cpu'\nUSE\n",
        "def f():\n    def default_device(): ...\nUSE\n",
        "print(default_device)\nUSE\n",
    ],
)
def test_a_name_that_is_taken_is_refused(page: Page, text: str) -> None:
    assert defined(page, text) is None


def test_defines_a_function_below_the_imports(page: Page) -> None:
    text = defined(page, "import os\nos.environ['A'] = '1'\nimport torch\n\nx = 1\nUSE\n")
    assert text is not None
    assert text.startswith("import os\nos.environ['A'] = '1'\nimport torch\n\n\ndef default_device(")
    assert text.endswith('    return torch.device("cpu")\n\n\nx = 1\nUSE\n')


def test_defines_what_the_function_calls_as_well(page: Page) -> None:
    text = defined(page, "import torch\nUSE\n", helpers.SEED)
    assert text is not None and text.index("def default_device(") < text.index("def seed_xla(")
    assert defined(page, text, helpers.SEED) == text
    more = defined(page, text, helpers.BOUNDARY)
    assert more is not None and more.count("def ") == 3


def test_keeps_line_ends_and_indentation(page: Page) -> None:
    text = defined(page, "import torch\r\nif x:\r\n\ty = 1\r\nUSE\r\n")
    assert text is not None and "\n" not in text.replace("\r\n", "")
    assert "\r\n\timport os\r\n" in text
    module_from_text(text)


def run(page: Page, call: str, monkeypatch: pytest.MonkeyPatch, *, cuda: bool, xla: bool, env: str) -> object:
    """Return the result of `call` on stand-ins for torch and torch_xla."""
    function = call.partition("(")[0]
    text = defined(page, "import torch\nUSE = 1\n", function)
    assert text is not None
    torch = ModuleType("torch")
    torch.device = lambda name: SimpleNamespace(type=name.partition(":")[0], name=name)  # type: ignore[attr-defined]
    torch.cuda = SimpleNamespace(is_available=lambda: cuda, synchronize=lambda device: None)  # type: ignore[attr-defined]
    torch_xla = ModuleType("torch_xla")
    torch_xla.device = lambda: torch.device("xla:0")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch_xla", torch_xla)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if xla else None)
    monkeypatch.setenv("PJRT_DEVICE", env)
    space: dict[str, object] = {}
    exec(compile(text, "train.py", "exec"), space)
    return eval(call, space)


@pytest.mark.parametrize(
    ("host", "device"),
    [
        ({"cuda": False, "xla": False, "env": "TPU"}, "cpu"),
        ({"cuda": True, "xla": True, "env": "TPU"}, "cuda"),
        ({"cuda": False, "xla": True, "env": "TPU"}, "xla:0"),
        ({"cuda": False, "xla": True, "env": "CPU"}, "xla:0"),
    ],
)
def test_which_device(
    page: Page, host: dict[str, object], device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(page, "default_device()", monkeypatch, **host).name == device  # type: ignore[attr-defined, arg-type]


def test_a_cuda_device_keeps_its_number(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(page, "default_device(1)", monkeypatch, cuda=True, xla=False, env="")
    assert found.name == "cuda:1"  # type: ignore[attr-defined]


def test_every_function_has_a_definition(page: Page) -> None:
    for function in helpers.FUNCTIONS:
        text = defined(page, "import torch\nUSE\n", function)
        assert text is not None and f"def {function}(" in text


def test_somebody_elses_helper_file_is_not_touched(page: Page, tmp_path: Path) -> None:
    (tmp_path / "xla_compat.py").write_text("mine = 1\n")
    p = page('x.to("cuda")\n')
    draft = p.draft("device-literal", p.device('"cuda"'))
    assert draft is not None and not draft.creates
    assert any(edit.content.startswith("def default_device(") for edit in draft.edits)
