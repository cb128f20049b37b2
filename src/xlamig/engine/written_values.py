"""Values that the texts of settings, pages and scripts give to options: `--dropout 0.3`, `dropout: 0.3`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from xlamig.flow.model.option_codes import FINITE, NONE, OFF, ON, TEXT, UNKNOWN, section_key

_WORDS = {
    **dict.fromkeys(("false", "no", "off"), OFF),
    **dict.fromkeys(("true", "1", "yes", "on"), ON),
}
_NOTHING = frozenset({"~", "null", "none"})
_VALUE = re.compile(r"""["']?[ \t]*(?:[:=][ \t]*|[ \t]+)["']?([^\s"'`,;})\]\\]+)""")
_PREFIX = re.compile(r"([A-Za-z_]\w*)\.$")
_HEADING = re.compile(r"""[ \t]*["']?([A-Za-z_]\w*)["']?[ \t]*:[ \t]*(?:[{&#].*)?""")
_LONGEST_PREFIX, _MOST_ABOVE = 60, 5000  # characters
_PLAIN = re.compile(r"[\w.+-]+")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?")
# In a sweep, which says what an option may be below its name.
_NESTED = re.compile(r"""["']?[ \t]*:[ \t]*\n[ \t]+["']?(?:distribution|max|min|values?)["']?[ \t]*:""")


def given_in_texts(
    names: Iterable[str], texts: Iterable[str], flips: Collection[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield what the texts of files say of options; the flags that `flips` names turn off what is on."""
    listed = "|".join(re.escape(name).replace("_", "[_-]") for name in sorted(names, key=len, reverse=True))
    spoken = re.compile(rf"(?<![\w-])(--?)?({listed})(?![\w-])")
    for text in texts:
        for found in spoken.finditer(text):
            value = _VALUE.match(text, found.end())
            option, dashed = found[2].replace("-", "_"), bool(found[1])
            word = value[1] if value and "\n" not in value[0] else ""
            sets = value is not None and value[0].lstrip("\"' \t")[:1] in (":", "=")
            if _NESTED.match(text, found.end()):
                yield option, UNKNOWN
            after_section = text[max(0, found.start() - 1)] == "." and option.isupper()
            if dashed and (not word or (word.startswith("-") and not _NUMBER.fullmatch(word))):
                yield option, OFF if option in flips else ON
            elif dashed or sets or (after_section and word):  # `LOSS.KIND focal`
                yield section_key(_section_of(text, found.start()), option), _code_of(word)


def _section_of(text: str, start: int) -> str:
    """Return the section of an option that stands somewhere in settings: `section.x=1`, and `x: 1` indented
    below `section:`; "" for one that has none, or where that is not plain."""
    if prefix := _PREFIX.search(text, max(0, start - _LONGEST_PREFIX), start):
        return prefix[1]
    *above, line = text[max(0, start - _MOST_ABOVE) : start].split("\n")
    depth = len(line) - len(line.lstrip())
    if not depth or line.strip(" \t\"'"):
        return ""
    outer = (one for one in reversed(above) if one.strip() and len(one) - len(one.lstrip()) < depth)
    heading = _HEADING.fullmatch(next(outer, ""))
    return heading[1] if heading else ""


def _code_of(word: str) -> str:
    """Return the code of a value that is written in a file."""
    if word.lower() in _NOTHING:
        return NONE
    if not _PLAIN.fullmatch(word):
        return UNKNOWN
    if word.startswith("-") and _NUMBER.fullmatch(word):
        return FINITE + word  # it says that something is off
    number = (FINITE if float(word) else OFF) if _NUMBER.fullmatch(word) else ""
    return _WORDS.get(word.lower(), number or TEXT + word)
