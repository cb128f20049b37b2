"""Find programs that train and never choose a device: on a TPU host they stay on the CPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import DeviceChoice
from xlamig.flow.model.device_names import names_device
from xlamig.flow.model.regions import own_statements
from xlamig.flow.model.scripts import is_script
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values

_CLASS = re.compile(r"\.[A-Z]\w*$")


class NoDevice:
    """Makes the device-choice fact of a script that builds an optimizer and chooses no device."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.optimizers: list[tuple[ir.Call, CodeContext]] = []

    def in_call(self, node: ir.Call, dotted: str | None, place: CodeContext) -> None:
        """Remember a call that builds an optimizer."""
        if dotted is not None and values.returned(dotted) == "optimizer" and _CLASS.search(dotted):
            self.optimizers.append((node, place))

    def absence(self) -> Iterator[DeviceChoice]:
        """Yield the fact, where the program's first optimizer is built."""
        module, names = self.analysis.module, self.analysis.names
        if not self.optimizers or not self._runs_itself() or names_device(module, names.interest.helper):
            return
        node, place = self.optimizers[0]
        if "test-code" in place.context or names.project.chooses_device(names.module):
            return
        if any(isinstance(n, ir.Attribute) and n.attr == "backward" for n in ir.walk(module)):
            yield DeviceChoice(**place.fields(node), via="none", device="", fallback="cpu")

    def _runs_itself(self) -> bool:
        module = self.analysis.module
        built = {id(node) for node, _ in self.optimizers}
        return is_script(module) or any(
            id(node) in built
            for statement in own_statements(module.body)
            if not isinstance(statement, ir.FunctionDef | ir.ClassDef)
            for node in ir.walk(statement)
        )
