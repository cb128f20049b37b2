"""Runs an RNN on the padded batch with the lengths, instead of on the sequences packed from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xlamig import ir
from xlamig.facts import ApiUse, Fact
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.helper import helper_function
from xlamig.fix.names import last_name, names_bound, names_read
from xlamig.fix.scopes import bindings, block_of, dotted_name, function_around, path_to, reads
from xlamig.fix.strategies.statements import statement_span
from xlamig.knowledge import helpers

_MODULES = {"GRU", "LSTM", "RNN"}
_PACK = "input", "lengths", "batch_first", "enforce_sorted"
_UNPACK = "sequence", "batch_first", "padding_value", "total_length"
_COPIES = {"cpu", "numpy", "tolist"}  # of lengths, for packing: the helper takes all kinds


@dataclass(frozen=True, slots=True)
class _Run:
    """`out, state = rnn(packed)`: the assignment, the call, and the name of the outputs."""

    statement: ir.Assign
    call: ir.Call
    out: ir.Name


def padded_rnn(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Packing, the call of a module that the class makes as an `nn.RNN`, `nn.LSTM` or `nn.GRU`, and unpacking
    stand in one block, and nothing else uses the packed sequences or the lengths that unpacking returns."""
    if not isinstance(fact, ApiUse):
        return None
    path = path_to(context.module, *fact.parts["call"])
    statement = next((n for n in reversed(path) if isinstance(n, ir.Stmt)), None)
    block = block_of(context.module, statement) if statement else None
    pack = path[-1]
    if block is None or statement is None or not isinstance(pack, ir.Call):
        return None
    given = _arguments(pack, _PACK)
    at = next(i for i, s in enumerate(block) if s is statement)
    owner = function_around(path)
    run = _run_of(pack, block[at:], owner, names_read(pack))
    if run is None or not {"input", "lengths"} <= given.keys():
        raise FixDeclined("the packed sequences are used by more than one call of an RNN below")
    if not _makes_an_rnn(path, run.call.func):
        raise FixDeclined(f"`{context.text_of(run.call.func)}` is not seen to be an RNN of torch")
    rest = block[next(i for i, s in enumerate(block) if s is run.statement) + 1 :]
    held = {name for name in names_bound(statement) if statement is not run.statement}
    uses = 4 if run.out.id in held else 2
    unpack = _unpacking(run.out.id, uses, rest, owner)
    if unpack is None and _count(owner, run.out.id) > 1 and run.out.id != "_":
        raise FixDeclined(f"`{run.out.id}` is not unpacked below")
    first = context.text_of(given["batch_first"]) if "batch_first" in given else "False"
    if unpack and _unpacks_otherwise(unpack, first, context):
        raise FixDeclined("the outputs are unpacked with another layout or another value of the padding")
    helper = helper_function(context, helpers.PADDED, fact.span)
    if helper is None:
        return None
    x, lengths = context.text_of(given["input"]), context.text_of(_without_copies(given["lengths"]))
    words = [
        context.text_of(run.call.func),
        x,
        lengths,
        *([] if first == "False" else [f"batch_first={first}"]),
    ]
    words += [f"state={_state_text(arg.value, context)}" for arg in run.call.args[1:]]
    total = _arguments(_unpacking_call(unpack), _UNPACK).get("total_length") if unpack else None
    words += [f"total_length={context.text_of(total)}"] if total else []
    edits = [context.edit(run.call.start, run.call.end, f"{helper.name}({', '.join(words)})")]
    if statement is not run.statement:
        edits.append(context.edit(*statement_span(context, block, statement), ""))
    if unpack and (part := _selected(unpack)):
        edits.append(context.edit(part.start, part.end, run.out.id))
    elif unpack:
        edits.append(context.edit(*statement_span(context, block, unpack), ""))
        edits.append(context.edit(run.out.start, run.out.end, _target_of(unpack)))
    message = f"Run `{words[0]}` on the padded batch and its lengths"
    return Draft(message, (*helper.edits, *edits), helper.creates)


def _state_text(state: ir.Expr, context: FixContext) -> str:
    """Return the state as an argument: the span of a tuple has no parentheses."""
    text = context.text_of(state)
    return f"({text})" if isinstance(state, ir.Sequence) and text[0] not in "([" else text


def _arguments(call: ir.Call, signature: Sequence[str]) -> Mapping[str, ir.Expr]:
    return {arg.keyword or signature[i]: arg.value for i, arg in enumerate(call.args[: len(signature)])}


def _count(owner: ir.Node, name: str) -> int:
    return len(reads(owner, name))


def _run_of(pack: ir.Call, rest: ir.Block, owner: ir.Node, used: set[str]) -> _Run | None:
    """Return the only call that gets what `pack` returns, in the statements from the packing on."""
    match rest[0]:
        case ir.Assign(targets=(ir.Name(id=packed),), value=value) if value is pack:
            pass
        case _:
            run = _call_with(rest[0])
            return run if run and run.call.args[0].value is pack else None
    for statement in rest[1:]:
        run = _call_with(statement)
        if run and isinstance(run.call.args[0].value, ir.Name) and run.call.args[0].value.id == packed:
            again = any(packed in names_bound(node) for node in ir.walk(run.statement))
            return run if again or _is_used_once(packed, rest, run, owner) else None
        if names_read(statement) & ({packed} | used) - {"self"}:
            return None
    return None


