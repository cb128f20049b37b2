"""Find the files that a module loads and has written itself: in the same run, or with data of the host."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from xlamig import ir
from xlamig.facts import ApiUse, Fact, Span
from xlamig.flow.model.by_kind import call_at, function_around, of_kind
from xlamig.flow.model.only_calls import arguments
from xlamig.flow.model.option_codes import option_of
from xlamig.flow.model.scopes import Scope, ScopeTable, path_of
from xlamig.flow.model.site import Analysis
from xlamig.knowledge import values as table

HOST_DATA, ON_HOST = "host-data", "on-host"
PRETRAINED = re.compile(r"pre_?train|finetune", re.I)
_SAVES = "saves"  # the habit of a module, see engine.clues
_LOADER = "torch.load"
_DATASET = re.compile(r"Dataset$|^torchvision\.datasets\.")
_MAY_PLACE = re.compile(
    r"cuda|device|gpu|xla|\.to\((?!torch\.\w+\))|state_dict|(?:model|net|encoder)\w*\(", re.I
)
_HEADS = frozenset({"Path", "str", "abspath", "realpath", "expanduser"})
_FOLLOWED = 4  # names and calls around a path


class OwnFiles:
    """Reads the paths of a module's `torch.save` and `torch.load`; `proofs` are the interpreter's."""

    def __init__(
        self, scopes: ScopeTable, analysis: Analysis, proofs: Mapping[Span, Mapping[str, str]]
    ) -> None:
        self.scopes, self.analysis, self.proofs = scopes, analysis, proofs
        self._module = analysis.module

    def proof(self, fact: Fact) -> Mapping[str, str]:
        """The proof "own-file" of a load: a loop or statement above it in the function has saved the file,
        or all that the module saves there is data of the host; "saved-on-cpu" of a file that the user chooses
        where every save of the program writes copies on the CPU."""
        if not isinstance(fact, ApiUse) or fact.name != _LOADER or "torch.save" not in self.analysis.text:
            return {}
        load = call_at(self._module, fact.span)
        path = _argument(load, 0) if load is not None else None
        if load is None or path is None:
            return {}
        every = list(self._saves())
        if any(self._writes_before(load, path, save) for save in every):
            return {"own-file": "run"}
        saves = [save for save in every if self._is_same(load, path, save)]
        if saves and all(map(self._holds_host_data, saves)):
            return {"own-file": "host"}
        return {"saved-on-cpu": "yes"} if self._is_chosen(path) and self._saves_copies(every) else {}

    def _saves(self) -> Iterator[ir.Call]:
        names = table.names("collectives", "saves")
        for call in of_kind(self._module, ir.Call):
            if len(call.args) > 1 and self.analysis.names.dotted(call.func, self._scope(call)) in names:
                yield call

    # ------------------------------------------------------------------ what is saved

    def _writes_before(self, load: ir.Call, path: ir.Expr, save: ir.Call) -> bool:
        """Return whether a run that comes to a load has saved the file by then: `torch.save(net, best)` where
        a loop finds a better one, and `torch.load(best)` below it."""
        written = _argument(save, 1)
        scope = self._scope(load)
        if written is None or save.end > load.start or self._scope(save) is not scope:
            return False
        top = scope.node if isinstance(scope.node, ir.FunctionDef) else self._module
        ways = [list(ir.path_down(top, call)) for call in (save, load)]
        if self._text(_opened(written, ways[0])) != self._text(_opened(path, ways[1])):
            return False
        around = (node for node in ways[0] if node not in ways[1])
        first = next((node for node in around if isinstance(node, ir.If | ir.For | ir.While)), None)
        return not isinstance(first, ir.If)

    def _saves_copies(self, saves: Sequence[ir.Call]) -> bool:
        """Return whether the program saves states, and all that it saves are copies on the CPU."""
        if _SAVES in self.analysis.elsewhere or not any(map(self._saves_state, saves)):
            return False
        proofs = (self.proofs.get((save.start, save.end), {}) for save in saves)
        return all(HOST_DATA in proven or ON_HOST in proven for proven in proofs)

    def _saves_state(self, save: ir.Call) -> bool:
        around = self._scope(save).node or self._module
        return "state_dict()" in self.analysis.source(around)

    def _is_chosen(self, path: ir.Expr) -> bool:
        """Return whether an option names the file that is loaded, and not one that others have trained."""
        is_option = isinstance(path, ir.Attribute | ir.Subscript) and option_of(path) != ""
        return is_option and not PRETRAINED.search(self._text(path))

    def _holds_host_data(self, save: ir.Call) -> bool:
        """Return whether what is saved is proven to be on the host, or a dataset that places nothing keeps
        it."""
        if HOST_DATA in self.proofs.get((save.start, save.end), {}):
            return True
        owner = self._scope(save).class_scope
        if owner is None or not isinstance(owner.node, ir.ClassDef):
            return False
        bases = (
            self.analysis.names.dotted(a.value, owner.module) or path_of(a.value) for a in owner.node.args
        )
        is_dataset = any(_DATASET.search(base) for base in bases)
        return is_dataset and not _MAY_PLACE.search(self.analysis.source(owner.node))

    # ------------------------------------------------------------------ paths

    def _is_same(self, load: ir.Call, path: ir.Expr, save: ir.Call) -> bool:
        """Return whether a save writes the file that is loaded."""
        written = _argument(save, 1)
        here, there = self._scope(load), self._scope(save)
        if written is None:
            return False
        name = self._file_name(path, here)
        if name and name == self._file_name(written, there):
            return True
        same = self._text(path) == self._text(written)
        if same and (here is there or (here.class_scope is there.class_scope and _is_of_self(path))):
            return True
        return self._is_passed(here, path, there, written)

    def _is_passed(self, here: Scope, path: ir.Expr, there: Scope, written: ir.Expr) -> bool:
        """Return whether the function that loads gives the path to the one that saves: `make(ids, path)`."""
        saver, loader = there.node, here.node
        if not isinstance(written, ir.Name) or not isinstance(saver, ir.FunctionDef) or loader is None:
            return False
        for call in of_kind(self._module, ir.Call):
            inside = loader.start <= call.start < loader.end
            if inside and path_of(call.func).rpartition(".")[2] == saver.name:
                given = arguments(call, saver).get(written.id)
                if given is not None and self._text(given) == self._text(path):
                    return True
        return False

    def _file_name(self, node: ir.Expr, scope: Scope, depth: int = _FOLLOWED) -> str:
        """Return the constant name of the file at the end of a path, "" if it is not known as a whole."""
        if not depth:
            return ""
        match node:
            case ir.Const(value=str(text)):
                return text.rpartition("/")[2]
            case ir.FString(parts=(*_, str(text))) if "/" in text:
                return text.rpartition("/")[2]
            case ir.Binary(op="/", right=right):
                return self._file_name(right, scope, depth - 1)
            case ir.Binary(op="+", right=right):
                return self._file_name(right, scope, depth - 1) if "/" in self._text(right) else ""
            case ir.Binary(op="%", left=left) | ir.Call(func=ir.Attribute(value=left, attr="format")):
                last = _name_in(left)
                return "" if "{" in last or "%" in last else last
            case ir.Call(func=func, args=(*_, last)) if path_of(func).endswith("path.join"):
                return self._file_name(last.value, scope, depth - 1)
            case ir.Call(func=func, args=(only,)) if path_of(func).rpartition(".")[2] in _HEADS:
                return self._file_name(only.value, scope, depth - 1)
            case ir.Name() | ir.Attribute():
                bound = scope.find(path_of(node)) if path_of(node) else []
                value = bound[0].value if len(bound) == 1 and bound[0].kind == "value" else None
                return self._file_name(value, bound[0].scope, depth - 1) if value is not None else ""
        return ""

    def _text(self, node: ir.Expr) -> str:
        return " ".join(self.analysis.source(node).split())

    def _scope(self, call: ir.Call) -> Scope:
        """Return the scope of the innermost function around a call."""
        function = function_around(self._module, call)
        return self.scopes.module if function is None else self.scopes.of(function)


def _argument(call: ir.Call, index: int) -> ir.Expr | None:
    """Return the argument that is the file of a load or save."""
    named = next((arg.value for arg in call.args if arg.keyword == "f"), None)
    plain = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    return named or (plain[index] if len(plain) > index else None)


def _opened(file: ir.Expr, around: Iterable[ir.Node]) -> ir.Expr:
    """Return the path of a file that a statement around opens, `with open(path, "wb") as f`, or the file."""
    for node in around:
        for item in node.items if isinstance(node, ir.With) else ():
            match item:
                case ir.WithItem(
                    value=ir.Call(func=ir.Name(id="open"), args=(ir.Arg(value=path), *_)),
                    target=ir.Name(id=name),
                ) if path_of(file) == name:
                    return path
    return file


def _name_in(node: ir.Expr) -> str:
    """Return what a text has after its last slash, "" without one."""
    text = node.value if isinstance(node, ir.Const) and isinstance(node.value, str) else ""
    return text.rpartition("/")[2] if "/" in text else ""


def _is_of_self(node: ir.Expr) -> bool:
    """Return whether only attributes of `self` decide a path."""
    names = [part.id for part in ir.walk(node) if isinstance(part, ir.Name)]
    return "self" in names and all(name in ("self", "os", "Path", "str") for name in names)
