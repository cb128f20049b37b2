"""The ports of the suite: thirty that are right, thirty with one planted bug each."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

from xlamig.fix.helper_text import TEXT

HERE = Path(__file__).parent
_DEVICE = re.compile(r"^device = .*$", re.MULTILINE)
_IMPORTS = re.compile(r"((?:^(?:import|from) .*\n|^\n)+)", re.MULTILINE)
Changes = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Case:
    """`files` by name; `train.py` is the port, and `original.py`, if there is one, its reference."""

    name: str
    right: bool
    files: dict[str, str]


def cases() -> Iterator[Case]:
    """By program: the right ports, then those with a bug."""
    table = tomllib.loads((HERE / "cases.toml").read_text())
    for name, program in table["program"].items():
        original = (HERE / "programs" / f"{name}.py").read_text()
        needed = program.get("port", [])
        reference = {"original.py": original}
        for style, make in (("native", _native), ("function", _function)):
            yield Case(f"{name}/{style}", True, {"train.py": make(original, program, needed), **reference})
        helped = _helper(original, program, needed)
        yield Case(f"{name}/helper", True, {"train.py": helped, "xla_compat.py": TEXT})
        for bug in (bug for bug in table["bug"] if bug["program"] == name):
            text = _native(original, program, [*needed, *bug["change"]])
            yield Case(f"{name}/{bug['name']}", False, {"train.py": text, **reference})


def changed(text: str, changes: Changes) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def _native(text: str, program: dict[str, Any], changes: Changes) -> str:
    """With torch_xla's own functions."""
    text = _DEVICE.sub("device = torch_xla.device()", changed(text, changes), count=1)
    return "import torch_xla\n" + text + " " * program["indent"] + "torch_xla.sync()\n"


def _helper(text: str, program: dict[str, Any], changes: Changes) -> str:
    """With the helper that `xlamig check --fix` writes."""
    text = _DEVICE.sub("device = default_device()", changed(text, changes), count=1)
    imported = "from xla_compat import default_device, step_boundary\n"
    return imported + text + " " * program["indent"] + "step_boundary()\n"


def _function(text: str, program: dict[str, Any], changes: Changes) -> str:
    """With the older functions, everything in one function, and other names for the classes."""
    text = _DEVICE.sub("device = xm.xla_device()", changed(text, changes), count=1)
    text += " " * program["indent"] + "xm.mark_step()\n"
    for name in re.findall(r"^class (\w+)\(nn.Module\)", text, re.MULTILINE):
        text = re.sub(rf"\b{name}\b", f"Ported{name}", text)
    text = re.sub(r"^( *)(optimizer\w*)\.step\(\)$", r"\1xm.optimizer_step(\2)", text, flags=re.MULTILINE)
    found = _IMPORTS.match(text)
    assert found
    imports, body = found[1], text[found.end() :]
    return (
        f"import torch_xla.core.xla_model as xm\n{imports}\n\ndef main():\n{indent(body, '    ')}\n\nmain()\n"
    )
