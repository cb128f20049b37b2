"""Calls: whom they reach, and what they give."""

from __future__ import annotations

from functools import partial

from xlamig import ir
from xlamig.flow.interp.alternatives import either, fitting, several, with_identity
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.builtins import Builtins
from xlamig.flow.interp.call_contexts import CallContexts
from xlamig.flow.interp.clocks import wait_for_loss
from xlamig.flow.interp.configured import called, configured
from xlamig.flow.interp.conventions import by_convention, inline_meaning, is_logger
from xlamig.flow.interp.costs import Costs
from xlamig.flow.interp.distributions import Distributions, inherits_method
from xlamig.flow.interp.domain import (
    LIKELY,
    POSSIBLE,
    TOP,
    AbstractValue,
    Carried,
    Mark,
    constant,
    groups_of,
    placed,
)
from xlamig.flow.interp.frames import ClassInfo, Function, class_of, functions_of, inherits
from xlamig.flow.interp.host_batches import tokenizer_output
from xlamig.flow.interp.instances import Instances, is_rewritten, of_constructor, stays_itself
from xlamig.flow.interp.kept import with_step_counter
from xlamig.flow.interp.libraries import Libraries
from xlamig.flow.interp.modules import Modules
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.objects import Objects
from xlamig.flow.interp.objects_apart import note_given, of_object
from xlamig.flow.interp.opaque_calls import OpaqueCalls
from xlamig.flow.interp.optimizer_calls import call_optimizer, call_update, is_own_optimizer, run_own
from xlamig.flow.interp.project_calls import ProjectCalls
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.seldom_flags import with_frequency
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.special_calls import SpecialCalls, note_collective
from xlamig.flow.interp.state import State
from xlamig.flow.interp.tensors import Tensors
from xlamig.flow.interp.texts import text_method
from xlamig.flow.interp.torch_calls import TorchCalls
from xlamig.flow.interp.transformed import of_transformed
from xlamig.flow.interp.unknown_objects import UnknownObjects
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


