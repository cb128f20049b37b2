"""Find loads of files with objects, which `torch.load` refuses by its default `weights_only=True`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from xlamig import ir
from xlamig.facts import ApiUse, Fact, Span
from xlamig.flow.detectors.own_files import PRETRAINED, OwnFiles
from xlamig.flow.model.by_kind import call_at
from xlamig.flow.model.known import short
from xlamig.flow.model.pickled import FILE, HABIT, KEYS, TRUSTS, Pickled, is_of_objects
from xlamig.flow.model.scopes import Binding, Scope, ScopeTable, path_of
from xlamig.flow.model.site import Analysis

HOLDS_OBJECTS = "holds-objects"
_LOADER = "torch.load"
_KEEP = frozenset({"to", "cuda", "cpu", "float", "half", "double"})
_CHECKPOINT = re.compile(r"checkpoint|ckp|resume|snapshot", re.I)
_SAVED = "the program saves"
_TESTS = frozenset({"isinstance", "hasattr", "type", "getattr"})
_DEPTH = 3  # names that a value is given in turn


class LoadedFiles:
    """Says what is proven of the files that a module loads; `proofs` are the interpreter's."""

    def __init__(
        self,
        scopes: ScopeTable,
        analysis: Analysis,
        proofs: Mapping[Span, Mapping[str, str]],
        called_elsewhere: Collection[str] = (),
    ) -> None:
        self._of_files = (OwnFiles(scopes, analysis, proofs, called_elsewhere), Unpickled(scopes, analysis))

    def proof(self, fact: Fact) -> Mapping[str, str]:
        """Return the proofs "own-file" and "holds-objects" of a load."""
        return {key: said for one in self._of_files for key, said in one.proof(fact).items()}


class Unpickled:
    """Reads what a module does with what it loads, and what its program saves."""

    def __init__(self, scopes: ScopeTable, analysis: Analysis) -> None:
        self.scopes, self.analysis = scopes, analysis
        self._module = analysis.module
        self._pickled = Pickled(analysis.module, scopes, analysis.text)

    def proof(self, fact: Fact) -> Mapping[str, str]:
        """Return the proof "holds-objects" of a load, which says in words what the file holds."""
        if not isinstance(fact, ApiUse) or fact.name != _LOADER or fact.via != "call":
            return {}
        load = call_at(self._module, fact.span)
        if load is None or TRUSTS in self._habits:
            return {}
        what = self._used(load) or self._saved(load)
        return {HOLDS_OBJECTS: what} if what else {}

    @cached_property
    def _habits(self) -> Mapping[str, Sequence[str]]:
        """The habits of the program, each with its parts, in the order in which they are found."""
        found = dict.fromkeys((*self._pickled.habits(), *self.analysis.elsewhere))
        return {habit: habit.split("|", 3) for habit in found}

    # ------------------------------------------------------------------ what is done with it

    def _used(self, load: ir.Call) -> str:
        """Return which object the file holds, by the attributes that are asked of what is loaded."""
        scope = self._pickled.scope_at(load)
        root = scope.node or self._module
        around = [node for node in ir.path_down(root, load) if isinstance(node, ir.Expr | ir.Stmt)]
        asked = _asked(around, load)
        if isinstance(asked, str):
            return _in_words("it", {asked})
        statement = next((node for node in reversed(around) if isinstance(node, ir.Stmt)), None)
        if isinstance(statement, ir.Assign) and statement.value is asked and len(statement.targets) == 1:
            return self._of_target(statement.targets[0], statement, scope, root, _DEPTH)
        return ""

    def _of_target(self, target: ir.Expr, statement: ir.Stmt, scope: Scope, root: ir.Node, depth: int) -> str:
        """Return what a name holds after a statement, by what the function does with it."""
        path = path_of(target)
        if not path or not depth or path.startswith("self.") or _is_tested(root, path):
            return ""
        objects: set[str] = set()
        first = ""
        for node in self._uses(path, statement, scope, root):
            match node:
                case ir.Attribute(value=value, attr=attr) if _source(value, path):
                    if is_of_objects(attr):
                        objects.add(attr)
                        first = first or self._text(value)
                case ir.Assign(targets=(ir.Name() as other,), value=ir.Subscript() as part):
                    is_part = _source(part, path) and other.id != path and len(scope.find(other.id)) == 1
                    if is_part and (found := self._of_target(other, node, scope, root, depth - 1)):
                        return found
                case ir.Call(func=ir.Name(id="vars"), args=(ir.Arg(value=value),)) if _source(value, path):
                    objects.add("__dict__")
                    first = first or self._text(value)
                case ir.Comprehension(element=element, generators=(ir.Generator(target=one, iter=all_),)):
                    if isinstance(one, ir.Name) and path_of(all_) == path:
                        named = [attr for attr in _attributes(element, one.id) if is_of_objects(attr)]
                        if named:
                            return f"`.{named[0]}` is read of the objects in it"
        return _in_words(first, objects)

    def _uses(self, path: str, statement: ir.Stmt, scope: Scope, root: ir.Node) -> Iterator[ir.Node]:
        """Yield the nodes of a function after a statement that gives a name its value, but for those below
        where the name gets another one."""
        others = [
            (binding.end, _end_of_block(root, binding))
            for binding in scope.find(path)
            if binding.start > statement.start and binding.end <= (root.end or 0)
        ]
        for node in _own(root):
            if node.start >= statement.end and not any(start <= node.start < end for start, end in others):
                yield node

    def _text(self, node: ir.Expr) -> str:
        return short(self.analysis.source(node))

    # ------------------------------------------------------------------ what the program saves

    def _saved(self, load: ir.Call) -> str:
        """Return which object is in the file, if the program saves it by that name or with these keys."""
        path = next((arg.value for arg in load.args if arg.keyword in (None, "f")), None)
        text = self._text(path) if path is not None else ""
        scope = self._pickled.scope_at(load)
        for save in self._saves.get((text, scope), ()):
            if what := self._pickled.object_in(save.args[0].value, scope):
                return f"{_SAVED} {what} there"
        for _, kind, where, what in (parts for parts in self._habits.values() if parts[0] == HABIT):
            if kind == FILE and where.rpartition(".")[0] and text.rstrip("\"')").endswith(where):
                return f"{_SAVED} {what} there"
            if kind == KEYS and self._is_checkpoint(load, frozenset(where.split(",")), text):
                return f"{_SAVED} {what}"
        return ""

    @cached_property
    def _saves(self) -> Mapping[tuple[str, Scope], Sequence[ir.Call]]:
        """The calls that save by how the file is written, and the scope around."""
        found: dict[tuple[str, Scope], list[ir.Call]] = {}
        for save in self._pickled.saves():
            place = (self._text(save.args[1].value), self._pickled.scope_at(save))
            found.setdefault(place, []).append(save)
        return found

    def _is_checkpoint(self, load: ir.Call, saved: frozenset[str], path: str) -> bool:
        """Return whether what is loaded has the keys that the program saves: several of them, or one where
        the file is named as a checkpoint."""
        keys, name = self._keys(load)
        named = _CHECKPOINT.search(f"{name} {path}") and not PRETRAINED.search(f"{name} {path}")
        return keys <= saved | {""} and (len(keys - {""}) > 1 or bool(keys and named))

    def _keys(self, load: ir.Call) -> tuple[set[str], str]:
        """Return the keys that the function asks of what is loaded, "" for one that is not constant, and
        the name that holds it."""
        scope = self._pickled.scope_at(load)
        root = scope.node or self._module
        for node in ir.walk(root):
            match node:
                case ir.Assign(targets=(target,), value=value) if value is load and (path := path_of(target)):
                    uses = self._uses(path, node, scope, root)
                    return {key for use in uses for key in _keys_of(use, path)}, path
                case ir.Subscript(value=value, index=(ir.Const(value=str(key)),)) if value is load:
                    return {key}, ""
        return set(), ""


