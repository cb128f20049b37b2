"""The facts of expressions: asks each detector at its nodes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace

from xlamig import ir
from xlamig.facts import Fact, Kernel, Span, Why
from xlamig.flow.detectors.apis import Apis, Via
from xlamig.flow.detectors.branches import Branches
from xlamig.flow.detectors.consumers import logs
from xlamig.flow.detectors.cuda_required import CudaRequired
from xlamig.flow.detectors.devices import Devices
from xlamig.flow.detectors.flags import Flags
from xlamig.flow.detectors.gpu_counts import GpuCounts
from xlamig.flow.detectors.half import HalfPrecision
from xlamig.flow.detectors.launch_options import LaunchOptions
from xlamig.flow.detectors.narrowing import Narrowing
from xlamig.flow.detectors.no_device import NoDevice
from xlamig.flow.detectors.parts import owner_of
from xlamig.flow.detectors.selection import Selections
from xlamig.flow.detectors.surroundings import Backends, Packages, Variables
from xlamig.flow.detectors.wrapper_classes import wrapper_of
from xlamig.flow.detectors.wrapper_devices import device_arguments
from xlamig.flow.model.inner import scope_inside
from xlamig.flow.model.regions import WORKER
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.flow.model.tensor_methods import is_text
from xlamig.flow.model.worker_arguments import handed_to_workers
from xlamig.knowledge import values as table


def divisor(node: ir.Node, place: CodeContext) -> CodeContext:
    """Where a divisor is: what stands in its arguments is none."""
    return place.within("divisor") if isinstance(node, ir.Call) and not node.args else place


class Expressions:
    """Collects the facts of one module. `sites` counts calls into torch, `calls` does by part."""

    def __init__(
        self,
        analysis: Analysis,
        narrowing: Narrowing,
        own_methods: frozenset[str],
        device_methods: Container[Span],
    ) -> None:
        self.analysis = analysis
        self.narrowing = narrowing
        self.apis = Apis(analysis, own_methods, device_methods)
        self.devices = Devices(analysis, narrowing.guards)
        self.selections = Selections(analysis, narrowing.guards, self.devices)
        self.branches = Branches(analysis)
        self.flags = Flags(analysis, self.selections)
        self.cuda_required = CudaRequired(analysis, narrowing.guards, self.selections)
        self.gpu_counts = GpuCounts(analysis)
        self.half = HalfPrecision(analysis)
        self.no_device = NoDevice(analysis)
        self.backends = Backends(analysis)
        self.launch_options = LaunchOptions(analysis)
        self.packages = Packages(analysis)
        self.variables = Variables(analysis)
        self.facts: list[Fact] = []
        self.sites = 0
        self.calls: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._chosen: set[int] = set()

    def add(self, facts: Iterable[Fact]) -> None:
        """Add facts to those found so far."""
        self.facts.extend(facts)

    def select(
        self, node: ir.Expr, parent: ir.Call | None, place: CodeContext, takes_index: bool = False
    ) -> None:
        """Find the choice of a device in a ternary or `or`; `parent` is the `torch.device()` around it."""
        if isinstance(node, ir.IfExp) and id(node) not in self._chosen:
            self._chosen.add(id(node))
            self.add(self.selections.ternary(node, parent, place, takes_index))
            self.add(self.branches.ternary(node, place))
            self.add(self.half.ternary(node, place))
            self.add(self.backends.choice(node, place))
        elif isinstance(node, ir.Bool) and id(node) not in self._chosen:
            self._chosen.add(id(node))
            self.add(self.selections.short_circuit(node, place))
        else:
            return
        for operand, where in self._operands(node, place):
            self.select(operand, None, where, takes_index)

    def call(self, node: ir.Call, place: CodeContext, via: Via = "call") -> None:
        """Find the facts of a call and of all below it."""
        dotted = self.analysis.names.dotted(node.func, place.scope)
        is_device = dotted == "torch.device"
        if dotted is not None and dotted.startswith("torch."):
            self.sites += 1
            self.calls[owner_of(place.scope)][dotted] += 1
        elif self.analysis.has_torch and isinstance(node.func, ir.Attribute) and node.func.attr == "backward":
            self.calls[owner_of(place.scope)]["torch.Tensor.backward"] += 1
        for arg in node.args:
            if isinstance(arg.value, ir.IfExp | ir.Bool):
                takes_index = is_device or arg.keyword == "device"
                self.select(arg.value, node if is_device else None, place, takes_index)
        if (source := self.analysis.kernels.get(node.func.end)) is not None:
            self.add(self._kernel(node.func, source, place))
        self.no_device.in_call(node, dotted, place)
        self.add(self.apis.call(node, dotted, place, via))
        if dotted is None:
            self.add(self.apis.chosen(node, place))
            self.add(self._wrapped(node, place))
        if node.args:
            self.add(self.devices.in_call(node, dotted, place))
            self.add(self.branches.option(node, place))
            self.add(self.flags.in_call(node, place))
            self.add(self.backends.in_call(node, dotted, place))
            self.add(self.launch_options.in_call(node, dotted, place))
            self.add(self.variables.in_call(node, dotted, place))
        if dotted is not None:
            self.add(self.selections.accelerator(node, dotted, place))
        if isinstance(node.func, ir.Attribute):
            self._callee(node.func, place)
        elif not isinstance(node.func, ir.Name):
            self.visit(node.func, place)
        inside = place.within("saved") if dotted in table.names("collectives", "saves") else place
        inside = inside.within("set-device") if dotted in table.names("program", "device-setters") else inside
        path = path_of(node.func)
        devices = device_arguments(node, dotted)
        for i, arg in enumerate(node.args):
            if not self._hands_on(arg):
                given = self._given(node, i, inside, path)
                self.visit(arg.value, given.within(devices[i]) if i in devices else given)

    def _wrapped(self, node: ir.Call, place: CodeContext) -> Iterator[Fact]:
        """Yield the uses of a wrapper by a class of the module that is one."""
        if name := wrapper_of(node.func, place.scope, self.analysis.names):
            for fact in self.apis.call(node, name, place):
                yield replace(fact, confidence="likely")

    def _kernel(self, callee: ir.Expr, source: str, place: CodeContext) -> Iterator[Kernel]:
        """Yield the call of an extension of the project, whose kernel is in the file `source`."""
        name = self.analysis.source(callee)
        fields = place.fields(callee)
        fields["related"] = (Why(f"the kernel is in {source}", fields["span"]),)
        file = source.rpartition("/")[2]
        yield Kernel(**fields, via="call", name=name.lower(), subject=name, amount=file)

    def _hands_on(self, arg: ir.Arg) -> bool:
        """`Trainer(gpus=args.gpus)`: a setting under its own name is the call's."""
        own = isinstance(arg.value, ir.Attribute) and arg.value.attr == arg.keyword
        return own and arg.keyword in self.apis.settings

    @staticmethod
    def _given(node: ir.Call, index: int, place: CodeContext, path: str) -> CodeContext:
        """Where an argument of a call of `path` is used."""
        if index == 1 and path in ("isinstance", "issubclass"):
            return place.within("isinstance")
        arg = node.args[index]
        if arg.keyword == "generator":
            return place.within("assigned")
        if logs(path):
            return place.within("log")
        if isinstance(arg.value, ir.Lambda) and handed_to_workers(arg):
            return place.within(*WORKER)
        return place

    def _callee(self, node: ir.Attribute, place: CodeContext) -> None:
        """Below the called name itself, which the call has dealt with."""
        inner: ir.Expr = node.value
        while isinstance(inner, ir.Attribute):
            self._setting(inner, place)
            inner = inner.value
        if not isinstance(inner, ir.Name):
            self.visit(inner, place)

    def _setting(self, node: ir.Attribute, place: CodeContext) -> None:
        if node.attr in self.apis.settings and path_of(node.value) != "self":
            self.add(self.apis.setting(node.attr, node, place))

    def visit(self, node: ir.Node, place: CodeContext) -> None:
        """Find the facts of an expression and of all below it."""
        if isinstance(node, ir.Subscript):
            self.add(self.branches.lookup(node, place))
            self.add(self.selections.lookup(node, place))
        match node:
            case ir.Const() | ir.Name():
                if isinstance(node, ir.Name):
                    self.add(self.apis.reference(node, place))
            case ir.Call():
                self.call(node, place)
            case ir.Attribute():
                self._attribute(node, place)
            case ir.Dict():
                self.add(self.backends.by_device(node, place))
                self.add(self.devices.in_dictionary(node, place))
                for key, value in zip(node.keys, node.values, strict=True):
                    self.add(self.apis.entry(key, value, place))
                for child in ir.children(node):
                    self.visit(child, place)
            case ir.IfExp() | ir.Bool():
                self.select(node, None, place)
                if isinstance(node, ir.IfExp):
                    self.visit(node.test, place.within("condition"))
                for operand, where in self._operands(node, place):
                    self.visit(operand, where)
            case ir.Binary(op="/" | "//" | "%", left=left, right=right) if not is_text(left):
                aligned = node.op == "%" and not isinstance(right, ir.Call)
                self.visit(left, place.within("alignment") if aligned else place)
                self.visit(right, divisor(right, place))
            case ir.Unary(op="not", operand=operand):
                self.visit(operand, place.within("condition"))
            case ir.Lambda():
                self.defaults(node.params, place, place)
                self.visit(node.body, replace(place, scope=scope_inside(node, place.scope)))
            case ir.Comprehension():
                self._comprehension(node, place)
            case ir.Subscript(index=(ir.Const(value=str(name)),)):
                self.add(self.apis.setting(name, node, place))
                self.visit(node.value, place)
            case ir.Compare():
                self._compare(node, place.within("comparison"))
            case ir.BigLiteral():
                return
            case _:
                for child in ir.children(node):
                    self.visit(child, place)

    def _attribute(self, node: ir.Attribute, place: CodeContext) -> None:
        self.add(self.apis.reference(node, place))
        self._setting(node, place)
        if node.attr == "type":  # torch.device("cuda").type is compared, not used
            self.devices.cover(node.value)
        self._callee(node, place)

    def _compare(self, node: ir.Compare, place: CodeContext) -> None:
        if isinstance(node.left, ir.Const) and node.ops[0] in ("in", "not in"):
            self.add(self.apis.setting(str(node.left.value), node, place))
        self.add(self.launch_options.in_test(node, place))
        for child in ir.children(node):
            self.visit(child, place)

    def _comprehension(self, node: ir.Comprehension, place: CodeContext) -> None:
        first, *later = node.generators
        self.visit(first.iter, place)
        own = replace(place, scope=scope_inside(node, place.scope))
        for test in (test for generator in node.generators for test in generator.ifs):
            self.visit(test, own.within("condition"))
        for part in (*(g.iter for g in later), node.element, node.value):
            if part is not None:
                self.visit(part, own)

    def _operands(
        self, node: ir.IfExp | ir.Bool, place: CodeContext
    ) -> Iterator[tuple[ir.Expr, CodeContext]]:
        """The branches of a ternary, or the values of `and`, `or`, under what held before each."""
        if isinstance(node, ir.IfExp):
            for arm, holds in ((node.body, True), (node.orelse, False)):
                yield arm, self.narrowing.where(node.test, place, holds)
            return
        *tested, last = node.values
        under = place
        for value in tested:
            yield value, (place if self._asks_cuda(value, place) else under).within("condition")
            under = self.narrowing.where(value, under, node.op == "and")
        yield last, place if self._asks_cuda(last, place) else under

    def _asks_cuda(self, node: ir.Expr, place: CodeContext) -> bool:
        """Return whether a value is an answer of CUDA's, which a test for CUDA before it does not change."""
        dotted = self.analysis.names.dotted(node.func, place.scope) if isinstance(node, ir.Call) else None
        return dotted is not None and dotted.startswith("torch.cuda.is_")

    def defaults(self, params: tuple[ir.Param, ...], inside: CodeContext, outside: CodeContext) -> None:
        """Find the facts of parameters' defaults, which are evaluated `outside` of the function."""
        evaluated = replace(outside, context=inside.context)
        for param in params:
            if param.default is not None:
                self.select(param.default, None, evaluated)
        self.add(self.devices.in_defaults(params, inside))
        self.add(self.backends.in_defaults(params, inside))
        for param in params:
            if param.default is not None:
                self.visit(param.default, evaluated)

    def decorator(self, node: ir.Expr, place: CodeContext) -> None:
        """Find the facts of a decorator."""
        if isinstance(node, ir.Call):
            self.call(node, place, "decorator")
        else:
            self.add(self.apis.reference(node, place, "decorator"))
