"""Find programs that train and choose no device, or only the CPU: they stay there on a TPU host."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from xlamig import ir
from xlamig.facts import DeviceChoice
from xlamig.flow.interp.visits import Visit
from xlamig.flow.model.device_names import names_device
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.scripts import is_script, run_on_import, runs_nothing
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values

_CLASS = re.compile(r"\.[A-Z]\w*$")
_Built = tuple[ir.Call, CodeContext]
_Chosen = tuple[ir.Expr, CodeContext]


class NoDevice:
    """Makes the device-choice fact of a script that builds an optimizer and chooses no device."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.optimizers: list[_Built] = []

    def in_call(self, node: ir.Call, dotted: str | None, place: CodeContext) -> None:
        """Remember a call that builds an optimizer."""
        if dotted is not None and values.result_of(dotted) == "optimizer" and _CLASS.search(dotted):
            self.optimizers.append((node, place))

    def absence(self, trains: bool, visit: Visit) -> Iterator[DeviceChoice]:
        """Yield the fact, where the program's first optimizer is built. `trains`: the module is known to,
        with what it calls; `visit` says what scripts run of a module that is none."""
        module, names = self.analysis.module, self.analysis.names
        run = self.optimizers if trains and self._runs_itself() else self._run_by_scripts(visit)
        if not run or names_device(module, names.interest.helper):
            return
        node, place = run[0]
        helper = names.interest.helper
        if "test-code" in place.context or names.project.chooses_device(names.module, helper):
            return
        form = "shared" if self._shares_memory() else ""
        yield DeviceChoice(**place.fields(node), via="none", device="", fallback="cpu", form=form)

    def on_cpu(self, trains: bool) -> Iterator[DeviceChoice]:
        """Yield the choice of nothing but the CPU, `device = "cpu"`, in each function that trains there."""
        chosen: dict[int, _Chosen] = {}
        for node, place in self.optimizers if trains else ():
            host = {name: value for name, value in self._host_devices(place) if value.end <= node.start}
            if "test-code" not in place.context and not self._moves_elsewhere(host, place):
                chosen |= {v.start: (v, place) for name, v in host.items() if self._moves_to(name, place)}
        for value, place in chosen.values():
            fields = place.fields(value)
            fields["statement"] = (value.start, value.end)
            yield DeviceChoice(**fields, via="none", device="cpu", fallback="cpu", spelled="cpu")

    def _host_devices(self, place: CodeContext) -> Iterator[tuple[str, ir.Expr]]:
        """Yield the names of devices that are set once, to the CPU, each with its value."""
        for name, bindings in place.scope.bindings.items():
            value = bindings[0].value
            alone = len(bindings) == 1 and bindings[0].kind == "value" and not bindings[0].block
            if value is not None and alone and _is_device(name) and self._device(value, place) == "cpu":
                yield name, value

    def _moves_to(self, name: str, place: CodeContext) -> bool:
        """Return whether the function, or module, moves something to the device of that name."""
        return any(path_of(device) == name for device in self._moved_to(place))

    def _moves_elsewhere(self, host: Collection[str], place: CodeContext) -> bool:
        """Return whether the function, or module, moves something to a device that is none of the host's."""
        return any(
            self._device(device, place) not in (None, "cpu")
            if isinstance(device, ir.Const)
            else path_of(device) not in host and _is_device(path_of(device))
            for device in self._moved_to(place)
        )

    def _device(self, node: ir.Expr, place: CodeContext) -> object:
        return self.analysis.values.of(node, place.scope).value.value

    def _moved_to(self, place: CodeContext) -> Iterator[ir.Expr]:
        """Yield the arguments of the calls of `to` in the function, or module."""
        for node in ir.walk(place.scope.node or self.analysis.module):
            match node:
                case ir.Call(func=ir.Attribute(attr="to"), args=args):
                    yield from (arg.value for arg in args)

    def _run_by_scripts(self, visit: Visit) -> list[_Built]:
        """Return the optimizers in functions that scripts without a device run."""
        starts = {start for start, _ in visit.reached} if visit.deviceless else set()
        return [
            (node, place)
            for node, place in self.optimizers
            if place.scope.node is not None and place.scope.node.start in starts
        ]

    def _shares_memory(self) -> bool:
        """Return whether the file puts a model into memory that several processes share."""
        methods = values.names("program", "shared-memory")
        calls = (n for n in ir.walk(self.analysis.module) if isinstance(n, ir.Call))
        return any(isinstance(call.func, ir.Attribute) and call.func.attr in methods for call in calls)

    def _runs_itself(self) -> bool:
        if not self.optimizers:
            return False
        module = self.analysis.module
        built = {id(node) for node, _ in self.optimizers}
        return (is_script(module) and not runs_nothing(module)) or any(
            id(node) in built for statement in run_on_import(module) for node in ir.walk(statement)
        )


def _is_device(path: str) -> bool:
    return bool(values.name_like("device").search(path.rpartition(".")[2]))
