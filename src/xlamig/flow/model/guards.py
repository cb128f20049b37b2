"""Conditions that decide whether a place runs: CUDA tests, optional packages, other targets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import Guard, GuardKind
from xlamig.flow.model.conditions import condition_of
from xlamig.flow.model.cuda_answers import CudaAnswers
from xlamig.flow.model.device_names import may_choose_device
from xlamig.flow.model.known import short
from xlamig.flow.model.outcomes import UNDECIDED, outcome
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.flow.model.site import Analysis
from xlamig.flow.model.tensor_methods import is_of_tensors
from xlamig.flow.model.torch_tests import TorchTests
from xlamig.flow.model.versions import holds_on_torch
from xlamig.flow.model.words import settings_of
from xlamig.knowledge import values as table
from xlamig.knowledge.devices import alternatives

NAMES_XLA = re.compile(r"(?<![a-z])(?:xla|tpu)", re.IGNORECASE)  # not "output"
_XLA, _OTHER_DEVICE = (
    re.compile(rf"(?:^|_|\b)(?:{alternatives(maker, words=True)})(?:_|\b|$)", re.IGNORECASE)
    for maker in ("xla", "other")
)
# What a TPU host has like any other: asking for it keeps nobody out.
_EVERYWHERE = re.compile(
    r"(?:^|_)(?:torch|accelerate|transformers|datasets|distributed|nccl|numpy|scipy|safetensors|peft|wandb"
    r"|tensorboard|tqdm|vision|torchvision|sklearn|einops|timm|pil|cv2)_(?:available|installed)$",
    re.IGNORECASE,
)
_OLD_TORCH = re.compile(r"^_?(?:IS_)?TORCH_?(?:GE_|GT_|GTE_|VERSION_)?\d", re.IGNORECASE)
_NEEDS_GPU = re.compile(r"^(?:skip_)?(?:require|requires|need|needs|if)?_?(?:\w+_)?(?:cuda|gpu)$")
_GPU_TEST = re.compile(r"cuda|gpu|^not DEVICES", re.IGNORECASE)
_GPU_MEMBER = re.compile(r"\.(?:MULTI_GPU|CUDA|GPU|NCCL)$")
_AVAILABLE = re.compile(
    r"^_?(?:is|has|have|use)_\w+_(?:available|installed)$|^_?HAS_\w+$|_AVAILABLE$|_available$"
)
_OPPOSITES = {"==": "!=", "!=": "==", "is": "is not", "is not": "is", "in": "not in", "not in": "in"}


class Guards:
    """Reads tests. The guards of a test are what must be true where it held."""

    def __init__(self, analysis: Analysis) -> None:
        self.values = analysis.values
        self.text = analysis.text
        self._known = analysis.guards
        self._answers = CudaAnswers(self)
        self.torch = TorchTests(analysis.values.names, analysis.text)

    def of(self, test: ir.Expr, scope: Scope, holds: bool) -> tuple[Guard, ...]:
        """Return what must be true where a test holds, or where it does not."""
        key = test, scope, holds
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = tuple(self._guards(test, scope, holds))
        return known

    def of_option(self, node: ir.Expr, scope: Scope) -> tuple[Guard, ...]:
        """Return the guard of a place that runs only where an option is on; none where it may be on."""
        kind = self._switched(node, scope, True)
        text = short(self.text[node.start : node.end])
        return (Guard(kind, text, (node.start, node.end)),) if kind is not None else ()

    def of_decorator(self, node: ir.Expr, scope: Scope) -> tuple[Guard, ...]:
        """`@pytest.mark.skipif(...)`, `@unittest.skipUnless(...)`, `@require_cuda`."""
        called = node.func if isinstance(node, ir.Call) else node
        last = path_of(called).rpartition(".")[2]
        if isinstance(node, ir.Call) and node.args and last in ("skipif", "skipIf", "skipUnless"):
            found = self.of(node.args[0].value, scope, last == "skipUnless")
            text = short(self.text[node.args[0].start : node.args[0].end])
            asks = not found and _GPU_TEST.search(text)
            return (Guard("cuda", f"@{last}({text})", (node.start, node.end)),) if asks else found
        if _NEEDS_GPU.search(last):
            return (Guard("cuda", f"@{last}", (node.start, node.end)),)
        return ()

    def _guards(self, test: ir.Expr, scope: Scope, holds: bool) -> Iterator[Guard]:
        match test:
            case ir.Unary(op="not", operand=operand):
                yield from self._guards(operand, scope, not holds)
                return
            case ir.Bool(op=op, values=values):
                # `a and b` held: both did; `a or b` did not hold: neither did.
                if (op == "and") == holds:
                    for value in values:
                        yield from self._guards(value, scope, holds)
                return
            case ir.Walrus(value=value):
                yield from self._guards(value, scope, holds)
                return
        kind = self._kind(test, scope, holds)
        if kind is not None:
            text = short(self.text[test.start : test.end])
            yield Guard(kind, text if holds else self._opposite(test, text), (test.start, test.end))

    def _opposite(self, test: ir.Expr, text: str) -> str:
        """Return the source of a test's opposite: `a == b` for `a != b`, `not a` for `a`."""
        match test:
            case ir.Compare(left=left, ops=(op,), comparators=(right,)) if op in _OPPOSITES:
                parts = [self.text[part.start : part.end] for part in (left, right)]
                if short(f" {op} ".join(parts)) == text:
                    return short(f" {_OPPOSITES[op]} ".join(parts))
        return f"not {text}"

    def _kind(self, test: ir.Expr, scope: Scope, holds: bool) -> GuardKind | None:
        known = self.values.of(test, scope)
        if known.value.kind == "cuda-test":
            return "cuda" if known.negated != holds else None
        if known.value.kind == "constant" and known.sure:
            # A setting that is None until it is set says nothing of the run.
            value = known.value.value
            return "never" if isinstance(value, bool | int) and bool(value) is not holds else None
        if holds and known.value.kind == "constant" and self._is_left_off(test, scope):
            return "unset"
        if known.value.kind == "sequence":
            return None
        if (switched := self._switched(test, scope, holds)) is not None:
            return switched
        if (found := self.torch.holds(test, scope)) is not None:
            return "never" if found is not holds else None
        on_torch = holds_on_torch(self.text[test.start : test.end])
        if on_torch is not None:
            return "version" if on_torch is not holds else None
        return self._by_name(test, scope, holds)

    def _switched(self, test: ir.Expr, scope: Scope, holds: bool) -> GuardKind | None:
        """Return the kind of a test that has the other outcome in the whole project, or wherever CUDA is
        missing, because of the values of an option."""
        switches = self.values.switches
        condition = condition_of(test, scope, "")
        found = outcome(condition, switches) if switches else UNDECIDED
        if found.holds is not (not holds):
            return None
        if condition.kind == "main":
            return "self-test" if may_choose_device(self.text) else "host-test"
        return "cuda" if found.of_cuda else "off"

    def _is_left_off(self, test: ir.Expr, scope: Scope) -> bool:
        """Return whether a test asks for `self.flag`, which its constructor sets to False or None: nothing
        in the file looks as if it switched the flag on."""
        path = path_of(test)
        first, _, name = path.partition(".")
        bindings = scope.find(path) if first == "self" and name.isidentifier() else []
        off = [b for b in bindings if isinstance(b.value, ir.Const) and b.value.value in (False, None)]
        if not off or len(off) != len(bindings) or not all(b.scope.name.endswith("__init__") for b in off):
            return False
        return settings_of(name, self.text) == len(off)

    def _by_name(self, test: ir.Expr, scope: Scope, holds: bool) -> GuardKind | None:
        subject = test.func if isinstance(test, ir.Call) else test
        last = path_of(subject).rpartition(".")[2]
        if last == "TYPE_CHECKING":
            return "type-checking" if holds else None
        if isinstance(test, ir.Compare):
            return self._comparison(test, scope, holds)
        if holds and self._answers.holds_for_cuda_alone(test, scope):
            return "cuda"
        if isinstance(test, ir.Call) and last == "hasattr":
            wanted = [a.value.value for a in test.args[1:2] if isinstance(a.value, ir.Const)]
            if not self._is_torch(test.args[:1], scope):
                of_tensor = any(is_of_tensors(str(name)) for name in wanted)  # holds for each of them
                return "hasattr" if holds and not of_tensor else None
            return "no-xla" if holds and wanted == ["tpu"] else None  # only torch_tpu makes torch.tpu
        if last == "find_spec":
            return "package" if holds else None
        if not isinstance(test, ir.Call | ir.Name | ir.Attribute):
            return None
        path = path_of(subject)
        if holds and last == "device_ids" and not isinstance(test, ir.Call):
            return "cuda"  # an empty list where there are no CUDA devices
        if _XLA.search(path):
            if isinstance(test, ir.Call) and any(a.keyword == "check_is_gpu" for a in test.args):
                return "cuda" if holds else None  # torch_xla on GPUs, which was a thing once
            return "xla" if holds else "no-xla"
        if not holds:
            return "version" if _OLD_TORCH.search(last) else None
        if _OTHER_DEVICE.search(path):
            return "other-device"
        dotted = self.values.names.dotted(subject, scope) or ""
        if _EVERYWHERE.search(last):
            return None
        if _AVAILABLE.search(last) and not dotted.startswith("torch."):
            return "package"
        return self._optional_module(test, scope)

    def _is_torch(self, args: tuple[ir.Arg, ...], scope: Scope) -> bool:
        """torch 2.9 has nearly all that is asked for; what it lacks on XLA no hasattr tells."""
        dotted = [self.values.names.dotted(arg.value, scope) or "" for arg in args]
        return any(d == "torch" or d.startswith("torch.") for d in dotted)

    def _comparison(self, test: ir.Compare, scope: Scope, holds: bool) -> GuardKind | None:
        text = self.text[test.start : test.end]
        negative = test.ops[0] in ("!=", "is not", "not in")
        right = test.comparators[0]
        if isinstance(right, ir.Const) and right.value is None:
            present = negative == holds
            if "find_spec" in text:
                return "package" if present else None
            if _XLA.search(path_of(test.left)) or path_of(test.left) in ("xm", "xr"):
                return "xla" if present else "no-xla"
            if present and self._set_on_cuda(test.left, scope):
                return "cuda"
            return self._optional_module(test.left, scope) if present else None
        if _GPU_MEMBER.search(path_of(right)):
            return "cuda" if negative != holds else None
        if _XLA.search(path_of(right).rpartition(".")[2]):  # DistributedType.XLA
            return "xla" if negative != holds else "no-xla"
        if self._is_of_half(test.left, right, scope):
            return "half" if negative != holds else None
        literal = next((e.value for e in (test.left, right) if isinstance(e, ir.Const)), None)
        if isinstance(literal, str) and ("device" in text or ".type" in text):
            if _XLA.search(literal):
                return "xla" if negative != holds else "no-xla"
            if _OTHER_DEVICE.search(literal):
                return "other-device" if negative != holds else None
        return None

    def _is_of_half(self, left: ir.Expr, right: ir.Expr, scope: Scope) -> bool:
        """`x.dtype == torch.float16`; and the type that autocast computes in."""
        asked = left.func if isinstance(left, ir.Call) else left
        of_tensor = table.names("half-precision", "asked")
        if path_of(asked).rpartition(".")[2] not in of_tensor:
            return False
        return self.values.names.dotted(right, scope) in table.names("half-precision", "types")

    def _set_on_cuda(self, node: ir.Expr, scope: Scope) -> bool:
        """`index = ... if device.type == "cuda" else None`, asked for by `index is not None`."""
        path = path_of(node)
        chosen = [b.value for b in scope.find(path) if isinstance(b.value, ir.IfExp)] if path else []
        return any(
            isinstance(value.orelse, ir.Const)
            and value.orelse.value is None
            and (known := self.values.of(value.test, scope)).value.kind == "cuda-test"
            and not known.negated
            for value in chosen
        )

    def _optional_module(self, test: ir.Expr, scope: Scope) -> GuardKind | None:
        """`if flash_attn_func:` after a guarded import."""
        if isinstance(test, ir.Name) and any(b.optional for b in scope.lookup(test.id)):
            return "package"
        return None
