"""The uses of a data loader's batches: advice on the last batch depends on them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.collating import batch_by, place_of_batches
from xlamig.flow.interp.domain import AbstractValue, Made, tensors_in
from xlamig.flow.interp.frames import functions_of
from xlamig.flow.interp.last_batches import keeping_last
from xlamig.flow.interp.sizes import VARIED
from xlamig.flow.interp.state import State
from xlamig.flow.model.option_codes import codes_of
from xlamig.flow.model.outcomes import most_of
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.scripts import is_script, starts_program
from xlamig.per_file import per_file

_PADS = re.compile(r"^DataCollator(?:WithPadding|ForSeq2Seq|ForTokenClassification)$")
_FIXED = frozenset({False, "max_length", "do_not_pad"})
_FUNCTIONAL = frozenset({"F", "nn.functional", "torch.nn.functional"})
_TRAINS = frozenset({"backward", "step", "train", "zero_grad"})
_NO_GRADIENTS = re.compile(r"\b(?:no_grad|inference_mode)$")


def loader_of(m: State, args: Args, node: ir.Call, name: str, divided: bool) -> AbstractValue:
    """Return the value of a `DataLoader`, `divided` among processes, with the proofs "pads-by-batch": the
    collate function pads each batch to its longest sample; "evened": Accelerate prepares the loader;
    "scored": the function around evaluates a model on its batches; "single": an option that nothing sets
    to more than 1 is the batch size; "first-batch": nothing takes more than the first of its batches; and
    "unread": nothing takes any."""
    batch = batch_by(m, args, node)
    target = m.statement.targets[0] if isinstance(m.statement, ir.Assign) else None
    path, root = path_of(target) if target is not None else "", m.frame.scope.node
    inside = isinstance(root, ir.FunctionDef)
    around = _around(root if isinstance(root, ir.FunctionDef) else m.analysis.module)
    m.prove(
        node,
        divided=divided,
        pads_by_batch=_pads_by_batch(m, args, batch),
        evened=path in around.prepared,
        scored=inside and path in around.scored,
        single=_is_single(m, args.node(1, "batch_size")),
        first_batch=_gives_first_batch(node, m.statement, around),
        unread=(inside or _is_script(m)) and _is_unread(node, m.statement, around),
    )
    loader = AbstractValue("loader", place_of_batches(args), element=batch)
    return keeping_last(loader, args, Made(node, m.statement, name))


def _pads_by_batch(m: State, args: Args, batch: AbstractValue | None) -> bool:
    if batch is not None and any(tensor.cause == VARIED for tensor in tensors_in(batch)):
        return True
    collate, written = args.get(6, "collate_fn"), args.node(6, "collate_fn")
    if collate is not None and collate.kind in ("function", "instance"):
        called = m.semantics.method_of(collate, "__call__") if collate.kind == "instance" else None
        functions = functions_of(collate) if called is None else [called]
        return any(_pads(function.node) for function in functions)
    bound = m.frame.scope.find(path_of(written)) if written is not None and path_of(written) else []
    made = [written, *(binding.value for binding in bound)]
    return any(isinstance(one, ir.Call) and _is_padding_collator(one) for one in made)


def _is_padding_collator(call: ir.Call) -> bool:
    name = path_of(call.func).rpartition(".")[2]
    return _PADS.match(name) is not None and not _is_fixed(call)


def _is_fixed(call: ir.Call) -> bool:
    """Return whether a call pads nothing, or to a length that it is given."""
    given = [arg.value for arg in call.args if arg.keyword == "padding"]
    return any(isinstance(value, ir.Const) and value.value in _FIXED for value in given)


def _pads(function: ir.Node) -> bool:
    """Return whether a function pads sequences to the longest, and no further."""
    found = False
    for call in (node for node in ir.walk(function) if isinstance(node, ir.Call)):
        path = path_of(call.func)
        owner, _, name = path.rpartition(".")
        keywords = {arg.keyword for arg in call.args}
        if name == "pad" and owner in _FUNCTIONAL:
            return False
        found |= name == "pad_sequence" or ("padding" in keywords and not _is_fixed(call))
    return found


def _is_single(m: State, size: ir.Expr | None) -> bool:
    if not isinstance(size, ir.Name | ir.Attribute | ir.Subscript):
        return False
    return most_of(codes_of(size, m.frame.scope), m.analysis.values.switches) == 1


def _gives_first_batch(loader: ir.Call, statement: ir.Node, around: _Around) -> bool:
    """Return whether every use of a loader is `next(iter(loader))`."""
    if any(_first_of(node) is loader for node in ir.walk(statement)):
        return True
    match statement:
        case ir.Assign(targets=(ir.Name(id=name) as target,), value=value) if value is loader:
            uses = [use for use in around.names.get(name, ()) if use is not target]
            return bool(uses) and all(id(use) in around.firsts for use in uses)
    return False


def _is_script(m: State) -> bool:
    """Return whether a module does its work when it is run: nothing takes a loader from it."""
    return is_script(m.analysis.module) or starts_program(m.analysis.module)


def _is_unread(loader: ir.Call, statement: ir.Node, around: _Around) -> bool:
    """Return whether the name of a loader is used for nothing, or to ask how long the loader is and what it
    loads: `len(loader.dataset)`."""
    match statement:
        case ir.Assign(targets=(ir.Name(id=name),), value=value) if value is loader:
            uses = around.names.get(name, ())
            return not around.reads_any_name and all(id(use) in around.asides for use in uses)
    return False


class _Around(NamedTuple):
    """The uses of loaders in a function or module, by the paths or the identities of names: `prepared` by
    Accelerate, `scored` where it evaluates a model, taken as the first batch (`firsts`), or set and asked
    (`asides`)."""

    names: Mapping[str, Sequence[ir.Name]]
    prepared: Set[str]
    scored: Set[str]
    firsts: Set[int]
    asides: Set[int]
    reads_any_name: bool


@per_file
@lru_cache(maxsize=64)  # each loader asks again
def _around(root: ir.Node) -> _Around:
    names: dict[str, list[ir.Name]] = {}
    nodes = [*ir.walk(root)]
    for name in (node for node in nodes if isinstance(node, ir.Name)):
        names.setdefault(name.id, []).append(name)
    return _Around(
        names,
        {path for node in nodes for path in _prepared(node)} - {""},
        _scored(nodes),
        {id(_first_of(node)) for node in nodes},
        {id(found) for node in nodes for found in _set_or_asked(node)},
        any(map(_reads_any_name, nodes)),
    )


def _prepared(node: ir.Node) -> Iterator[str]:
    """Yield the loaders that `accelerator.prepare` takes."""
    match node:
        case ir.Call(func=ir.Attribute(value=owner, attr="prepare" | "prepare_data_loader"), args=args):
            if "accelerator" in path_of(owner).lower():
                yield from (path_of(arg.value) for arg in args)


def _scored(nodes: Sequence[ir.Node]) -> Set[str]:
    """Return the loaders that a function goes through while it evaluates a model: it calls `eval()`, or
    computes no gradients, and trains nothing."""
    calls = [node for node in nodes if isinstance(node, ir.Call)]
    methods = {call.func.attr for call in calls if isinstance(call.func, ir.Attribute)}
    evaluates = "eval" in methods or any(_NO_GRADIENTS.search(path_of(call.func)) for call in calls)
    if not evaluates or not methods.isdisjoint(_TRAINS):
        return set()
    loops = (node for node in nodes if isinstance(node, ir.For))
    return {path for loop in loops for path in _paths_in(loop.iter)} - {""}


def _reads_any_name(node: ir.Node) -> bool:
    """Return whether a call may read whichever name there is; `vars(args)` and `type=eval` read none."""
    match node:
        case ir.Call(func=ir.Name(id="globals" | "locals" | "vars"), args=()):
            return True
        case ir.Call(func=ir.Name(id="eval" | "exec")):
            return True
    return False


def _set_or_asked(node: ir.Node) -> Iterator[ir.Expr]:
    """Yield the names that a node assigns to, and loaders that it only asks about."""
    match node:
        case ir.Assign(targets=targets):
            yield from targets
        case ir.Call(func=ir.Name(id="len"), args=(ir.Arg(value=asked),)):
            yield asked
        case ir.Attribute(value=asked, attr="dataset" | "batch_size"):
            yield asked


def _first_of(node: ir.Node) -> ir.Expr | None:
    """Return `x` of `next(iter(x))`."""
    match node:
        case ir.Call(
            func=ir.Name(id="next"), args=(ir.Arg(value=ir.Call(func=of, args=(ir.Arg(value=x),))),)
        ):
            return x if isinstance(of, ir.Name) and of.id == "iter" else None
    return None


def _paths_in(node: ir.Node) -> Iterator[str]:
    return (path_of(part) for part in ir.walk(node) if isinstance(part, ir.Name | ir.Attribute))
