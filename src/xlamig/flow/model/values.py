"""Constant propagation: what an expression is known to be, followed through names."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from xlamig import ir
from xlamig.facts import Scalar, Span, Value
from xlamig.flow.model.asked import ENVIRONMENT_READS
from xlamig.flow.model.class_constants import class_constant
from xlamig.flow.model.cuda_tests import CudaTests
from xlamig.flow.model.inner import scope_inside
from xlamig.flow.model.known import Known, expression, join
from xlamig.flow.model.local_values import LocalBindings, only_result, only_returns
from xlamig.flow.model.names import Names
from xlamig.flow.model.only_calls import passed_default
from xlamig.flow.model.outcomes import State
from xlamig.flow.model.scopes import Binding, Scope, path_of
from xlamig.flow.model.words import may_change

_MAX_DEPTH = 6
_MAX_NAMES = 8  # followed from one to the next
_INFINITIES = frozenset({"math.inf", "numpy.inf", "torch.inf", "torch.math.inf"})
_XLA_DEVICES = frozenset({"torch_xla.device", "torch_xla.core.xla_model.xla_device"})
_GPU_WORDS = ("nccl",)
_BRACES = re.compile(r"\{[^}]*\}")
_MAKES_OBJECT = re.compile(r"(?:\w+\.)*[A-Z]\w*\(")
_PERCENT = re.compile(r"%[dsi]")
_MAX_ELEMENTS = 64


class Values:
    """Evaluates expressions of one module. `options` are defaults of command-line options, `switches` the
    options that have the same state in the whole project; with `module`, a parameter is known that the only
    caller gives the default of its own."""

    def __init__(self, names: Names, text: str) -> None:
        self.names = names
        self.text = text
        self.options: dict[str, tuple[Scalar, tuple[Span, ...]]] = {}
        self.switches: dict[str, State] = {}
        self.module: ir.Module | None = None
        self._cuda = CudaTests(names, text)
        self._local = LocalBindings()
        self._variables: dict[tuple[Scope, str, int], Known | None] = {}
        self._followed = 0

    def of(self, node: ir.Expr, scope: Scope, depth: int = 0) -> Known:
        """Return what an expression is known to be."""
        if depth <= _MAX_DEPTH:
            match node:
                case ir.Const():
                    return self._constant(node)
                case ir.FString():
                    return self._pattern(node, scope, depth)
                case ir.Name() | ir.Attribute():
                    return self._name(node, scope)
                case ir.Call():
                    return self._call(node, scope, depth)
                case ir.Compare():
                    return self._cuda.comparison(node, scope) or self._unknown(node)
                case ir.Lambda(body=body):
                    return self._lambda(node, body, scope, depth)
                case ir.Unary(op="not", operand=operand):
                    return self._negation(node, self.of(operand, scope, depth + 1))
                case ir.Bool(op="and", values=values):
                    for value in values:  # true only where each part is
                        known = self.of(value, scope, depth + 1)
                        if known.value.kind == "cuda-test" and not known.negated:
                            return known
                        if known.value == Value("constant", False) and known.sure:
                            return known
                case ir.Binary(op="%", left=ir.Const(value=str(text))):
                    return Known(Value("pattern", _PERCENT.sub("*", text)))
                case ir.Binary(op="+", left=left):
                    known = self.of(left, scope, depth + 1)
                    if known.value.kind == "constant" and isinstance(known.value.value, str):
                        return Known(Value("pattern", known.value.value + "*"), known.sure, known.defaults)
                case ir.IfExp():
                    return self._either(node, scope, depth)
                case ir.Dict():
                    return self._dict(node, scope, depth)
                case ir.Sequence():
                    return self._sequence(node, scope, depth)
        return self._unknown(node)

    def _unknown(self, node: ir.Node) -> Known:
        return Known(expression(self.text[node.start : node.end]))

    def _constant(self, node: ir.Const) -> Known:
        value = node.value
        if value is None or isinstance(value, str | bool | int | float):
            return Known(Value("constant", value))
        return self._unknown(node)

    def _pattern(self, node: ir.FString, scope: Scope, depth: int) -> Known:
        text = ""
        for part in node.parts:
            if isinstance(part, str):
                text += part
                continue
            known = self.of(part, scope, depth + 1)
            constant = known.value.kind == "constant" and known.sure
            text += str(known.value.value) if constant else "*"
        return Known(Value("pattern" if "*" in text else "constant", text))

    def _either(self, node: ir.IfExp, scope: Scope, depth: int) -> Known:
        """`"nccl" if use_gpu else "gloo"`: it may be the GPU's, unless availability of CUDA decides
        or the other is for XLA. `RandomSampler(data) if shuffle else None`: the sampler, if there is one."""
        arms = [self.of(arm, scope, depth + 1) for arm in (node.body, node.orelse)]
        for none, given in (arms, arms[::-1]):
            if none.value == Value("constant", None) and given.value.kind == "expression":
                return given
        if [arm.value for arm in (node.body, node.orelse) if isinstance(arm, ir.Const)] == [True, False]:
            return self.of(node.test, scope, depth + 1)
        decided = self.of(node.test, scope, depth + 1).value.kind == "cuda-test"
        if decided or any(known.value.value in ("xla", "tpu") for known in arms):
            return self._unknown(node)
        for known in arms:
            if known.value.kind == "constant" and known.value.value in _GPU_WORDS:
                return replace(known, sure=False)
        return self._unknown(node)

    def _dict(self, node: ir.Dict, scope: Scope, depth: int) -> Known:
        """A map_location dictionary says where tensors go by its values, of those from each of its keys."""
        for value in node.values:
            known = self.of(value, scope, depth + 1)
            text = known.value.value
            if known.value.kind != "expression" and isinstance(text, str) and text.startswith("cuda"):
                keys = (self.of(key, scope, depth + 1).value for key in node.keys if key is not None)
                return Known(Value("device", text, tuple(keys)))
        return self._unknown(node)

    def _sequence(self, node: ir.Sequence, scope: Scope, depth: int) -> Known:
        """Its elements in order; one that is itself a sequence only where that stands here."""
        if len(node.elements) > _MAX_ELEMENTS:
            return self._unknown(node)
        found = [self.of(element, scope, depth + 1) for element in node.elements]
        for i, (element, known) in enumerate(zip(node.elements, found, strict=True)):
            named = known.value.kind == "sequence" and not isinstance(element, ir.Sequence)
            if named or known.negated or (isinstance(known.value.value, bool) and not known.sure):
                found[i] = self._unknown(element)
        return Known(
            Value("sequence", self._unknown(node).value.value, tuple(known.value for known in found)),
            all(known.sure for known in found),
            tuple(place for known in found for place in known.defaults),
            tuple(place for known in found for place in known.origins),
        )

    def _lambda(self, node: ir.Lambda, body: ir.Expr, scope: Scope, depth: int) -> Known:
        """`lambda storage, loc: storage.cuda()` is a way to write a device."""
        if isinstance(body, ir.Call) and isinstance(body.func, ir.Attribute) and body.func.attr == "cuda":
            return Known(Value("device", "cuda:*" if body.args else "cuda"))
        known = self.of(body, scope_inside(node, scope), depth + 1)
        text = known.value.value
        if known.value.kind != "expression" and isinstance(text, str) and text.startswith(("cuda", "cpu")):
            return Known(Value("device", text))
        return self._unknown(node)

    def _negation(self, node: ir.Unary, known: Known) -> Known:
        if known.value.kind == "cuda-test":
            return replace(known, negated=not known.negated)
        if known.value.kind == "constant":
            return Known(Value("constant", not known.value.value), known.sure, known.defaults)
        return self._unknown(node)

    # ------------------------------------------------------------------ names

    def _name(self, node: ir.Name | ir.Attribute, scope: Scope) -> Known:
        if isinstance(node, ir.Attribute) and (test := self._cuda.attribute(node, scope)) is not None:
            return test
        if isinstance(node, ir.Attribute) and node.attr == "type" and isinstance(node.value, ir.Call):
            known = self.of(node.value, scope)
            return known if known.value == Value("device", "xla") else self._unknown(node)
        dotted = self.names.dotted(node, scope)
        if dotted in _INFINITIES:
            return Known(Value("constant", math.inf))
        path = path_of(node)
        bindings = self._local.reaching(scope.find(path) if path else [], node, scope)
        if dotted is not None and dotted.startswith(("torch.", "torch_xla.")):
            if len(bindings) < 2 or all(b.kind == "import" for b in bindings):
                return Known(Value("api", dotted))
            return self._variable(path, scope, bindings) or self._unknown(node)
        if not path:
            return self._unknown(node)
        if "." in path and (held := class_constant(node, scope)) is not None:
            return replace(self._constant(held[0]), sure=held[1])
        if "." in path and not any(not b.block for b in bindings):
            bindings = []  # set under a condition only: what it was before, another module knows
        found = self._variable(path, scope, bindings)
        if found is None and dotted is not None:
            found = self._from_project(node, scope)
        if found is None and "." in path:
            option = self.options.get(path.rpartition(".")[2])
            if option is not None and not path.startswith("self."):
                return Known(Value("constant", option[0]), False, option[1], option[1])
        if found is not None and "." in path and found.value.kind == "constant":
            return replace(found, sure=False)  # an attribute can be set from outside
        return found if found is not None else self._unknown(node)

    def _variable(self, path: str, scope: Scope, bindings: list[Binding]) -> Known | None:
        key = (scope, path, bindings[0].start if bindings else 0)
        if key not in self._variables:
            if self._followed == _MAX_NAMES:
                return None
            self._variables[key] = None  # what is made from itself is not known
            self._followed += 1
            self._variables[key] = self._from_bindings(path, scope, bindings)
            self._followed -= 1
        return self._variables[key]

    def _from_bindings(self, path: str, scope: Scope, bindings: list[Binding]) -> Known | None:
        """The value all bindings agree on; a parameter's default is a value that may change."""
        if (test := self._cuda.flag(bindings, self.of)) is not None:
            return test
        agreed: Known | None = None
        for binding in bindings:
            value = binding.value
            if value is None and binding.kind == "param" and self.module is not None:
                value = passed_default(self.module, scope.node, path)
            if binding.kind not in ("value", "param") or value is None:
                return None
            if value.start == binding.start and binding.kind == "value":
                return None
            known = self.of(value, binding.scope)  # a default is evaluated where the function is
            place = (value.start, value.end)
            known = replace(known, origins=(*known.origins, place))
            if binding.kind == "param":
                known = replace(known, sure=False, defaults=(*known.defaults, place))
            joined = known if agreed is None else join(agreed, known)
            if joined is None:
                return None
            agreed = joined
        if agreed is not None and agreed.value.kind == "sequence" and may_change(path, self.text):
            return None
        return agreed

    def _from_project(self, node: ir.Expr, scope: Scope) -> Known | None:
        export = self.names.export(node, scope)
        if export is None:
            return None
        if export.kind == "constant":
            return Known(Value("constant", export.constant), False)
        if export.kind == "device":
            return Known(Value("device", export.value))
        if export.kind == "cuda-test":
            return Known(Value("cuda-test", export.value), availability=True)
        return None

    # ------------------------------------------------------------------ calls

    def _call(self, node: ir.Call, scope: Scope, depth: int) -> Known:
        dotted = self.names.dotted(node.func, scope)
        if (test := self._cuda.call(node, dotted, scope)) is not None:
            return test
        if dotted in _XLA_DEVICES:
            return Known(Value("device", "xla"))
        if dotted == "torch.device" and node.args:
            return self._device(node, scope, depth)
        if path_of(node.func) == "float" and len(node.args) == 1:
            text = self.of(node.args[0].value, scope, depth + 1).value.value
            return Known(Value("constant", math.inf)) if text in ("inf", "infinity") else self._unknown(node)
        if path_of(node.func) in ("str", "bool") and len(node.args) == 1:
            return self.of(node.args[0].value, scope, depth + 1)
        if dotted in ENVIRONMENT_READS and len(node.args) == 2:
            known = self.of(node.args[1].value, scope, depth + 1)
            place = (node.args[1].value.start, node.args[1].value.end)
            return replace(known, sure=False, defaults=(*known.defaults, place))
        if isinstance(node.func, ir.Attribute) and node.func.attr == "format":
            template = self.of(node.func.value, scope, depth + 1).value
            if template.kind == "constant" and isinstance(template.value, str):
                return Known(Value("pattern", _BRACES.sub("*", template.value)))
            return self._unknown(node)
        returned = only_result(node, scope)
        result = self.of(*returned, depth + 1) if returned is not None else None
        if result is None or not result.sure:
            return self._called(node, dotted)
        if result.value.kind == "expression":
            return result if _MAKES_OBJECT.match(str(result.value.value)) else self._called(node, dotted)
        asks = result.value.kind == "cuda-test"  # which holds for the call if nothing else decides it
        return self._called(node, dotted) if asks and not only_returns(node, scope) else result

    def _called(self, node: ir.Call, dotted: str | None) -> Known:
        """Return the text of a call; of a function that is imported under another name, with its own."""
        if dotted is None or dotted.rpartition(".")[2] == path_of(node.func).rpartition(".")[2]:
            return self._unknown(node)
        return Known(expression(f"{dotted}{self.text[node.func.end : node.end]}"))

    def _device(self, node: ir.Call, scope: Scope, depth: int) -> Known:
        known = self.of(node.args[0].value, scope, depth + 1)
        kind, text = known.value.kind, known.value.value
        if kind not in ("constant", "pattern", "device") or not isinstance(text, str):
            return self._unknown(node)
        if len(node.args) > 1 and ":" not in text:
            index = self.of(node.args[1].value, scope, depth + 1)
            constant = index.value.kind == "constant" and index.sure
            text = f"{text}:{index.value.value if constant else '*'}"
        return Known(Value("device", text), known.sure, known.defaults)
