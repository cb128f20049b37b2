"""Which changed lines of a port count: the written rule of docs/effort.md, and nothing else.

A changed line counts when it, or a line of the same hunk and the same side at most `NEAR` lines
away, names what a port to XLA is about (`WORDS`) or something that such a line introduced, and a
commit of the port wrote it. Blank lines, comments, and lines that are deleted and added with the
same text (moved, indented again) do not. In a file that is all new or written again, the lines must
name XLA itself (`XLA`). Hunks that only delete count where every commit is the port's.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

NEAR = 2
XLA = re.compile(r"(?<![a-z])(torch_?xla|xla|xm|xmp|xr|tpus?|pjrt|mark_step)(?![a-z])", re.IGNORECASE)
WORDS = re.compile(
    r"(?<![a-z])(torch_?xla|xla|xm|xmp|xr|xs|tpus?|pjrt|spmd|mesh|mark_step|ordinal|bazel"
    r"|devices?|cuda|gpus?|cpu|nvidia|cudnn|pin_memory|non_blocking|map_location"
    r"|dist|distributed|rank|world_size|num_replicas|replicas?|nprocs?|spawn|barrier|rendezvous|nccl|launch"
    r"|all_?reduce|all_?gather|reduce|gather|broadcast|scatter|data_?parallel|ddp|fsdp|sampler|master"
    r"|amp|apex|autocast|grad_?scaler|scaler|bf16|bfloat16|fp16|float16|fp32|float32|half|mixed_precision"
    r"|item|tolist|numpy|nonzero|masked_\w+|where|index_\w+|static|bucket|pad|drop_last|prefetch|num_workers"
    r"|data_?loaders?|mpdeviceloader|parallelloader|loader|optimizer|compile|state_dict)(?![a-z])"
    r"|\.(save|load)\(",
    re.IGNORECASE,
)
DEFINES = re.compile(
    r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)|^\s*(?:self\.)?(\w+)\s*(?::[^=]*)?=[^=]|\bas\s+(\w+)|--(\w+)"
)
SIDES = re.compile(r"(^|/)(tests?|testing|docs?)(/|$)|(^|/)(test_[^/]*|[^/]*_test|conftest|setup)\.py$")
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


Mine = Callable[[int | None], bool]  # whether the port wrote a line of the new file; None: all of it


@dataclass
class Hunk:
    """Lines at one place: `added` with their numbers in the new file."""

    deleted: list[str] = field(default_factory=list)
    added: list[tuple[int, str]] = field(default_factory=list)


@dataclass
class Change:
    """The change of a file. `old` is what it was made from, None for a file that is all new."""

    old: str | None
    new: str | None
    hunks: list[Hunk] = field(default_factory=list)


def git(directory: Path, *words: str) -> str:
    command = ["git", "-c", "safe.directory=*", "-c", "core.quotepath=off", f"--git-dir={directory}", *words]
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True)
    return run.stdout


def changes(directory: Path, before: str, after: str, *paths: str) -> Iterator[Change]:
    """Changed Python files between two commits; copies and renames from what they are most like."""
    options = ("-U0", "-w", "-M50%", "-C50%", "--find-copies-harder", "-l4000", "--no-color", "--no-ext-diff")
    change: Change | None = None
    hunk: Hunk | None = None
    for line in git(directory, "diff", *options, before, after, "--", *(paths or ("*.py",))).split("\n"):
        if line.startswith("diff --git "):
            if change is not None:
                yield change
            change, hunk = Change(None, None), None
        elif change is None:
            continue
        elif hunk is None and line.startswith(("--- ", "rename from ", "copy from ")):
            name = line.split(" ", 2 if line[0] != "-" else 1)[-1].rstrip("\t")
            change.old = None if name == "/dev/null" else name.removeprefix("a/") if line[0] == "-" else name
        elif hunk is None and line.startswith(("+++ ", "rename to ", "copy to ")):
            name = line.split(" ", 2 if line[0] != "+" else 1)[-1].rstrip("\t")
            change.new = None if name == "/dev/null" else name.removeprefix("b/") if line[0] == "+" else name
        elif found := _HUNK.match(line):
            hunk, number = Hunk(), int(found[1])
            change.hunks.append(hunk)
        elif hunk is not None and line.startswith("-"):
            hunk.deleted.append(line[1:])
        elif hunk is not None and line.startswith("+"):
            hunk.added.append((number, line[1:]))
            number += 1
    if change is not None:
        yield change


def authors(directory: Path, before: str, after: str, name: str) -> dict[int, str]:
    """The commit that wrote each line of a file, of those between two commits."""
    found: dict[int, str] = {}
    text = git(directory, "blame", "-w", "--porcelain", f"{before}..{after}", "--", name)
    for line in text.split("\n"):
        head = line.split(" ")
        if len(head) >= 3 and len(head[0]) in (40, 41) and head[2].isdigit():
            found[int(head[2])] = head[0]
    return found


def count(change: Change, old_lines: int, mine: Mine, names: frozenset[str] = frozenset()) -> tuple[int, int]:
    """Deleted and added lines that count; `names` are identifiers the port introduced."""
    new = is_new(change, old_lines)
    gone = Counter(text.strip() for hunk in change.hunks for text in hunk.deleted)
    come = Counter(text.strip() for hunk in change.hunks for _, text in hunk.added)
    deleted: Counter[str] = Counter()
    added: Counter[str] = Counter()
    for hunk in change.hunks:
        went, came = counted(hunk, new, mine, names)
        deleted.update(text.strip() for text in went)
        added.update(text.strip() for text in came)
    return (deleted - come).total(), (added if new else added - gone).total()


def counted(
    hunk: Hunk, new: bool, mine: Mine, names: frozenset[str] = frozenset()
) -> tuple[list[str], list[str]]:
    """Return the deleted and the added lines of a hunk that count."""
    words = XLA if new else WORDS
    by_port = [mine(number) for number, _ in hunk.added]
    lines = [text for _, text in hunk.added]
    came = [lines[at] for at in _near(lines, words, names) if by_port[at]]
    deletes = not new and (any(by_port) if hunk.added else mine(None))
    return [hunk.deleted[at] for at in _near(hunk.deleted, words, names)] if deletes else [], came


def introduced(changed: Iterable[Change], known: str, mine: Callable[[Change], Mine]) -> frozenset[str]:
    """Identifiers that lines naming the words define, and that were in no changed file before."""
    before = set(re.findall(r"\w+", known))
    found: set[str] = set()
    for change in changed:
        for hunk in change.hunks:
            for number, text in hunk.added:
                if mine(change)(number) and WORDS.search(_code(text)):
                    found |= {name for groups in DEFINES.findall(text) for name in groups if len(name) > 3}
    return frozenset(found - before)


def is_new(change: Change, old_lines: int) -> bool:
    """Return whether a file is all new, or keeps less than half of what it was made from."""
    return change.old is None or sum(len(hunk.deleted) for hunk in change.hunks) > old_lines / 2


def _near(lines: list[str], words: re.Pattern[str], names: frozenset[str]) -> list[int]:
    said = [
        at
        for at, line in enumerate(lines)
        if words.search(code := _code(line)) or not names.isdisjoint(re.findall(r"\w+", code))
    ]
    return [at for at, line in enumerate(lines) if _code(line) and any(abs(at - one) <= NEAR for one in said)]


def _code(line: str) -> str:
    text = line.strip()
    return "" if text.startswith("#") else text
