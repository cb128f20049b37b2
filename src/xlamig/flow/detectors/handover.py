"""Decide whether processes wait at a barrier for what stands before it."""

from __future__ import annotations

import re

_ONE_RANK = re.compile(
    r"\bif\b[^\n:]*(?:rank|is_(?:main|master)|primary|process_index)|\.(?:exists|isfile|unlink|rmtree)\(|\bopen\("
    r"|\b\w*(?:save|load|dump|download|extract|write|mkdirs?|makedirs)\w*\("
)
_PREPARES = re.compile(
    r"\b\w*(?:download|extract|unpack|unzip|prepare|process_data|build|compile|tokenize|create|(?<!\.)convert|copy"
    r"|mkdirs?|makedirs|rmtree|unlink)\w*\(|\.(?:exists|isfile)\(|\byield\b"
    r"|\bif\b[^\n:]*(?:rank|main|master)[^\n:]*:\s*$"
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
    return bool(_ONE_RANK.search(text)) and (not last or bool(_PREPARES.search(text)))