def _is_used_once(packed: str, rest: ir.Block, run: _Run, owner: ir.Node) -> bool:
    """Return whether the run alone uses what is packed, before the name gets something else."""
    start, end = rest[0].start, owner.end
    for statement in rest:
        if statement.start >= run.statement.end and packed in names_bound(statement):
            end = statement.start
            break
    return sum(start <= use.start < end for use in reads(owner, packed)) == 2


def _call_with(statement: ir.Stmt) -> _Run | None:
    """Return `out, state = rnn(value)`, where the call may have a state as its second argument."""
    match statement:
        case ir.Assign(
            targets=(ir.Sequence(elements=(ir.Name() as out, _)),),
            value=ir.Call(args=(ir.Arg(keyword=None), *more)) as call,
        ) if len(more) <= 1 and all(arg.keyword in (None, "hx") and not arg.star for arg in call.args):
            return _Run(statement, call, out)
    return None


def _makes_an_rnn(path: Sequence[ir.Node], func: ir.Expr) -> bool:
    """Return whether the class, or else the function or module, gives `func` nothing but RNNs of torch."""
    name = dotted_name(func)
    scope = next((n for n in reversed(path) if isinstance(n, ir.ClassDef)), path[0])
    made = [
        node.value
        for node in ir.walk(scope)
        if isinstance(node, ir.Assign) and any(dotted_name(target) == name for target in node.targets)
    ]
    return bool(name and made) and all(_is_rnn(value, (scope, path[0])) for value in made)


def _is_rnn(value: ir.Expr, scopes: Sequence[ir.Node]) -> bool:
    match value:
        case ir.Call(func=func, args=args):
            return _is_class(func, scopes) and all(arg.keyword != "proj_size" for arg in args)
    return False


def _is_class(value: ir.Expr, scopes: Sequence[ir.Node]) -> bool:
    """Return whether a value is one of the classes, or a name that holds nothing else."""
    match value:
        case ir.Call(func=ir.Name(id="getattr"), args=(ir.Arg(value=module), *_)):
            return last_name(module) == "nn"
        case ir.IfExp(body=body, orelse=other):
            return _is_class(body, scopes) and _is_class(other, scopes)
        case ir.Subscript(value=ir.Dict(values=values)):
            return all(_is_class(each, scopes) for each in values)
        case ir.Name(id=name) if name not in _MODULES:
            bound = next((found for scope in scopes if (found := bindings(scope, name))), [])
            return bool(bound) and all(_binds_class(node, scopes) for node in bound)
    return last_name(value) in _MODULES


def _binds_class(node: ir.Node, scopes: Sequence[ir.Node]) -> bool:
    match node:
        case ir.Assign(targets=(ir.Name(id=name),), value=value):
            return name not in names_read(value) and _is_class(value, scopes)
    return False


def _unpacking(out: str, uses: int, rest: ir.Block, owner: ir.Node) -> ir.Assign | None:
    """Return the statement that unpacks `out`, if nothing else uses it or the lengths that it returns: the
    function mentions `out` `uses` times."""
    for statement in rest:
        if out not in names_read(statement):
            continue
        match statement:
            case ir.Assign(
                targets=(ir.Sequence(elements=(ir.Name(id=new), ir.Name(id=lengths))),), value=call
            ):
                apart = lengths == "_" or _count(owner, lengths) == 1
            case ir.Assign(
                targets=(ir.Name(id=new),),
                value=ir.Subscript(value=call, index=(ir.Const(value=0),)),
            ):
                apart = True
            case ir.Assign(targets=(ir.Name(id=new),)) if part := _selected(statement):
                call, apart = part.value, True
            case _:
                return None
        match call:
            case ir.Call(func=func, args=(ir.Arg(value=ir.Name(id=given)), *_)) if given == out:
                alone = new == out or _count(owner, out) == uses
                known = last_name(func) == "pad_packed_sequence"
                return statement if known and alone and apart else None
        return None
    return None


def _selected(unpack: ir.Assign) -> ir.Subscript | None:
    """Return the outputs in `y = pad_packed_sequence(out)[0].contiguous()`, which stays."""
    match unpack.value:
        case ir.Call(
            func=ir.Attribute(value=ir.Subscript(index=(ir.Const(value=0),)) as part, attr="contiguous"),
            args=(),
        ):
            return part
    return None


def _target_of(unpack: ir.Assign) -> str:
    (target,) = unpack.targets
    return next(_names(target))


def _names(target: ir.Expr) -> Iterator[str]:
    for node in ir.walk(target):
        if isinstance(node, ir.Name):
            yield node.id


def _unpacking_call(unpack: ir.Assign) -> ir.Call:
    value = _selected(unpack) or unpack.value
    call = value.value if isinstance(value, ir.Subscript) else value
    assert isinstance(call, ir.Call)
    return call


def _unpacks_otherwise(unpack: ir.Assign, first: str, context: FixContext) -> bool:
    given = _arguments(_unpacking_call(unpack), _UNPACK)
    layout = context.text_of(given["batch_first"]) if "batch_first" in given else "False"
    return layout != first or "padding_value" in given


def _without_copies(lengths: ir.Expr) -> ir.Expr:
    """Return `lengths` of `lengths.cpu()`: the copy is a read where the lengths are on the device."""
    match lengths:
        case ir.Call(func=ir.Attribute(value=value, attr=name), args=()) if name in _COPIES:
            return _without_copies(value)
        case ir.Call(func=ir.Attribute(value=value, attr="to"), args=(ir.Arg(value=ir.Const(value="cpu")),)):
            return _without_copies(value)
    return lengths
