"""Decide whether processes wait at a barrier for what stands before it."""

from __future__ import annotations

import re
from dataclasses import replace

from xlamig import ir
from xlamig.flow.detectors.consumers import logs
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import CodeContext

_ONE_RANK = re.compile(
    r"\bif\b[^\n:]*(?:rank|is_(?:main|master)|primary|process_index)|\.(?:exists|isfile|unlink|rmtree)\(|\bopen\("
    r"|\b\w*(?:save|load|dump|download|extract|write|mkdirs?|makedirs)\w*\("
)
_PREPARES = re.compile(
    r"\b\w*(?:download|extract|unpack|unzip|prepare|process_data|build|compile|tokenize|create|(?<!\.)convert|copy"
    r"|mkdirs?|makedirs|rmtree|unlink)\w*\(|\.(?:exists|isfile)\(|\byield\b"
    r"|\bif\b[^\n:]*(?:rank|main|master)[^\n:]*:\s*$"
)
_RANK_TEST = re.compile(
    r"\bif\b[^\n:]*(?:rank|is_(?:main|master)|primary|process_index)[^\n:]*:[ \t]*\n(?=\s*\S)"
)
_LOOP = re.compile(r"^[ \t]*(?:for|while)\b", re.MULTILINE)
_FETCHES = re.compile(r"download|extract|unpack|unzip|prepare")


def hands_over(text: str) -> bool:
    """Return whether a function with a barrier does what other processes may have to wait for."""
    return "barrier" in text and bool(_ONE_RANK.search(text))


def hands_over_before(text: str, last: bool) -> bool:
    """Return whether processes wait for what stands before a barrier, which may be the last statement of its
    function or loop: nothing there reads a checkpoint that one rank has saved. A function that sets up the
    process group and ends with a barrier is all that a process runs."""
    _, begins, text = text.rpartition("init_process_group(")
    if last and begins and _LOOP.search(text) and not _FETCHES.search(text):
        return False
    if not last:
        return bool(_ONE_RANK.search(text))
    after = _RANK_TEST.split(text)[-1]  # what one rank does, if a test says so
    return bool(_ONE_RANK.search(text) and _PREPARES.search(after))


class Handovers:
    """The functions around a place, and the last statements of functions and loops."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._begins = [0]  # of the functions
        self._last: dict[int, int] = {}  # where the block begins, by where its last statement does

    def enter(self, node: ir.FunctionDef) -> bool:
        """Go into a function; return whether others may have to wait for what it does."""
        found = hands_over(self._text[node.start : node.end])
        self._begins.append(node.start if found else self._begins[-1])
        if found:
            self.note(node.body)
        return found

    def leave(self) -> None:
        """Go out of the function."""
        self._begins.pop()

    def note(self, body: ir.Block) -> None:
        """Remember the last statement of a function or loop, also below a test, or before a log or a
        `return path`."""
        begin = body[0].start
        while len(body) > 1 and _only_logs(body[-1]):
            body = body[:-1]
        last = body[-1]
        if isinstance(last, ir.Return) and len(body) > 1 and _returns_nothing_new(last):
            last = body[-2]
        while isinstance(last, ir.If) and not last.orelse:
            last = last.body[-1]
        self._last[last.start] = begin

    def without(self, statement: ir.Stmt, place: CodeContext) -> CodeContext:
        """Return the place of a barrier without the tag where nobody waits for what stands before it."""
        if "handover" not in place.context or not isinstance(statement, ir.ExprStmt):
            return place
        begin = self._last.get(statement.start)
        text = self._text[self._begins[-1] if begin is None else begin : statement.start]
        if hands_over_before(text, begin is not None):
            return place
        return replace(place, context=place.context - {"handover"})


def _only_logs(statement: ir.Stmt) -> bool:
    match statement:
        case ir.ExprStmt(value=ir.Call(func=func, args=args)):
            return logs(path_of(func)) and not any(isinstance(arg.value, ir.Call) for arg in args)
    return False


def _returns_nothing_new(statement: ir.Return) -> bool:
    """Return whether a function ends with a name or constant, also as another type: `return Path(x)`."""
    value = statement.value
    if isinstance(value, ir.Call) and len(value.args) == 1 and path_of(value.func)[:1].isupper():
        value = value.args[0].value
    return value is None or isinstance(value, ir.Name | ir.Const)