class Calls:
    def __init__(self, state: State, reads: Reads, sizes: Sizes, moves: Moves) -> None:
        self.m, self.sizes = state, sizes
        self.call_contexts = CallContexts(state)
        self.distributions = Distributions(state, reads)
        self.instances = Instances(state, self.call_contexts, self.distributions)
        self.opaque = OpaqueCalls(state, reads)
        self.one_rank = reads.one_rank
        libraries = Libraries(state, reads, sizes)
        costs = Costs(state, reads, sizes)
        self.tensors = Tensors(state, reads, costs, sizes, moves)
        self.project = ProjectCalls(state, reads, self.opaque, libraries)
        self.modules = Modules(state, self.opaque, libraries, self.project, moves)
        special = SpecialCalls(state, reads, moves)
        self.torch = TorchCalls(
            state, reads, sizes, self.tensors, self.modules, self.opaque, libraries, moves, special
        )
        unknown = UnknownObjects(
            state, reads, self.tensors, self.modules, self.opaque, libraries, self.distributions
        )
        self.builtins = Builtins(state, reads, sizes, costs)
        self.objects = Objects(state, reads, sizes, libraries, unknown, self.distributions, self.builtins)

    def of(self, node: ir.Call) -> AbstractValue:
        """Return the value of a call."""
        value = self.one_rank.watch(node, self._of) if self.m.one_rank else self._of(node)
        if value.kind == "unknown":
            return configured(self.m, node) or value
        return with_identity(value, node)

    def _of(self, node: ir.Call) -> AbstractValue:
        func = node.func
        if isinstance(func, ir.Attribute):
            held = self.m.env.get(path_of(func))
            if held is None:
                return self._method(node, func, self.m.semantics.evaluate(func.value))
            return self.reach(held, node, self.args(node))
        if isinstance(func, ir.Name) and func.id == "super":
            return self.instances.above()
        return self.reach(called(self.m, func), node, self.args(node))

    def args(self, node: ir.Call) -> Args:
        """Return the evaluated arguments of a call."""
        made = Args()
        for arg in node.args:
            thing = with_frequency(self.m, arg.value, self.m.semantics.evaluate(arg.value))
            if not arg.star:
                made.pairs.append((arg, thing))
            if arg.star == "*" and thing.items is not None and thing.kind == "sequence":
                made.positional.extend(thing.items)
                made.starred = True
            elif arg.star == "**" and thing.fields is not None:
                made.keywords.update(thing.fields)
                made.starred, made.partial = True, made.partial or thing.loose
            elif arg.star:
                made.starred = made.partial = True
                if arg.star == "*":
                    made.rest = self.m.semantics.iterate(thing)
                    made.positional.append(made.rest)
                else:
                    made.others = thing.element
            elif arg.keyword is not None:
                made.keywords[arg.keyword] = thing
            else:
                made.positional.append(thing)
        return made

    def reach(self, callee: AbstractValue, node: ir.Call, args: Args) -> AbstractValue:
        """The result of calling a thing."""
        if callee.kind in ("foreign", "unknown") and (tokens := self._tokens(args, node)):
            return tokens
        if ways := several(callee):
            return either(self.m, ways, lambda way: self.reach(way, node, args))
        match callee.kind:
            case "function":
                functions = fitting(functions_of(callee), args)
                if len(functions) == 1:
                    result = self._function(functions[0], args, node)
                else:
                    result = either(self.m, functions, lambda way: self.call_contexts.call(way, args, node))
                return of_transformed(self.m, callee, result)
            case "class":
                return self.instances.construct(class_of(callee), args, node)
            case "module":
                return self.modules.call(callee, args, node)
            case "instance":
                ran = self.instances.call(callee, args, node)
                return ran or self._tokens(args, node) or TOP
            case "api":
                return self._api(str(callee.ref), args, node)
            case "foreign":
                return self.objects.libraries.called(callee, args, node)
            case "unknown" if isinstance(callee.ref, str) and callee.trait is not Mark.INSTANCE:
                return self.project.call(callee.ref, args, node)
            case "type" if args.positional:  # `type(batch)(f(x) for x in batch)`
                return AbstractValue("sequence", element=self.m.semantics.iterate(args.positional[0]))
        return self._unknown(node, args)

    def _function(self, function: Function, args: Args, node: ir.Call) -> AbstractValue:
        """Return the result of calling a function of the project."""
        if meaning := inline_meaning(function.node):
            return self._api(meaning, args, node)
        return self.call_contexts.call(function, args, node)

    def _tokens(self, args: Args, node: ir.Call) -> AbstractValue | None:
        return tokenizer_output(self.sizes, args, node) if "return_tensors" in args.keywords else None

    def _unknown(self, node: ir.Call, args: Args) -> AbstractValue:
        """A call of something unknown, by its name a function of torch or a model, or an update."""
        named = self.m.names.dotted(node.func, self.m.frame.scope) if isinstance(node.func, ir.Name) else None
        if named is not None and named.startswith("torch."):
            return self.torch.call(named, args, node)
        return TOP if call_update(self.m, args, node) else self.modules.by_name(node, args)

    def _api(self, name: str, args: Args, node: ir.Call) -> AbstractValue:
        if "." not in name:
            return self.builtins.call(name, args, node)
        return self.torch.call(name, args, node)

    def _method(self, node: ir.Call, func: ir.Attribute, owner: AbstractValue) -> AbstractValue:
        name = func.attr
        note_collective(self.m, owner, name)
        wait_for_loss(self.m, func)
        if ways := several(owner):
            return either(self.m, ways, lambda way: self._method(node, func, way))
        if (text := text_method(self.m, owner, name, node)) is not None:
            return text
        match owner.kind:
            case "api":
                callee, args = self.named(f"{owner.ref}.{name}"), self.args(node)
                if callee.kind == "api" and name in table.names("reads", "writers"):
                    self.objects.unknown.record_formatted(args, node, name)
                return self.reach(callee, node, args)
            case "tensor":
                return self.tensors.method(owner, name, self.args(node), node)
            case "module":
                return self.modules.method(owner, name, self.args(node), node)
            case "instance" if isinstance(owner.ref, ClassInfo) and inherits_method(owner.ref, name):
                above = owner.replace(kind="distribution", place="device")
                return self.distributions.method(above, name, self.args(node), node)
            case "instance":
                method = self.instances.method_of(owner, name)
                if method is None and name in table.names("modules", "registers"):
                    return self.objects.unknown.register_modules(node, self.args(node))
                args = self.args(node)
                note_given(self.m, owner, func, args)
                if method is not None:
                    run = partial(self.call_contexts.call, method, args, node)
                    return run_own(self.m, owner, name, node, run)
                if is_own_optimizer(owner):
                    return call_optimizer(self.m, owner.replace(place="device"), name, args, node)
                if stays_itself(owner, name):
                    return owner
                inherited = self.distributions.by_name(name, args, node)
                return inherited or self.reach(self.member(owner, name, func), node, args)
            case "class":
                return self._of_class(class_of(owner), name, self.args(node), node)
            case "unknown" if owner.trait is Mark.INSTANCE:
                args = self.args(node)
                result = self.project.method(owner, name, args, node)
                return result if result is not None else self.objects.method(owner, name, args, node)
            case "unknown" if isinstance(owner.ref, str) and self.project.is_constructor(owner.ref, name):
                return self.m.semantics.make_module(owner.ref, self.args(node), node)
        self.m.logging, logging = is_logger(owner, name, func), self.m.logging
        args = self.args(node)
        self.m.logging = logging
        return self._tokens(args, node) or self.objects.method(owner, name, args, node)

    def member(self, owner: AbstractValue, name: str, node: ir.Expr) -> AbstractValue:
        """An attribute of an object or module."""
        if isinstance(owner.ref, ClassInfo):
            if owner.fields and name in owner.fields and not is_rewritten(owner.ref, name):
                return self._kept(owner.fields[name], name)
            for cls in owner.ref.lineage():
                if name in cls.attributes:
                    held = with_step_counter(self.m, cls, name, self.m.held_by(cls, name))
                    held = of_object(self.m, owner.ref, name, node, held)
                    uses = self._uses(name, node) if held.kind == "tensor" and held.loose else ""
                    return TOP if uses == "other" else self._kept(placed(held, owner), name)
            method = self.instances.method_of(owner, name)
            if method is not None:
                if method.kind == "property":
                    result = self.call_contexts.call(method, Args(), None)
                    return of_object(self.m, owner.ref, name, node, result)
                return AbstractValue("function", ref=method)
            part = self.distributions.part(owner.ref, name)
            if part is not None:
                return part
        if owner.kind == "module":
            return self.modules.attribute(owner, name)
        if name == "param_groups" and inherits(owner, "Optimizer"):
            return groups_of("device")
        if self._uses(name, node) == "tensor":  # though nothing in sight assigns it
            return AbstractValue("tensor", "either", sure=LIKELY)
        return by_convention(name)

    def _uses(self, name: str, node: ir.Expr) -> str:
        """Return what the uses of an attribute of `self` prove it to be."""
        path = f"self.{name}"
        return self.m.evidences.kind_of(path, self.m.frame.scope) if path_of(node) == path else ""

    def _kept(self, thing: AbstractValue, name: str) -> AbstractValue:
        """Return the value that an object keeps from step to step; a tensor remembers where it was kept."""
        if thing.kind == "tensor" and thing.trait is None and self.m.frequency == "step":
            return thing.replace(trait=Carried(f".{name}"), loose=False)
        return thing

    def static_member(self, info: ClassInfo, name: str) -> AbstractValue:
        """Return the attribute or method of a class."""
        for cls in info.lineage():
            if name in cls.attributes:
                return self.m.held_by(cls, name)
            if name in cls.methods:
                return AbstractValue("function", ref=self.m.function(cls.methods[name], cls.frame, cls))
        return TOP

    def _of_class(self, info: ClassInfo, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """`Net.build(...)`, `Function.apply(...)`, `Base.forward(self, x)`."""
        if name == "apply" and any("Function" in base for base in info.outside):
            name = "forward"
            args.positional.insert(0, TOP)
        for cls in info.lineage():
            if name in cls.methods:
                method = self.m.function(cls.methods[name], cls.frame, cls)
                if method.kind == "class":
                    method.bound = AbstractValue("class", ref=info)
                result = self.call_contexts.call(method, args, node)
                return of_constructor(info, name) if result.kind == "unknown" else result
        return of_constructor(info, name)

    def named(self, dotted: str) -> AbstractValue:
        """Return the value of a canonical name."""
        project, module = self.m.names.project, self.m.names.module
        export = project.resolve(dotted, module)
        if export is not None:
            if export.kind == "constant":
                return constant(export.constant)
            if export.kind == "device":
                return AbstractValue("device", "host" if export.value == "cpu" else "device", sure=LIKELY)
            place = project.locate(dotted, module) if export.kind == "registry" else None
            if place is not None:
                return self.m.program.registry(*place) or AbstractValue("api", ref=dotted)
            if export.kind != "name":
                defined = self.m.program.defined(dotted, module)
                return defined or AbstractValue("unknown", ref=dotted, sure=POSSIBLE)
        trait = Mark.NAMESPACE if project.is_module(dotted, module) else None
        return AbstractValue("api", ref=self.m.names.canonical(dotted), trait=trait)
