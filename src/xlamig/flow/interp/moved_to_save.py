"""Find modules of an object that a method moves to the CPU to save them, and leaves there."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import ModuleMove, Why
from xlamig.flow.interp.domain import LIKELY, AbstractValue, Mark
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_MOVES = ("to", "cuda", "cpu")


def record_move_to_save(m: State, module: AbstractValue, node: ir.Call, path: str) -> None:
    """Record the move to the CPU of a module that `self` keeps, if the method saves it and ends there."""
    function = m.frame.scope.node
    if not isinstance(function, ir.FunctionDef) or not path.startswith("self.") or module.trait is Mark.COPY:
        return
    later = [call for call in _calls(function) if call.end >= node.end]
    names = {path, *_targets(m.statement)}
    saved = next((call for call in later if _saves(m, call, node, names)), None)
    if saved is None or any(_moves_on(call, node, names) for call in later):
        return
    why = Why("it is saved here", (saved.start, saved.end))
    m.record(ModuleMove, node, LIKELY, (why,), via="saved", module=path)


def _calls(function: ir.FunctionDef) -> Iterator[ir.Call]:
    return (n for statement in function.body for n in ir.walk(statement) if isinstance(n, ir.Call))


def _targets(statement: ir.Stmt) -> Iterator[str]:
    """Yield the names that a statement gives a value: `model = self.model.cpu()` is the same module."""
    if isinstance(statement, ir.Assign):
        yield from (path for target in statement.targets if (path := path_of(target)))


def _saves(m: State, call: ir.Call, moved: ir.Call, names: set[str]) -> bool:
    """Return whether a call saves the module: `module.save_pretrained(...)`, `torch.save(module....)`."""
    match call.func:
        case ir.Attribute(attr="save_pretrained", value=owner):
            return ir.encloses(owner, moved) or path_of(owner) in names
    if m.names.dotted(call.func, m.frame.scope) not in table.names("collectives", "saves"):
        return False
    held = (n for arg in call.args for n in ir.walk(arg.value) if isinstance(n, ir.Name | ir.Attribute))
    return any(path_of(n) in names for n in held)


def _moves_on(call: ir.Call, moved: ir.Call, names: set[str]) -> bool:
    """Return whether a call moves the module again."""
    match call.func:
        case ir.Attribute(attr=name, value=owner) if name in _MOVES and call is not moved:
            return path_of(owner) in names
    return False
