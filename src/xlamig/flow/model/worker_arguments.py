"""Find the arguments of data sets and of the workers of their loaders."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

IN_WORKERS = frozenset({"collate_fn", "worker_init_fn", "data_collator"})


def given_to_workers(node: ir.Node) -> Iterator[ir.Expr]:
    """Yield what a call, a dictionary, an assignment or the default of a parameter gives to workers; of
    `dense if args.dense else sparse` both."""
    for given in _given(node):
        yield from _ways(given)


def _ways(given: ir.Expr) -> Iterator[ir.Expr]:
    if isinstance(given, ir.IfExp):
        yield from _ways(given.body)
        yield from _ways(given.orelse)
    else:
        yield given


def _given(node: ir.Node) -> Iterator[ir.Expr]:
    match node:
        case ir.FunctionDef(params=params):
            defaults = (param.default for param in params if param.name in IN_WORKERS)
            yield from (one for one in defaults if isinstance(one, ir.Name | ir.Attribute | ir.Call))
        case ir.Call(args=args):
            yield from (arg.value for arg in args if handed_to_workers(arg))
        case ir.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            yield from (v for k, v in pairs if isinstance(k, ir.Const) and k.value in IN_WORKERS)
        case ir.Assign(targets=(ir.Subscript(index=(ir.Const(value=str(key)),)),), value=value):
            yield from (value,) if key in IN_WORKERS else ()
        case ir.Assign(targets=(ir.Name() | ir.Attribute() as target,), value=value):
            named = path_of(target).rpartition(".")[2] in IN_WORKERS
            yield from (value,) if named and isinstance(value, ir.Name | ir.Attribute | ir.IfExp) else ()


def handed_to_workers(arg: ir.Arg) -> bool:
    """Return whether an argument is what a loader's workers call."""
    return arg.keyword in IN_WORKERS


def transforms_samples(call: ir.Call, arg: ir.Arg) -> bool:
    """Return whether an argument of a call transforms the samples of a dataset."""
    if path_of(call.func).rpartition(".")[2] == "Compose":
        return True
    return arg.keyword not in IN_WORKERS and arg.keyword in table.names("placing", "worker-arguments")


def called_function(node: ir.Expr) -> ir.Expr:
    """Return the function in `partial(collate, pad=0)`, the one that `lambda samples: collate(samples, 0)`
    calls, and the class of `Collator(pad=0)`."""
    match node:
        case ir.Lambda(body=ir.Call(func=func)):
            return func
        case ir.Call(func=func, args=args):
            partial = path_of(func).rpartition(".")[2] == "partial" and args
            return args[0].value if partial else func
    return node
