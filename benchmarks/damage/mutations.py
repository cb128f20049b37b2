"""Files as people and tools damage them: seeded, so that a failure can be made again."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence

Mutation = Callable[[random.Random, bytes], bytes]

_SNIPPETS: tuple[str, ...] = (
    *"()[]{}:;,.@\\'\"#=*&|~!?$\t\f\r\n\0",
    '"""', "'''", "f'", 'f"{', "}}", "{{", ":=", "->", "**", "...", "\\\n", "\r\n", " \\\r\n", "0x", "1_",
    "lambda ", "yield ", "await ", "async ", "not ", "else ", "match x:\n case ", "return ", "del ", "@\n",
    "if 1:\n", "try:\n", "except* E:\n", "with a as b, ", "import torch\n", "from torch import *\n", "5j",
    "from __future__ import x\n", "torch.cuda", ".cuda()", "device='cuda'", "# xlamig: ignore[XLA", "1e",
    "# type: ignore", "# coding: latin-1\n", "global x\n", "é", "𝔘", "\u2028", "\ufeff", "\xa0", "e\u0301",
    "\x85", "\x1c", "\u202e", "# noqa: XLA0",
)  # fmt: skip


def _line(rng: random.Random, data: bytes, change: Callable[[list[bytes], int], None]) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        change(lines, rng.randrange(len(lines)))
    return b"".join(lines)


def delete_line(rng: random.Random, data: bytes) -> bytes:
    return _line(rng, data, lambda lines, i: lines.__delitem__(i))


def duplicate_line(rng: random.Random, data: bytes) -> bytes:
    return _line(rng, data, lambda lines, i: lines.insert(i, lines[i]))


def swap_lines(rng: random.Random, data: bytes) -> bytes:
    def swap(lines: list[bytes], i: int) -> None:
        j = rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]

    return _line(rng, data, swap)


def indent_line(rng: random.Random, data: bytes) -> bytes:
    def indent(lines: list[bytes], i: int) -> None:
        blank = rng.choice([b"", b" ", b"\t", b"    ", b" " * 150])
        lines[i] = blank + lines[i].lstrip(b" \t")

    return _line(rng, data, indent)


def join_lines(rng: random.Random, data: bytes) -> bytes:
    joint = rng.choice([b"", b";", b"\\\n", b"\\\r\n", b","])
    return _line(rng, data, lambda lines, i: lines.__setitem__(i, lines[i].rstrip(b"\r\n") + joint))


def edit_byte(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + bytes([rng.randrange(256)]) * rng.randrange(2) + data[at + rng.randrange(2) :]


def insert_snippet(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(_SNIPPETS).encode() * rng.choice([1, 1, 1, 2, 40]) + data[at:]


def truncate(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def move_piece(rng: random.Random, data: bytes) -> bytes:
    a, b, c = sorted(rng.randrange(len(data) + 1) for _ in range(3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def swap_words(rng: random.Random, data: bytes) -> bytes:
    words = list(re.finditer(rb"\w+", data))
    if not words:
        return data
    here, other = rng.choice(words).span(), rng.choice(words).span()
    return data[: here[0]] + data[other[0] : other[1]] + data[here[1] :]


def drop_bracket(rng: random.Random, data: bytes) -> bytes:
    brackets = list(re.finditer(rb"[()\[\]{}:,]", data))
    if not brackets:
        return data
    found = rng.choice(brackets)
    return data[: found.start()] + data[found.end() :]


def change_newlines(rng: random.Random, data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b"\n\f"]))


MUTATIONS: tuple[Mutation, ...] = (
    delete_line, duplicate_line, swap_lines, indent_line, join_lines, edit_byte, insert_snippet,
    insert_snippet, truncate, move_piece, swap_words, swap_words, drop_bracket, change_newlines,
)  # fmt: skip


def mutant(seed: int, data: bytes) -> bytes:
    """`data` with one to three mutations."""
    rng = random.Random(seed)
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = rng.choice(MUTATIONS)(rng, data)
    return data


def mutants(sources: Sequence[bytes], count: int) -> Iterator[bytes]:
    for number in range(count):
        yield mutant(number, sources[number % len(sources)])
