"""`use_cuda = torch.cuda.is_available()` asks for any accelerator, and what it guards is placed there."""

from __future__ import annotations

from functools import partial

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.device import decline_unreached, written_device
from xlamig.fix.flags import Flag, flag_named, flag_of, guarded_by, is_harmless, uses_of
from xlamig.fix.placements import Placements, placed_below
from xlamig.fix.strategies.tensor_type import chosen_by_setting

_NOT = "not "


def device_flag(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """The decision and all that depends on it, or nothing. Option `trusting`: also where the flag is passed
    on, or guards something that needs CUDA, which is then reported."""
    if not isinstance(fact, DeviceChoice) or fact.via != "flag" or "target" not in fact.parts:
        return None
    flag = flag_of(context.module, fact.span)
    return _draft(flag, fact, context, bool(options.get("trusting"))) if flag else None


def decided_by_flag(fact: DeviceChoice, context: FixContext) -> Draft | None:
    """Return the fix of the flag that decides a selection or a move, if a flag does and the fix is proven."""
    asked = fact.parts.get("availability")
    flag = flag_of(context.module, asked) if asked else None
    if flag is None and asked is not None:
        flag = flag_named(context.module, context.text(asked))
    if flag is None or flag.assignment.start <= fact.span[0] < flag.assignment.end:
        return None
    try:
        decline_unreached(fact)
    except FixDeclined:
        return None
    # Of a fact, the fix asks for nothing more: all that the flag decides share it.
    decides = (flag.assignment.start, flag.assignment.end)
    if decides not in context.shared:
        context.shared[decides] = _draft_if_proven(flag, fact, context)
    return context.shared[decides]


def _draft_if_proven(flag: Flag, fact: Fact, context: FixContext) -> Draft | None:
    try:
        return _draft(flag, fact, context, trusting=False)
    except FixDeclined:
        return None


def _draft(flag: Flag, fact: Fact, context: FixContext, trusting: bool) -> Draft | None:
    placements = Placements(context, partial(written_device, context, fact), trusting)
    roots: dict[int, ir.Node] = {}
    for use in uses_of(context.module, flag):
        guarded = guarded_by(context.module, use)
        if guarded is not None:
            roots[id(guarded)] = guarded
        elif not trusting and not is_harmless(context.module, use):
            raise FixDeclined(f"`{flag.path}` is passed on")
    if isinstance(flag.assignment, ir.If):
        roots[id(flag.assignment)] = flag.assignment
    outer = [root for root in roots.values() if not any(_holds(other, root) for other in roots.values())]
    if flag.pure and not trusting and _is_one_selection(outer):
        return None  # it is replaced where it stands
    for root in outer:
        if not flag.pure and isinstance(root, ir.IfExp) and isinstance(root.body, ir.Attribute):
            placements.device = partial(chosen_by_setting, context, fact, root)  # for types
        else:
            placements.device = partial(written_device, context, fact)
        placements.rewrite(root, partial(_test, context, flag))
    if not placements.count and not trusting:
        return None
    device = written_device(context, fact, (flag.decision.start, flag.decision.end), "")
    denied = context.text((0, flag.decision.start)).endswith(_NOT)
    asked = f'{device.text}.type {"==" if flag.negated != denied else "!="} "cpu"'
    start = flag.decision.start - len(_NOT) * denied
    decision = context.edit(start, flag.decision.end, asked)
    message = f"Use `{asked}`, and place on any device what `{flag.path}` decides"
    edits = (*device.edits, *placements.edits, decision)
    return Draft(message, tuple(dict.fromkeys(edits)), device.creates)


def _test(context: FixContext, flag: Flag, node: ir.IfExp) -> str | None:
    """How to write the test of a selection once the flag knows every accelerator."""
    text = context.text_of(node.test)
    names = [inner for inner in ir.walk(node.test) if context.text_of(inner) == flag.path]
    if not names:
        return None
    return "" if flag.pure and text in (flag.path, f"not {flag.path}") else text


def _is_one_selection(guarded: list[ir.Node]) -> bool:
    """Return whether all that the flag places is one `"cuda" if flag else "cpu"`."""
    placed = [node for node in guarded if any(placed_below(node))]
    if len(placed) != 1 or not isinstance(placed[0], ir.IfExp):
        return False
    return all(isinstance(side, ir.Const | ir.Call) for side in (placed[0].body, placed[0].orelse))


def _holds(outer: ir.Node, inner: ir.Node) -> bool:
    return outer is not inner and outer.start <= inner.start and inner.end <= outer.end
