"""A variable, a parameter or an import gets another name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst
from libcst.metadata import Assignment, BaseAssignment, FunctionScope, Scope

from benchmarks.metamorphic.program import MAIN, Program, Rewritten, names_of, rewritten, same_but_for_names
from xlamig.knowledge.values import kinds_like

_BY_POSITION = {"object", "nn.Module", "torch.nn.Module", "Module", "torch.autograd.Function", "Function"}
"""Base classes that pass the arguments of methods by position."""


def renamed_variables(program: Program) -> Iterator[Rewritten]:
    """All variables of a function get other names that say as little."""
    for name, scope in _functions(program):
        fixed = {a.name for a in scope.assignments if not _is_variable(a)}
        yield from _renamed(program, "variable", name, scope, {a.name for a in scope.assignments} - fixed)


def renamed_parameters(program: Program) -> Iterator[Rewritten]:
    """All parameters of a function that no call and no framework passes by name get other names."""
    fixed: set[object] = {k.arg for k in ast.walk(program.tree) if isinstance(k, ast.keyword)} | {
        "self",
        "cls",
    }
    fixed |= {n.value for n in ast.walk(program.tree) if isinstance(n, ast.Constant)}
    for name, scope in _functions(program):
        if not _called_by_name(program, name):
            found = {a.name for a in scope.assignments if _is_parameter(a)}
            yield from _renamed(program, "parameter", name, scope, found - fixed)


def _functions(program: Program) -> Iterator[tuple[str, FunctionScope]]:
    for node in program.nodes(cst.FunctionDef):
        assert isinstance(node, cst.FunctionDef)
        scope = program.scopes.get(node.body.body[0])
        if isinstance(scope, FunctionScope):
            yield node.name.value, scope


def _is_parameter(assignment: BaseAssignment) -> bool:
    return isinstance(assignment, Assignment) and isinstance(assignment.node, cst.Param)


def _is_variable(assignment: BaseAssignment) -> bool:
    return isinstance(assignment, Assignment) and isinstance(assignment.node, cst.Name)


def _called_by_name(program: Program, function: str) -> bool:
    """Return whether the function may be a method that a framework calls with keywords."""
    return any(
        ast.unparse(base) not in _BY_POSITION
        for node in ast.walk(program.tree)
        if isinstance(node, ast.ClassDef) and any(getattr(m, "name", "") == function for m in node.body)
        for base in node.bases
    )


def aliased_imports(program: Program) -> Iterator[Rewritten]:
    """`import torch` becomes `import torch as torch_`."""
    scope = program.scopes[program.module]
    quoted = {n.value for n in ast.walk(program.tree) if isinstance(n, ast.Constant)}  # in `__all__`
    for node in program.nodes(cst.ImportAlias):
        assert isinstance(node, cst.ImportAlias)
        name = node.evaluated_alias or node.evaluated_name
        if name not in quoted and "." not in name and name in scope:
            made = _with_alias(program, scope, node, name)
            if made is not None:
                yield made


def _with_alias(program: Program, scope: Scope, node: cst.ImportAlias, name: str) -> Rewritten | None:
    new = program.fresh(name)
    lines = program.replaced(program.uses(scope, {name}), {name: new})
    end = program.positions[node].end
    line = lines[end.line - 1]
    text = line.text[: end.column].removesuffix(f" as {name}")
    lines[end.line - 1] = line._replace(text=f"{text} as {new}{line.text[end.column :]}")
    made = rewritten("import", name, {MAIN: lines})
    kept = name in names_of([ast.parse(made.files[MAIN])])
    return made if not kept and same_but_for_names(program, made.files[MAIN], {new: name}) else None


def _renamed(
    program: Program, kind: str, what: str, scope: FunctionScope, names: set[str]
) -> Iterator[Rewritten]:
    """Rename what can be renamed together; each name alone where one of them cannot."""
    old = {name for name in names if len(name) > 2}
    made = _with_names(program, kind, what, scope, old)
    if made is not None:
        yield made
        return
    for name in sorted(old):
        made = _with_names(program, kind, f"{what}: {name}", scope, {name})
        if made is not None:
            yield made


def _with_names(
    program: Program, kind: str, what: str, scope: FunctionScope, names: set[str]
) -> Rewritten | None:
    new = {name: program.fresh(name) for name in names}
    new = {name: other for name, other in new.items() if kinds_like(other) == kinds_like(name)}
    lines = program.replaced(program.bindings(scope, set(new)), new)
    made = rewritten(kind, what, {MAIN: lines})
    back = {other: name for name, other in new.items()}
    return made if new and same_but_for_names(program, made.files[MAIN], back) else None
