"""The expression that stands for "the device this project runs on", at one place of a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xlamig import ir
from xlamig.facts import Fact, Span
from xlamig.findings import Create, Edit
from xlamig.fix import helper
from xlamig.fix.context import FixContext
from xlamig.fix.imports import Imported, ensure_module, ensure_name
from xlamig.fix.scopes import (
    at_module_level,
    has_main_guard,
    holds_a_device,
    is_script,
    path_to,
    runs_at_import,
)

_UNREACHED = {"cuda", "no-xla", "other-device", "never"}


@dataclass(frozen=True, slots=True)
class DeviceExpression:
    """Always a torch.device. `edits` and `creates` are what the text needs to work."""

    text: str
    edits: tuple[Edit, ...] = ()
    creates: tuple[Create, ...] = ()


def device_expression(
    page: FixContext, fact: Fact, place: Span, index: str = "", from_scope: bool = True
) -> DeviceExpression | None:
    """What to write at `place`; None where nothing is proven to work. `index` is that of the CUDA
    device that was meant, "" for the current one. A variable in scope serves if `from_scope`."""
    if any(guard.kind in _UNREACHED for guard in fact.guards):
        return None  # the target does not come here
    in_scope = fact.proofs.get("device-in-scope")
    if in_scope and from_scope and not index and holds_a_device(page.module, in_scope, place):
        return DeviceExpression(in_scope)
    if not _may_decide_here(page, place):
        return None
    if page.settings.target == "torch_tpu":
        form = '{0}.device({0}.accelerator.current_accelerator() or "cpu")'
        return _imported(ensure_module(page, "torch", place), form)
    if page.settings.style == "native":
        return _imported(ensure_module(page, "torch_xla", place), "{0}.device()")
    return _helper(page, place, index)


def is_default_device(device: str, index: str) -> bool:
    """The first CUDA device, or the current one: what a single-device program means."""
    return device in ("cuda", "cuda:0") and index in ("", "constant")


def index_of(device: str) -> str:
    """ "0" of "cuda:0"."""
    return device.partition(":")[2]


def _imported(imported: Imported | None, form: str) -> DeviceExpression | None:
    if imported is None:
        return None
    return DeviceExpression(form.format(imported.name), imported.edits)


def _may_decide_here(page: FixContext, place: Span) -> bool:
    """A device is decided when code runs; at import only a script does that."""
    if any(isinstance(node, ir.FString) for node in path_to(page.module, *place)):
        return False
    if not runs_at_import(page.module, *place):
        return True
    return at_module_level(page.module, *place) and (page.package_root is None or has_main_guard(page.module))


def _helper(page: FixContext, place: Span, index: str) -> DeviceExpression | None:
    if not _importable(page):
        return None
    found = helper.helper_place(page.source.filename, page.settings.helper, page.package_root)
    if found is None or found.filename == page.source.filename:
        return None
    imported = ensure_name(page, found.module, helper.FUNCTION, place)
    if imported is None:
        return None
    creates = () if found.exists else (Create(found.filename, helper.TEXT),)
    return DeviceExpression(f"{imported.name}({index})", imported.edits, creates)


def _importable(page: FixContext) -> bool:
    """The import written for the helper works however the file is run.

    A script inside a package may be started by its path, and then the package cannot be imported,
    unless the file does that already. A helper beside a loose file is found if that is a script, or
    lies where scripts are started.
    """
    if page.package_root is None:
        if page.imported:
            return False  # then the folder beside it is not where Python looks
        folder = Path(page.source.filename).parent.resolve()
        return is_script(page.module) or folder in (Path.cwd(), page.settings.root.resolve())
    if not has_main_guard(page.module):
        return True
    top = page.package_root.name
    return any(_imports_from(statement, top) for statement in page.module.body)


def _imports_from(statement: ir.Stmt, top: str) -> bool:
    if isinstance(statement, ir.ImportFrom):
        return statement.level > 0 or statement.module.partition(".")[0] == top
    if isinstance(statement, ir.Import):
        return any(alias.name.partition(".")[0] == top for alias in statement.names)
    return False
