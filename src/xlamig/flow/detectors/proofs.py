"""Conditions that a fix may rely on, beyond a device in scope."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping

from xlamig import ir
from xlamig.flow.detectors.directions import both_directions
from xlamig.flow.detectors.group_tests import is_under_group_test
from xlamig.flow.detectors.packed_uses import packed_use
from xlamig.flow.detectors.unwrapped import bare_module, is_unwrapped
from xlamig.flow.interp.one_rank import called_by_both
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values as table

_LOADERS = frozenset({"torch.load"})
_MASKS = {"torch.nn.TransformerEncoder": "src_key_padding_mask"}
_EVALUATES = re.compile(r"\.eval\(\)|\b(?:no_grad|inference_mode)\b")
_TRAINS = re.compile(r"\bbackward\(|\boptim\.\w+\(|[Oo]ptimizer|\.train\(|\.step\(")
_ANY = frozenset({(">=", 1), (">", 0), ("<", 1), ("==", 0), ("!=", 0)})
_BATCH_FIRST = 6  # the arguments of TransformerEncoderLayer before it
_OWN_SCOPE = ir.FunctionDef | ir.ClassDef | ir.Lambda


def moved_later(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "moved-later": all that is done with what is loaded here is `load_state_dict`, which
    copies to where the parameters are, or it is moved at once; so it does not matter where it is
    loaded to."""
    if name not in _LOADERS:
        return {}
    root = place.scope.node or analysis.module
    block = _block_with(root, place.statement[0])
    statement = block[0] if block else None
    if isinstance(statement, ir.ExprStmt) and node in _loaded_as_state(statement.value):
        return {"moved-later": "load_state_dict"}
    if not isinstance(statement, ir.Assign) or statement.value is not node or len(statement.targets) != 1:
        return {}
    target = statement.targets[0]
    if not isinstance(target, ir.Name):
        return {}
    if len(block) > 1 and _moves(block[1], target.id):
        return {"moved-later": target.id}
    return {"moved-later": target.id} if _only_state(root, target) else {}


