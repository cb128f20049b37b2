"""`if device.type == "cuda": model.cuda()` moves to the tested device where that is another one."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.other_branch import moves_with_device
from xlamig.fix.scopes import bindings, dotted_name, function_around, only_value, path_to, statement_at


def tested_move(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """The test asks a name or an attribute, or a flag that one statement sets to such a test."""
    if not isinstance(fact, DeviceChoice) or fact.via != "test" or fact.answer != "False":
        return None
    path = path_to(context.module, *fact.span)
    expression = path[-1]
    node = expression if isinstance(expression, ir.IfExp) else statement_at(context.module, fact.span)
    if not isinstance(node, ir.If | ir.IfExp):
        return None
    device = _device_of(node.test)
    if isinstance(node.test, ir.Name):
        value = only_value(function_around(path), node.test.id)
        device = _device_of(value) if value else ""
        if _is_set_again(device.partition(".")[0], device, context.module):
            return None
    if not device:
        return None
    if isinstance(node, ir.IfExp):
        return _moves_or_stays(node, device, context)
    return moves_with_device(node, device, context)


def _moves_or_stays(node: ir.IfExp, device: str, context: FixContext) -> Draft | None:
    """`x.cuda(device) if device.type == "cuda" else x` as `x.to(device)`; the side for CUDA stays where it
    moves to something else than the tested device."""
    match node.body:
        case ir.Call(func=ir.Attribute(value=owner, attr="cuda" | "to") as func, args=args):
            pass
        case _:
            return None
    if any(arg.star for arg in args) or context.text_of(owner) != context.text_of(node.orelse):
        return None
    given = [arg for arg in args if arg.keyword in (None, "device")][:1]
    if given and dotted_name(given[0].value) == device:
        after = context.text((func.end, node.body.end))
        text, place = f"{context.text_of(owner)}.to{after}", (node.start, node.end)
    else:
        rest = "".join(f", {context.text_of(arg)}" for arg in args if arg not in given)
        text, place = f"{context.text_of(owner)}.to({device}{rest})", (node.orelse.start, node.orelse.end)
    if "\n" in context.text((node.start, node.end)):
        return None
    return Draft(
        f"On other devices than CUDA use `{context.text_of(owner)}.to(...)`", (context.edit(*place, text),)
    )


def _device_of(test: ir.Expr) -> str:
    """Return the path of the device, or of its text, that a test compares with CUDA; "" for other tests."""
    match test:
        case ir.Compare(left=left, ops=("==",), comparators=(ir.Const(value="cuda"),)):
            asked = left
        case ir.Compare(left=ir.Const(value="cuda"), ops=("in",), comparators=(right,)):
            asked = right
        case ir.Call(func=ir.Attribute(value=owner, attr="startswith"), args=(ir.Arg(value=ir.Const()),)):
            asked = owner
        case _:
            return ""
    match asked:
        case ir.Call(func=ir.Name(id="str"), args=(ir.Arg(value=value),)):
            asked = value
        case ir.Attribute(value=value, attr="type"):
            asked = value
    path = dotted_name(asked)
    return "" if path.startswith(".") else path


def _is_set_again(root: str, path: str, module: ir.Module) -> bool:
    """Return whether a device may have changed between the flag and the move."""
    if root == path:
        return len(bindings(module, path)) > 1
    targets = (t for node in ir.walk(module) if isinstance(node, ir.Assign) for t in node.targets)
    return sum(dotted_name(target) == path for target in targets) > 1
