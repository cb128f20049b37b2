"""Loads of files with objects, which `torch.load` refuses by its default."""

from __future__ import annotations

import pytest
from reading import facts_in

from xlamig.facts import ApiUse

SAVE = """
def save(model, args, path):
    print(args.lr)
    BODY
    torch.save(STATE, path)
"""
RESUME = """
def resume(model, path):
    c = torch.load(path)
    model.load_state_dict(c['model'])
    return c['epoch']
"""
KEYED = "{'model': model.state_dict(), 'epoch': 3, 'args': args}"


def words(source: str) -> str:
    uses = facts_in(f"import argparse, collections, os, torch\nimport numpy as np\n{source}", ApiUse)
    return " ".join(use.proofs.get("holds-objects", "") for use in uses if use.name == "torch.load")


def saving(state: str, body: str = "pass", resume: str = RESUME) -> str:
    return words(SAVE.replace("STATE", state).replace("BODY", body) + resume)


@pytest.mark.parametrize(
    "body",
    [
        "c.keys(), c.items()",
        "c['model'].float().mean()",
        "c['name'].upper()",
        "c['order'].move_to_end('a')",
        "c.shape, c.dtype",
        "model.load_state_dict(c); model.eval()",
        "c = model; c.eval()",
        "c.eval() if isinstance(c, torch.nn.Module) else None",
        "c = c.state_dict() if hasattr(c, 'state_dict') else c",
        "[row.shape for row in c]",
    ],
)
def test_plain_values_are_loaded(body: str) -> None:
    assert not words(f"def load(model, path):\n    c = torch.load(path)\n    {body}\n")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("c.eval()", "`c` is used as a whole module"),
        ("x = c['model'].cuda().eval()", "`c['model'].cuda()` is used as a whole module"),
        ("args = c['args']; print(args.lr)", "`.lr` is read of `args`, an object"),
        ("print(vars(c['args']))", "`.__dict__` is read of `c['args']`, an object"),
        ("return [f.input_ids for f in c]", "`.input_ids` is read of the objects in it"),
    ],
)
def test_what_is_used_as_an_object_is_one(body: str, said: str) -> None:
    assert words(f"def load(path):\n    c = torch.load(path)\n    {body}\n") == said


def test_another_value_of_the_name_says_nothing() -> None:
    source = "def f(p):\n    if p:\n        c = torch.load(p)\n    else:\n        c = g()\n        c.eval()"
    assert not words(source)
    assert words(source.replace("        c.eval()", "    c.eval()"))


@pytest.mark.parametrize(
    ("state", "body"),
    [
        (KEYED, "pass"),
        ("state", "state = {'model': model.state_dict(), 'epoch': 3}; state['args'] = args"),
        ("state", "state = {'model': model.state_dict(), 'epoch': 3}; state.update({'args': args})"),
        ("{'model': model.state_dict(), 'epoch': 3, 'best': np.mean([1])}", "pass"),
        ("{'model': model.state_dict(), 'epoch': 3, 'config': Config()}", "from config import Config"),
        ("{'model': model.state_dict(), 'epoch': 3, 'seen': collections.deque()}", "pass"),
    ],
)
def test_the_program_saves_an_object_with_the_state(state: str, body: str) -> None:
    assert saving(state, body).startswith("the program saves ")


@pytest.mark.parametrize(
    ("state", "body"),
    [
        ("{'model': model.state_dict(), 'epoch': 3}", "pass"),
        ("{'model': model.state_dict(), 'epoch': 3, 'args': vars(args)}", "pass"),
        ("{'model': model.state_dict(), 'epoch': 3, 'args': args}", "args = vars(args)"),
        ("{'model': model.state_dict(), 'epoch': 3, 'best': np.mean([1]).item()}", "pass"),
        ("{'model': model.state_dict(), 'epoch': 3, 'best': float(np.mean([1]))}", "pass"),
        ("{'model': model.state_dict(), 'epoch': 3, 'seen': collections.Counter()}", "pass"),
        ("{'net': model.state_dict(), 'epoch': 3, 'args': args}", "pass"),  # another file than the loaded one
        (KEYED, "torch.serialization.add_safe_globals([argparse.Namespace])"),
    ],
)
def test_plain_values_are_saved(state: str, body: str) -> None:
    assert not saving(state, body)


def test_one_key_is_enough_of_a_checkpoint_alone() -> None:
    load = "\ndef load(model, NAME):\n    model.load_state_dict(torch.load(NAME)['model'])\n"
    assert saving(KEYED, resume=load.replace("NAME", "ckpt"))
    assert not saving(KEYED, resume=load.replace("NAME", "path"))
    assert not saving(KEYED, resume=load.replace("NAME", "pretrained_ckpt"))


def test_the_path_is_the_same() -> None:
    source = "def f(path, rows):\n    torch.save(SAVED, path)\n    return torch.load(path)\n"
    assert words(source.replace("SAVED", "torch.nn.Linear(1, 1)"))
    assert not words(source.replace("SAVED", "torch.nn.Linear(1, 1).state_dict()"))
    assert not words(source.replace("SAVED", "rows"))
