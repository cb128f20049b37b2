"""Clues in the text of a module to questions about the whole program."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from xlamig.flow.model.device_keys import DEVICE_KEYS, READS_DEVICE_KEYS
from xlamig.flow.model.pickled import ALLOWS_OBJECTS, TRUSTS
from xlamig.flow.model.registries import BELOW, BY_NAME
from xlamig.knowledge import values as table
from xlamig.source.beside import is_exporter
from xlamig.source.phrases import Phrases

_TRAINS = Phrases(
    (".backward(", ".train()", "Trainer", "training_step", ".fit(", "torch.optim", "autograd.grad("),
    re.compile(
        r"\.backward\(|\.train\(\)|\b(?:Seq2Seq)?Trainer\b|training_step|\.fit\(|\btorch\.optim\b"
        r"|\bautograd\.grad\("
    ),
)
_DYNAMIC = Phrases(
    ("import_module(", "__import__(", "spec_from_file_location(", "find_spec(", "_modules(", "_packages("),
    re.compile(
        r"\b(?:import_module|__import__|spec_from_file_location|find_spec|(?:iter|walk)_(?:modules|packages))\("
    ),
)
_ARGUMENT = r"[^()]|\((?:[^()]|\([^()]*\))*\)"
_ON_CPU = r"map_location=(?:torch\.device\()?[\"']cpu[\"']"
LOADS = frozenset({"loads-on-cpu", "loads-elsewhere"})  # habits
_HABITS = {
    "masks": Phrases(("mask", "ignore_index", "padding_idx"), re.compile("mask|ignore_index|padding_idx")),
    "packs": Phrases(("padded_sequence", "run_padded"), re.compile("padded_sequence|run_padded")),
    "types": Phrases(
        (".type(", "isinstance("),
        re.compile(r"\.type\((?!torch\.)[\w.]+\)|\bisinstance\([\w.]+, \w*Tensor\)"),
    ),
    "saves": Phrases(
        ("torch.save(",), re.compile(r"\A(?=(?s:.*)\btorch\.save\()(?s:.*)\.state_dict\(\)(?!\.items\()")
    ),
    "launches": Phrases(
        ("spawn", "process", "Process", "launch", "accelerate", "lightning", "deepspeed", "ray", "submitit"),
        re.compile(
            r"spawn|init_process_group|multiprocessing|\bProcess\(|[Ll]aunch|\bimport ray\b"
            r"|\b(?:accelerate|lightning|pytorch_lightning|deepspeed|submitit)\b"
        ),
    ),
    "loads-on-cpu": Phrases(
        ("torch.load(",),
        re.compile(rf"\btorch\.load\((?:{_ARGUMENT})*?\b{_ON_CPU}"),
    ),
    "loads-elsewhere": Phrases(
        ("torch.load",), re.compile(rf"\btorch\.load\b(?!\((?:{_ARGUMENT})*?\b{_ON_CPU})")
    ),
    "slurm": Phrases(("submitit", "srun", "sbatch"), re.compile(r"submitit|\b(?:srun|sbatch)\b")),
    TRUSTS: ALLOWS_OBJECTS,
    DEVICE_KEYS: READS_DEVICE_KEYS,
    "longest": Phrases(
        ("max",), re.compile(r"\bmax\((?:map\()?\W*(?:\w+\.)*\w*len|len\w*(?:\.\w+\(\))*\.a?max\(")
    ),
}
_IMPORTS = re.compile(r"\b(?:import_module|__import__)\(\s*")
_HEAD = re.compile(r"""(?:f?(["'])(?P<head>\w[\w.]*)\.(?:\1\s*\+|\{)|f["']\{(?:__name__|__package__)\}\.)""")
_QUOTED = re.compile(r"""["']([\w./]+)""")
_PICKS = ("getattr(", "eval(", "globals()[", "vars(", "__dict__[")
_PICKED = re.compile(
    r"""\b(?:getattr\(\s*(?:[^(),]|\([^()]*\))+,|eval\(|globals\(\)\[|vars\([\w.]*\)\[|__dict__\[)"""
    r"""\s*(?:\w+\.)*(?:\w+\[["'])*(\w+)["'\]]*\s*[,)\]]"""
)
_SUBCLASS = re.compile(r"\bissubclass\(\s*\w+\s*,\s*(?:\w+\.)*([A-Z]\w*)\s*\)")
_SEPARATOR = re.compile(r"[./]")

Pair = tuple[str, str]
"""Two names that follow each other in a path: "losses.gan", "losses/gan"."""


class Clues(NamedTuple):
    """A module that `exports` is a script that only exports a model, one that `computes_imports` may import
    by names which it computes, all of them inside of the packages `within` where that is known, "" for its
    own; `quoted` are the pairs in its strings, `configured` the parts of the configuration that it makes
    objects of, after BY_NAME the keys of names that it looks up, and after BELOW the names of classes of
    which it looks for subclasses. `habits`: it masks or packs sequences,
    computes the longest of several lengths, converts tensors to a type with a name ("types"), saves states by
    `torch.save`, lets `torch.load` read objects, loads files to the CPU or to another place
    ("loads-elsewhere"), "launches" processes, or starts jobs by Slurm; for what it saves see Pickled."""

    trains: bool = False
    evaluates: bool = False
    exports: bool = False
    computes_imports: bool = False
    within: tuple[str, ...] = ()
    quoted: frozenset[Pair] = frozenset()
    configured: tuple[str, ...] = ()
    habits: frozenset[str] = frozenset()


NO_CLUES = Clues()


def clues_of(text: str) -> Clues:
    """Return what a module says."""
    return Clues(
        _TRAINS.are_in(text),
        ".eval()" in text,
        is_exporter(text),
        _DYNAMIC.are_in(text),
        _packages_in(text),
        pairs_in(_QUOTED.findall(text)),
        _configured_in(text),
        frozenset(clue for clue, phrases in _HABITS.items() if phrases.are_in(text)),
    )


def has_habit(habit: str, text: str) -> bool:
    """Return whether a text has one of the `habits`."""
    return _HABITS[habit].are_in(text)


def _packages_in(text: str) -> tuple[str, ...]:
    """Return the packages that all computed imports of a module are in: `import_module(f"net.{name}")`."""
    calls = _IMPORTS.finditer(text) if _DYNAMIC.are_in(text) else iter(())
    heads = [_HEAD.match(text, call.end()) for call in calls]
    if len(heads) < len(_DYNAMIC.pattern.findall(text)) or None in heads:
        return ()
    return tuple(sorted({head["head"] or "" for head in heads if head is not None}))


def pairs_in(paths: list[str]) -> frozenset[Pair]:
    """Return the pairs of neighbours in paths."""
    return frozenset(pair for path in paths for pair in pairwise(_SEPARATOR.split(path)))


def _configured_in(text: str) -> tuple[str, ...]:
    makers = table.names("configured", "makers")
    made = set(_made().findall(text)) if any(name in text for name in makers) else set[str]()
    picks = any(word in text for word in _PICKS)
    picked = {BY_NAME + key for key in _PICKED.findall(text)} if picks else set[str]()
    below = {BELOW + name for name in _SUBCLASS.findall(text)} if "issubclass(" in text else set[str]()
    return tuple(sorted(made | picked | below))


@cache
def _made() -> re.Pattern[str]:
    """Matches a call that makes an object of a part of the configuration: `instantiate(cfg.model)`."""
    makers = "|".join(table.names("configured", "makers"))
    return re.compile(rf"""\b(?:{makers})\(\s*(?:[\w.]*\.)?(?:\w+\[["'])?(\w+)(?:["']\])?\s*[,)]""")