def _asked(around: Sequence[ir.Node], load: ir.Call) -> ir.Expr | str:
    """Return the attribute of objects that is asked of what is loaded where it is loaded, or the whole
    expression of its entries."""
    node: ir.Expr = load
    for above in reversed(around):
        match above:
            case ir.Attribute(value=value, attr=attr) if value is node:
                if is_of_objects(attr):
                    return attr
                if attr not in _KEEP:
                    return node
            case ir.Call(func=func) if func is node and isinstance(node, ir.Attribute):
                pass
            case ir.Subscript(value=value) if value is node:
                pass
            case _:
                if above is node:
                    continue
                return node
        node = above
    return node


def _source(node: ir.Expr, path: str) -> bool:
    """Return whether an expression is what a name holds, or an entry of it, moved or not."""
    while True:
        match node:
            case ir.Subscript(value=value):
                node = value
            case ir.Call(func=ir.Attribute(value=value, attr=attr)) if attr in _KEEP or attr == "get":
                node = value
            case _:
                return path_of(node) == path


def _is_tested(root: ir.Node, path: str) -> bool:
    """Return whether a function asks for the type of what a name holds."""
    for node in ir.walk(root):
        match node:
            case ir.Call(func=ir.Name(id=name), args=(first, *_)) if name in _TESTS:
                if _source(first.value, path):
                    return True
    return False


def _own(root: ir.Node) -> Iterator[ir.Node]:
    """Yield the nodes of a function, without the functions and classes in it."""
    todo: list[ir.Node] = [root]
    while todo:
        node = todo.pop()
        yield node
        inner = [n for n in ir.children(node) if not isinstance(n, ir.FunctionDef | ir.ClassDef | ir.Lambda)]
        todo.extend(reversed(inner))


def _end_of_block(root: ir.Node, binding: Binding) -> int:
    """Return where the block ends that a binding is in."""
    end = root.end
    for node in ir.walk(root):
        if isinstance(node, ir.Stmt) and node.start <= binding.start and binding.end <= node.end:
            for block in ir.blocks_of(node):
                if block and block[0].start <= binding.start and binding.end <= block[-1].end:
                    end = min(end, block[-1].end)
    return end


def _attributes(node: ir.Node, name: str) -> Iterator[str]:
    for part in ir.walk(node):
        match part:
            case ir.Attribute(value=ir.Name(id=same), attr=attr) if same == name:
                yield attr


def _keys_of(node: ir.Node, path: str) -> Iterator[str]:
    """Yield the key by which a node asks for an entry of what a name holds, "" if it is not constant."""
    match node:
        case ir.Subscript(value=value, index=(key,)) if path_of(value) == path:
            yield key.value if isinstance(key, ir.Const) and isinstance(key.value, str) else ""
        case ir.Compare(left=ir.Const(value=str(key)), ops=("in" | "not in",), comparators=(of,)):
            if path_of(of) == path:
                yield key
        case ir.Call(func=ir.Attribute(value=value, attr="get" | "pop"), args=(first, *_)):
            key = first.value
            if path_of(value) == path and isinstance(key, ir.Const) and isinstance(key.value, str):
                yield key.value


def _in_words(text: str, objects: set[str]) -> str:
    """Return how a file is used that holds an object with these attributes; "" for none."""
    if not objects:
        return ""
    shown = text if text == "it" else f"`{text}`"
    if not objects.isdisjoint(("state_dict", "eval", "train")):
        return f"{shown} is used as a whole module"
    return f"`.{min(objects)}` is read of {shown}, an object"
