"""Decide whether processes wait at a barrier for what stands before it."""

from __future__ import annotations

import re

_ONE_RANK = re.compile(
    r"\bif\b[^\n:]*(?:rank|is_(?:main|master)|primary|process_index)|\.(?:exists|isfile|unlink|rmtree)\(|\bopen\("
    r"|\b\w*(?:save|load|dump|download|extract|write|mkdirs?|makedirs)\w*\("
)
_PREPARES = re.compile(
    r"\b\w*(?:download|extract|unpack|unzip|prepare|process_data|build|compile|tokenize|create|convert|copy|mkdirs?"
    r"|makedirs|rmtree|unlink)\w*\(|\.(?:exists|isfile)\(|\byield\b"
    r"|\bif\b[^\n:]*(?:rank|main|master)[^\n:]*:\s*$"
)


def hands_over(text: str) -> bool:
    """Return whether a function with a barrier does what other processes may have to wait for."""
    return "barrier" in text and bool(_ONE_RANK.search(text))


def hands_over_before(text: str, last: bool) -> bool:
    """Return whether processes wait for what stands before a barrier, which may be the last statement of its
    function or loop: nothing there reads a checkpoint that one rank has saved."""
    text = text.rpartition("init_process_group(")[2]
    return bool(_ONE_RANK.search(text)) and (not last or bool(_PREPARES.search(text)))
