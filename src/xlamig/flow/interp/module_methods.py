"""The methods that every module has: parts, parameters, hooks."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.checkpointed import run_checkpointed
from xlamig.flow.interp.domain import (
    LIKELY,
    MISSING,
    NONE,
    TEXT,
    TOP,
    AbstractValue,
    Mark,
    TorchModule,
    join,
    sequence,
)
from xlamig.flow.interp.frames import ClassInfo, functions_of
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


class ModuleMethods:
    def __init__(self, state: State, moves: Moves) -> None:
        self.m, self.moves = state, moves

    def call(self, module: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue | None:
        """Return what a method of every module gives; None for another method."""
        if name in table.names("modules", "same"):
            return module
        if name in table.names("modules", "checkpointing"):
            return run_checkpointed(self.m, args, node)
        if name == "save_pretrained":
            if module.place == "device":
                self.m.effects.add(Effect.SAVE)
            return NONE
        if name in table.names("modules", "state"):
            tensor = AbstractValue(
                "tensor", module.place, sure=module.sure, trait=Mark.PARAMETER, ref=module.ref
            )
            element = sequence((TEXT, tensor)) if name.startswith("named") else tensor
            return AbstractValue("parameters", module.place, element=element, items=(module,))
        if name in table.names("modules", "parts"):
            part = AbstractValue("module", module.place, sure=LIKELY)
            return AbstractValue(
                "sequence", element=sequence((TEXT, part)) if name.startswith("named") else part
            )
        if name == "state_dict":
            place = "host" if self.m.offloads else module.place
            return AbstractValue(
                "mapping", element=AbstractValue("tensor", place, sure=module.sure, trait=Mark.STATE)
            )
        if name in table.names("modules", "changes"):
            self._add_part(module, name, args, node)
            return module if name == "append" else NONE
        if name in ("register_buffer", "register_parameter"):
            self._registered(module, args, Mark.BUFFER if name == "register_buffer" else Mark.PARAMETER)
            return NONE
        if name.startswith("register_"):
            self._hooked(module, name, args, node)
            return TOP
        if name in ("items", "values", "keys"):
            part = AbstractValue("module", module.place, sure=LIKELY)
            return AbstractValue(
                "sequence", element={"items": sequence((TEXT, part)), "values": part}.get(name, TEXT)
            )
        if name == "tie_weights":
            return NONE
        if name == "backward":  # of an engine that wraps a model
            self.m.effects.add(Effect.BACKWARD)
            return NONE
        if name == "step":
            self.m.updated(node)
            return NONE
        return None

    def _add_part(self, module: AbstractValue, name: str, args: Args, node: ir.Call) -> None:
        """`layers.append(Block())`: the list holds one more."""
        is_list = isinstance(module.trait, TorchModule) and module.trait.class_name == "ModuleList"
        if not is_list or name not in table.names("modules", "additions") or not args.positional:
            return
        new = args.positional[-1] if name != "extend" else self.m.semantics.iterate(args.positional[0])
        self.moves.hold(module, new)
        element = join(module.element, new) if module.element is not None else new
        if element.kind == "module" and isinstance(node.func, ir.Attribute):
            changed = module.replace(element=element)
            self.m.put(path_of(node.func.value), changed)
            if isinstance(node.func.value, ir.Attribute):
                self.m.semantics.set_attribute(node.func.value, changed, None)

    def _hooked(self, module: AbstractValue, name: str, args: Args, node: ir.Call) -> None:
        """A hook runs every step, with the module and what goes in and out."""
        hook = args.get(0, "hook")
        if hook is None or hook.kind != "function" or "state_dict" in name:
            return
        tensor = AbstractValue("tensor", "device", sure=LIKELY, loose=True)
        given = [module, sequence((tensor,)), tensor]
        m = self.m
        before, m.frequency = m.frequency, "step"
        for function in functions_of(hook):
            m.semantics.call(function, Args(given[: len(function.node.params)]), node)
        m.frequency = before

    def _registered(self, module: AbstractValue, args: Args, trait: Mark) -> None:
        name, value = args.get(0, "name"), args.get(1, "tensor") or args.keywords.get("param")
        if name is None or not isinstance(name.const, str) or not isinstance(module.ref, ClassInfo):
            return
        if value is not None and value.kind == "tensor":
            module.ref.assigned.add(name.const)
            value = value.replace(const=MISSING) if value.on_host else value  # methods may change it
            module.ref.attributes[name.const] = value.replace(trait=trait, cause="", why=())
