"""The values that annotations promise: of parameters, attributes and results."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.domain import (
    BOOL,
    FOREIGN,
    LIKELY,
    NONE,
    NUMBER,
    TEXT,
    TOP,
    AbstractValue,
    Mark,
    Residence,
    inside,
    join_all,
)
from xlamig.flow.interp.frames import ClassInfo, object_of
from xlamig.flow.interp.libraries import library_object
from xlamig.flow.interp.state import State
from xlamig.flow.model.kinds import is_distribution_class
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_OF_PYTHON = frozenset({"number", "bool", "text", "foreign"})
_DTYPES = {"Float": "float", "Int": "int", "Integer": "int", "UInt": "int", "Bool": "bool"}
_PLAIN = {"int": NUMBER, "float": NUMBER, "bool": BOOL, "str": TEXT} | dict.fromkeys(
    ("ndarray", "Path", "Image", "DataFrame", "Series"), FOREIGN
)
_CONTAINERS = frozenset({"list", "List", "Sequence", "Iterable", "tuple", "Tuple"})


class Annotations:
    def __init__(self, state: State) -> None:
        self.m = state

    @staticmethod
    def _is_library_model(dotted: str) -> bool:
        """Return whether a class that is imported is called like a model: `UNet2DConditionModel`."""
        data = dotted.startswith(("pydantic", "django"))
        return "." in dotted and not data and table.name_like("module-annotation").search(dotted) is not None

    def promised(self, name: str, annotation: ir.Expr, place: Residence = "either") -> AbstractValue | None:
        """Return the value that the annotation of a name promises; a list of lengths holds a different number
        each time, and of lists of tokens, each has a length of its own. A size of a layer is no tensor."""
        known = self.annotated(annotation, place)
        if known is not None and known.kind == "tensor" and table.name_like("layer-size").search(name):
            return None
        if known is None or known.kind != "sequence" or known.element is None:
            return known
        held = known.element
        if held.kind == "number" and table.name_like("lengths").search(name):
            return known.replace(element=AbstractValue("number", cause="batch", sure=LIKELY))
        of_tokens = held.kind == "sequence" and held.element is NUMBER
        if of_tokens and table.name_like("token-lists").search(name):
            why = Why(f"each list of `{name}` has a length of its own", (annotation.start, annotation.end))
            return known.replace(
                element=held.replace(cause="batch", sure=LIKELY, trait=Mark.SAMPLE, why=(why,))
            )
        return known

    def annotated(self, node: ir.Expr, place: Residence = "either") -> AbstractValue | None:
        """Return the value that an annotation promises; None if it promises nothing of interest."""
        match node:
            case ir.Const(value=str(text)):
                last = text.rpartition(".")[2]
                return AbstractValue("tensor", place, sure=LIKELY) if last == "Tensor" else None
            case ir.Const(value=None):
                return NONE
            case ir.Binary(op="|", left=left, right=right):
                return self._one_of((left, right), place)
            case ir.Subscript(value=value, index=index):
                module, _, name = self._name(value).rpartition(".")
                if module == "jaxtyping":  # `Float[Tensor, "batch dim"]`
                    known = self.annotated(index[0], place)
                    return known and known.replace(dtype=_DTYPES.get(name, ""))
                return self._subscript(name, index, place)
        return self._plain(node, place)

    def _one_of(self, nodes: tuple[ir.Expr, ...], place: Residence) -> AbstractValue | None:
        found = [self.annotated(node, place) for node in nodes]
        kept = [thing for thing in found if thing is not None and thing.kind != "none"]
        objects = [thing for thing in kept if thing.kind == "foreign" and thing.trait is not None]
        if objects:  # `Union[Cache, list[Tensor]]`: the list is what it was before
            return objects[0]
        if len(kept) > 1 and None not in found and all(inside(thing).kind in _OF_PYTHON for thing in kept):
            return join_all(kept)
        return kept[0] if len(kept) == 1 else None

    def _subscript(self, name: str, index: tuple[ir.Expr, ...], place: Residence) -> AbstractValue | None:
        if name == "Optional":
            return self.annotated(index[0], place)
        if name == "Union":
            return self._one_of(index, place)
        if name in _CONTAINERS:
            inner = self.annotated(index[0], place)
            if inner is None:
                return None
            if name in ("tuple", "Tuple") and len(index) > 1 and not isinstance(index[1], ir.Const):
                parts = [self.annotated(part, place) or TOP for part in index]
                return AbstractValue("sequence", items=tuple(parts))
            return AbstractValue("sequence", element=inner)
        if name in ("dict", "Dict", "Mapping") and len(index) == 2:
            inner = self.annotated(index[1], place)
            return AbstractValue("mapping", element=inner) if inner is not None else None
        if name == "DataLoader":
            return AbstractValue("loader", "host")
        return None

    def _name(self, node: ir.Expr) -> str:
        """Return the full name of a type, as it is spelled where nothing shows where it comes from."""
        return self.m.names.dotted(node, self.m.frame.scope) or path_of(node)

    def _alias(self, node: ir.Name) -> ir.Expr | None:
        """Return the type that a name of the module stands for: `Maybe = Optional[Tensor]`."""
        bindings = self.m.frame.scope.lookup(node.id)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "value" else None
        return value if isinstance(value, ir.Subscript | ir.Binary) else None

    def _plain(self, node: ir.Expr, place: Residence) -> AbstractValue | None:
        dotted = self._name(node)
        if (plain := _PLAIN.get(dotted.rpartition(".")[2])) is not None:
            return plain
        if table.name_like("tensor-annotation").search(dotted):
            dtype = "bool" if dotted.endswith("BoolTensor") else ""
            return AbstractValue("tensor", place, sure=LIKELY, dtype=dtype)
        if kind := table.object_of(self.m.names.canonical(dotted)):
            return library_object(kind)
        if is_distribution_class(dotted):
            return AbstractValue("distribution", place, sure=LIKELY, ref=dotted)
        if dotted == "torch.Size":
            return AbstractValue("sequence", element=NUMBER, trait=Mark.SHAPE)
        if dotted == "torch.device":
            return AbstractValue("device", "device", sure=LIKELY)
        if dotted.startswith("torch.optim.") or dotted.endswith("Optimizer"):
            return AbstractValue("optimizer", "device", sure=LIKELY)
        if dotted.startswith("torch.nn.") and not dotted.startswith("torch.nn.functional"):
            return AbstractValue("module", "device", sure=LIKELY)
        if dotted.endswith("DataLoader"):
            return AbstractValue("loader", "host")
        if isinstance(node, ir.Name):
            alias = self._alias(node)
            if alias is not None:
                return self.annotated(alias, place)
            held = self.m.semantics.evaluate(node)
            if isinstance(held.ref, ClassInfo) and held.kind == "class":
                return object_of(held.ref, "device")
            if held.kind in ("unknown", "api") and self._is_library_model(dotted):
                return AbstractValue("module", "either", sure=LIKELY, loose=True)
        return None
