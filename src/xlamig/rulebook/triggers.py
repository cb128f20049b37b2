"""A search that tells from a file's text alone whether it can give a fact."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from xlamig.facts import Interest
from xlamig.rulebook.match import RECEIVERS, is_method

ALWAYS = frozenset({"xlamig", "XLA"})  # suppression comments, also those of no use

# Words without which no fact of a kind comes about; what the book seeks by name is added.
_BY_KIND: Mapping[str, frozenset[str]] = {
    "api-use": frozenset(),
    "package": frozenset(),
    "environment": frozenset(),
    "tool": frozenset(),
    # An integer can be a device too: `.to(0)`, `device=0`.
    "device-choice": frozenset({"cuda", "'xla", '"xla', "'tpu", '"tpu', "device", "accelerator", ".to"}),
    "launch": frozenset({"nccl", "backend"}),
}

# Between a dot and an attribute Python allows space, continued lines and comments.
_GAP = r"\.(?:\s|\\\r?\n|#[^\r\n]*)*+"


def trigger_words(interest: Interest) -> frozenset[str]:
    """Strings one of which is in every file that can give a fact, but for those of packages; "." marks a
    whole attribute.

    A name counts by its first part, so an API that reaches a file only through the project's own
    modules gives no fact there. Empty for a kind of fact of which nothing is known here: then
    every file matters.
    """
    if not interest.kinds <= _BY_KIND.keys():
        return frozenset({""})
    words = set(ALWAYS).union(*(_BY_KIND[kind] for kind in interest.kinds))
    words |= {f".{method}" for method in interest.methods}
    words |= interest.keywords
    words |= interest.variables.union(interest.variable_prefixes)
    for name in (*interest.names, *interest.prefixes, *interest.aliases):
        root = name.partition(".")[0]
        if not (is_method(name) and root in RECEIVERS):
            words.add(root)
    return frozenset(words)


def _packages(interest: Interest) -> list[str]:
    """Packages as they are imported and as they are required."""
    roots = {package.partition(".")[0] for package in interest.packages}
    return sorted(roots | {root.replace("_", "-") for root in roots})


def compile_check(interest: Interest, others: Iterable[str] = ()) -> Callable[[str], bool]:
    """`may_matter(text)`: one search; False only if the text can give no fact and has none of the
    `others`."""
    words = trigger_words(interest).union(others)
    if "" in words:
        return lambda text: True
    plain = {word for word in words if not word.startswith(".")}
    attributes = sorted(word[1:] for word in words - plain)
    parts = [_alternatives(_without_longer(plain))]
    attributes = [a for a in attributes if not any(word in a for word in plain)]
    if attributes:
        parts.append(rf"{_GAP}(?:{_alternatives(attributes)})\b")
    # Whole words: a package may be called `ray`.
    packages = [package for package in _packages(interest) if not any(word in package for word in plain)]
    if packages:
        parts.append(rf"\b(?:{_alternatives(packages)})\b")
    search = re.compile("|".join(parts)).search
    return lambda text: search(text) is not None


def _without_longer(words: Iterable[str]) -> list[str]:
    """Words that contain no other word: the others add nothing to a search."""
    short = sorted(words, key=len)
    return sorted(w for i, w in enumerate(short) if not any(other in w for other in short[:i]))


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, words))
