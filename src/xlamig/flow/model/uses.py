"""Which imported names a module uses, by their dotted names: what conditions on a whole program ask."""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from xlamig import ir
from xlamig.flow.model.draw_rates import (
    NO_LIMITS,
    NOTHING,
    Around,
    draws_when_called,
    may_draw,
    split_limits,
    with_limits,
)
from xlamig.flow.model.draws import INFERS, draws_on_host, infers, initialises, keywords_of, method_of
from xlamig.flow.model.pieces import Pieces
from xlamig.flow.model.scalers import SCALES, may_scale
from xlamig.flow.model.scopes import Binding, Scope, ScopeTable, path_of
from xlamig.flow.model.scripts import MARK, is_script

_BUILTINS = frozenset(dir(builtins))
_ALIASES_OF_ALIASES = 2


def uses_of(module: ir.Module, scopes: ScopeTable, pieces: Pieces) -> str:
    """The names, sorted, one a line, with a line end before the first and after the last; of a script
    "__main__" is one of them.

    A name that is imported anywhere in the module is taken to mean the import everywhere in it: what
    shadows it would have to have the same attribute too. A call that draws only if options say so stands with
    its limits (see draw_rates), and the import of what draws when it is called is no use.
    """
    roots = _roots(scopes)
    stars = tuple(dict.fromkeys(scopes.module.stars))
    bound = {n for scope in _all(scopes) for n in scope.bindings} | _BUILTINS
    used = {_imported(owner) for owners in roots.values() for owner in owners}
    found = [pieces.of(_named, statement, scopes) for statement in module.body]
    for path in frozenset[str]().union(*(paths for paths, _ in found)):
        path, limits = split_limits(path)
        root, dot, rest = path.partition(".")
        owners: Iterable[str] = roots.get(root, ())
        if stars and root not in bound:
            owners = [f"{star}.{root}" for star in stars]
        used.update(owner + dot + rest + limits for owner in owners)
    if used and is_script(module):
        used.add(MARK)
    modules = used.union(*(modules for _, modules in found))
    return "\n".join(("", *sorted(modules), "")) if used else ""


def _imported(name: str) -> str:
    """Return what an import uses: the module, where a name draws when it is called."""
    module = name.rpartition(".")[0]
    return module if module and draws_when_called(name) else name


def _named(statement: ir.Stmt, scopes: ScopeTable) -> tuple[set[str], set[str]]:
    """Return every chain of names and attributes, what switches something off, as `f(False)` and `a.b=False`,
    what draws on the device or scales a loss, and every module that is imported by its whole name."""
    paths: set[str] = set()
    modules: set[str] = set()
    stack: list[ir.Node] = [statement]
    first_values: list[tuple[int, int]] = []
    inferring: list[tuple[int, int]] = []
    around = Around(scopes.module)
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Name):
            paths.add(node.id)
        elif isinstance(node, ir.Attribute):
            path = path_of(node)
            paths.add(path)
            if not path:
                stack.append(node.value)
        elif isinstance(node, ir.Import):
            modules.update(alias.name for alias in node.names)
        elif not isinstance(node, ir.Const):
            if isinstance(node, ir.Call):
                limits = around.limits(node) if may_draw(node) else NO_LIMITS
                called = draws_when_called(path_of(node.func))
                if draws_on_host(node) or (called and NOTHING in limits):
                    stack += [argument.value for argument in node.args]
                    continue
                if may_scale(node):
                    modules.add(SCALES)
                if _switches_off(node):
                    paths.add(f"{path_of(node.func)}(False)")
                where = INFERS if _is_inside(node, inferring) else ""
                if NOTHING not in limits:
                    paths.update(with_limits(name + where, limits) for name in keywords_of(node))
                    method = None if _is_inside(node, first_values) else method_of(node)
                    if method and not _of_module(node, statement, scopes):
                        modules.add(with_limits(method + where, limits))
                if called and limits:
                    paths.add(with_limits(path_of(node.func), limits))
                    stack += [argument.value for argument in node.args]
                    continue
            elif isinstance(node, ir.Assign) and _is_false(node.value):
                paths.update(f"{path_of(target)}=False" for target in node.targets if path_of(target))
            elif isinstance(node, ir.FunctionDef) and initialises(node):
                first_values.append((node.start, node.end))
            elif isinstance(node, ir.FunctionDef) and infers(node):
                inferring.append((node.start, node.end))
            around.enter(node, scopes)
            stack.extend(ir.children(node))
    return paths, modules


def _of_module(call: ir.Call, statement: ir.Stmt, scopes: ScopeTable) -> bool:
    """Return whether a call is of a function of something imported: `tf.multinomial(x, 1)`."""
    root = path_of(call.func).partition(".")[0]
    bound = scopes.module.bindings.get(root, ())
    if not bound or any(binding.kind != "import" for binding in bound):
        return False
    own = (b for scope in scopes.functions() for b in scope.bindings.get(root, ()) if b.kind != "import")
    return not any(_is_inside(binding, [(statement.start, statement.end)]) for binding in own)


def _is_inside(node: ir.Node | Binding, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= node.start < end for start, end in spans)


def _switches_off(node: ir.Call) -> bool:
    """Return whether `False` is all that a call of a name is given."""
    value = node.args[0].value if len(node.args) == 1 else None
    return _is_false(value) and bool(path_of(node.func))


def _is_false(node: ir.Expr | None) -> bool:
    return isinstance(node, ir.Const) and node.value is False


def _all(scopes: ScopeTable) -> Iterable[Scope]:
    return (scopes.module, *scopes.functions())


def _roots(scopes: ScopeTable) -> dict[str, set[str]]:
    """Return the imported names, and their aliases, that each name may stand for."""
    roots: dict[str, set[str]] = {}
    aliases: list[tuple[str, str]] = []
    for scope in _all(scopes):
        for name, bindings in scope.bindings.items():
            for binding in bindings:
                if binding.kind == "import":
                    roots.setdefault(name, set()).add(binding.dotted)
                elif binding.kind == "value" and binding.value is not None and "." not in name:
                    aliases.append((name, path_of(binding.value)))
    for _ in range(_ALIASES_OF_ALIASES):
        for name, path in aliases:
            first, _, rest = path.partition(".")
            for owner in tuple(roots.get(first, ())):
                if first != name:
                    roots.setdefault(name, set()).add(f"{owner}.{rest}" if rest else owner)
    return roots