def data_parallel(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proofs "replicated": the other branch wraps the model in DistributedDataParallel; "evaluates": the
    file only evaluates models; "unwrapped": the wrapper only loads a state; and "bare-module": the path of
    what is wrapped under a condition alone, and whose `module` is read without one."""
    if name not in table.names("program", "data-parallel"):
        return {}
    found = {}
    above = [n for n in ir.path_down(place.scope.node or analysis.module, node) if isinstance(n, ir.If)]
    calls = (n for branch in above for n in ir.walk(branch) if isinstance(n, ir.Call))
    replicates = table.names("program", "replicates")
    if any(analysis.names.dotted(call.func, place.scope) in replicates for call in calls):
        found["replicated"] = "yes"
    if only_evaluates(analysis):
        found["evaluates"] = "yes"
    if is_unwrapped(node, place, analysis):
        found["unwrapped"] = "yes"
    elif path := bare_module(node, place, analysis):
        found["bare-module"] = path
    return found


def only_evaluates(analysis: Analysis) -> bool:
    """Return whether a file evaluates models and trains none."""
    return bool(_EVALUATES.search(analysis.text)) and not _TRAINS.search(analysis.text)


def on_all_ranks(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "both-branches": the other branch of a test calls the collective too; "before-collective",
    of a barrier: the statement after it runs one, in which the processes wait for each other; "group-test",
    of a sampler: it is made only where there is a process group."""
    if name in table.names("program", "divides"):
        return {"group-test": "yes"} if is_under_group_test(node, place, analysis) else {}
    if name == "torch.distributed.barrier":
        return _before_collective(place, analysis)
    if name not in table.names("collectives", "calls"):
        return {}
    above = ir.path_down(place.scope.node or analysis.module, node)
    tests = (part for part in above if isinstance(part, ir.If))
    shared = any(path_of(node.func) in called_by_both(test) for test in tests)
    return {"both-branches": "yes"} if shared else {}


def _before_collective(place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    block = _block_with(place.scope.node or analysis.module, place.statement[0])
    if len(block) > 1 and isinstance(block[1], ir.ExprStmt | ir.Assign | ir.AugAssign):
        for call in (part for part in ir.walk(block[1]) if isinstance(part, ir.Call)):
            called = analysis.names.dotted(call.func, place.scope) or ""
            name = f"torch.distributed.{called.rpartition('.')[2]}"
            if called.startswith("torch.distributed.") and name in table.names("collectives", "meets"):
                return {"before-collective": called}
    return {}


def sole_rendezvous(name: str, node: ir.Call, analysis: Analysis) -> Mapping[str, str]:
    """The proof "sole": no other call of the file gives a rendezvous the name that this one does."""
    if not name.endswith(".rendezvous") or not node.args:
        return {}
    tag = node.args[0].value
    if not isinstance(tag, ir.Const) or not isinstance(tag.value, str):
        return {}
    same = analysis.text.count(f'"{tag.value}"') + analysis.text.count(f"'{tag.value}'")
    return {"sole": tag.value} if same == 1 else {}


def holds_states(name: str, node: ir.Call, place: CodeContext) -> Mapping[str, str]:
    """The proof "holds-states": entries of the dictionary that is saved are the states of objects that a loop
    goes through, `for k, part in parts.items(): out[k] = part.state_dict()`."""
    saved = node.args[0].value if node.args else None
    root = place.scope.node
    if name not in table.names("collectives", "saves") or not isinstance(saved, ir.Name) or root is None:
        return {}
    loops = (part for part in ir.walk(root) if isinstance(part, ir.For) and part.end <= node.start)
    for statement in (statement for loop in loops for statement in loop.body):
        match statement:
            case ir.Assign(
                targets=(ir.Subscript(value=ir.Name(id=target)),),
                value=ir.Call(func=ir.Attribute(attr="state_dict"), args=()),
            ) if target == saved.id:
                return {"holds-states": "yes"}
    return {}


def padding_mask(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "padding-mask": the file calls something with the mask that such a module takes, and the
    module is not known to keep its input as it is."""
    keyword = _MASKS.get(name)
    if keyword is None or not _may_nest(node, place, analysis):
        return {}
    calls = (node for node in ir.walk(analysis.module) if isinstance(node, ir.Call))
    masked = any(a.keyword == keyword for call in calls for a in call.args)
    return {"padding-mask": keyword} if masked else {}


def _may_nest(node: ir.Call, place: CodeContext, analysis: Analysis) -> bool:
    """Return whether an encoder may build nested tensors: not of layers of another class, nor of those that
    have the batch second or normalize first."""
    given = [a.value for a in node.args if a.keyword == "encoder_layer"] + [a.value for a in node.args[:1]]
    layer = given[0] if given else None
    if isinstance(layer, ir.Name | ir.Attribute) and (path := path_of(layer)):
        bound = [binding for binding in place.scope.find(path) if binding.start < node.start]
        layer = bound[-1].value if bound else layer
    if not isinstance(layer, ir.Call):
        return True
    if analysis.names.dotted(layer.func, place.scope) != "torch.nn.TransformerEncoderLayer":
        return False
    arguments = {arg.keyword: arg.value for arg in layer.args}
    batch_first, norm_first = (arguments.get(name) for name in ("batch_first", "norm_first"))
    starred = any(arg.star for arg in layer.args) or len(layer.args) > _BATCH_FIRST
    return (starred or not _is(batch_first, False)) and not _is(norm_first, True)


def _is(node: ir.Expr | None, value: bool) -> bool:
    """Return whether an argument has a value, which is the default as well: False."""
    return value is False if node is None else isinstance(node, ir.Const) and node.value is value


def use_of_sum(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "asks-for-any": a running sum is only compared with none, `x.cumsum(1) >= 1`, which a running
    "or" answers alike; and "subtracted": it is an operand of a subtraction, which takes no Booleans."""
    block = _block_with(place.scope.node or analysis.module, place.statement[0]) if _is_sum(name) else ()
    for above in ir.walk(block[0]) if block else ():
        match above:
            case ir.Compare(left=left, ops=(op,), comparators=(ir.Const(value=int(number)),)):
                if _indexed(left) is node and (op, int(number)) in _ANY:
                    return {"asks-for-any": "true"}
            case ir.Call(func=ir.Attribute(value=owner, attr="any" | "bool")) if _indexed(owner) is node:
                return {"asks-for-any": "true"}
            case ir.Binary(op="-", left=left, right=right):
                if _indexed(left) is node or _indexed(right) is node:
                    return {"subtracted": "true"}
            case ir.Call(func=ir.Attribute(attr="sub" | "sub_"), args=(ir.Arg(value=other), *_)):
                if _indexed(other) is node:
                    return {"subtracted": "true"}
    return {}


def _is_sum(name: str) -> bool:
    return name.endswith(".cumsum")


def _indexed(node: ir.Expr) -> ir.Expr:
    """Return `x` of `x[:, -1]`."""
    return node.value if isinstance(node, ir.Subscript) else node


def of_sequences(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proofs "padded-later", "both-directions", "rows" and "unpacked" of what pads or packs."""
    packed = packed_use(name, node, place, analysis) or both_directions(name, place, analysis)
    return {**padded_later(name, node, place, analysis), **packed}


def padded_later(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "padded-later": what `pad_sequence` gives has one of few lengths in the end."""
    if name != "torch.nn.utils.rnn.pad_sequence":
        return {}
    root = place.scope.node or analysis.module
    bucketed = any(_batches_alike(call, analysis) for call in ir.walk(analysis.module))
    made = (s for s in ir.walk(root) if isinstance(s, ir.Assign) and s.value is node)
    padded = {target.id for statement in made for target in statement.targets if isinstance(target, ir.Name)}
    given = node.args[0].value if node.args else None
    samples = given.id if isinstance(given, ir.Name) else ""
    fixed = any(_fixes_length(n, padded, samples, analysis) for n in ir.walk(root))
    return {"padded-later": "true"} if bucketed or fixed else {}


def _batches_alike(call: ir.Node, analysis: Analysis) -> bool:
    """Return whether a loader is given batches of samples of like length."""
    given = [arg for arg in call.args if arg.keyword == "batch_sampler"] if isinstance(call, ir.Call) else []
    return any(table.name_like("bucket").search(analysis.source(arg.value)) for arg in given)


def _fixes_length(node: ir.Node, padded: Container[str], samples: str, analysis: Analysis) -> bool:
    """Return whether a padded batch is padded again or copied into another tensor, or one of its samples is
    replaced or added: by one of full length, or for nothing."""
    match node:
        case ir.Call(func=ir.Attribute(attr="pad"), args=(ir.Arg(value=ir.Name(id=name)), amounts, *_)):
            return name in padded and "max(" not in analysis.source(amounts.value)
        case ir.Assign(targets=(ir.Subscript(index=index),), value=ir.Name(id=name)) if name in padded:
            return any(isinstance(part, ir.Slice) for part in index)
        case ir.Assign(targets=(ir.Subscript(value=ir.Name(id=name), index=(ir.Const(value=0 | -1),)),)):
            return name == samples
        case ir.Call(func=ir.Attribute(value=ir.Name(id=name), attr="append"), args=(ir.Arg(value=added),)):
            constants = table.names("torch", "constants")
            return name == samples and isinstance(added, ir.Call) and path_of(added.func)[6:] in constants
    return False


def _block_with(node: ir.Node, start: int) -> ir.Block:
    """The statement that starts there and those after it in its block."""
    for inner in ir.walk(node):
        for value in (getattr(inner, field, ()) for field in ("body", "orelse", "final")):
            for i, statement in enumerate(value if isinstance(value, tuple) else ()):
                if statement.start == start:
                    return value[i:]
    return ()


def _moves(statement: ir.Stmt, name: str) -> bool:
    """`x = x.to(...)`"""
    match statement:
        case ir.Assign(targets=(ir.Name(id=target),), value=ir.Call(func=ir.Attribute() as func)):
            moved = isinstance(func.value, ir.Name) and func.value.id == name == target
            return moved and func.attr in ("to", "cuda")
    return False


def _only_state(root: ir.Node, target: ir.Name) -> bool:
    """Return whether every mention of the name, and there is one, is loaded into a module or optimizer."""
    mentions = [n for n in ir.walk(root) if isinstance(n, ir.Name) and n.id == target.id and n is not target]
    inside = {id(n) for own in _nested(root) for n in ir.walk(own)}
    state = {id(_base(n)) for call in ir.walk(root) for n in _loaded_as_state(call)}
    return bool(mentions) and all(id(n) in state and id(n) not in inside for n in mentions)


def _nested(root: ir.Node) -> Iterator[ir.Node]:
    """The functions and classes below `root`, where the name may be another."""
    return (node for node in ir.walk(root) if isinstance(node, _OWN_SCOPE) and node is not root)


def _loaded_as_state(node: ir.Node) -> tuple[ir.Expr, ...]:
    """The first argument of a `load_state_dict` call."""
    match node:
        case ir.Call(func=ir.Attribute(attr="load_state_dict"), args=(first, *_)):
            return (first.value,) if first.keyword in (None, "state_dict") else ()
    return ()


def _base(node: ir.Expr) -> ir.Expr:
    """The name in `checkpoint["model"]`."""
    while isinstance(node, ir.Subscript):
        node = node.value
    return node
