"""Check what people read against the style guide's measurable part.

python tools/check_prose.py    prints every violation and exits with 1 if there is one

Rules (heads of rules/*/*.md and rows of rules/*/*.toml): a message is one sentence of at most 100
characters, `help` and its like begin with a verb (VERBS: add yours), nothing ends with a period or uses
a banned phrase. Rule pages: no section is left as `xlamig rule new` wrote it, and "Fix safety" leaves
grades to the generated lines. Documents and rule pages: lines of prose wrap at 100 columns, and banned
phrases stay out. Code: banned phrases stay out of comments, docstrings and, in the package, of all
other text; a docstring begins with a verb or a noun. HTML templates: banned phrases stay out.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from xlamig.rulebook.errors import Where
from xlamig.rulebook.page import read_sections, split_page
from xlamig.rulebook.safety import SECTION
from xlamig.rulebook.shorthand import expand

ROOT = Path(__file__).parents[1]
SCAFFOLD = ROOT / "src/xlamig/cli/new_page.md"
LONGEST = 100
_HOLE = re.compile(r"\{[^{}]*\}")
CODE = ("src", "tests", "tools", "benchmarks")
DOCUMENTS = ("*.md", "docs/**/*.md", "benchmarks/**/*.md", "tools/*.md", "fixtures/*.md", "editors/*/*.md")
PROGRAMS = ("benchmarks/programs/sources", "benchmarks/probes/programs")  # they keep their words
_QUOTES = ('"""', 'r"""')
_LAYOUT = frozenset({tokenize.NL, tokenize.COMMENT})
_STATEMENT_STARTS = frozenset({tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})
_CODE = re.compile(r"`[^`]*`")
_LINK = re.compile(r"\]\([^)]*\)|https?://\S+")
_MESSAGES = {"message", "says"}
_ADVICE = {"help", "instead", "changes", "advice"}
_SENTENCE = {*_MESSAGES, *_ADVICE, "reason", "title", "why"}
_VERBS = """Add Apply Ask Assign Build Cache Calibrate Call Cast Catch Check Choose Clip Clone
Compare Compile Compute Configure Convert Copy Correct Count Create Decode Define Delete Detach
Disable Divide Do Draw Drop Enable End Exchange Expand Expect Export Fill Find Fix Gather Generate
Give Import Index Initialize Insert Install Iterate Keep Leave Let Limit Load Log Make Mask Move
Multiply Name Omit Open Pad Pass Permute Place Pool Port Prefer Print Profile Put Quantize Quote
Raise Read Register Rely Remove Rename Replace Report Request Require Reserve Reshape Resize Restore
Return Reuse Rewrite Roll Round Run Sample Save Scale Select Send Serve Set Shard Share Shift Skip
Sort Specify Split Stack Start Stop Store Sum Suppress Switch Take Test Tie Train Transform Try Turn
Update Upgrade Use Voxelize Wait Work Wrap Write"""
VERBS = frozenset(_VERBS.split())
_CONDITIONS = frozenset({"After", "For", "If", "On", "To"})  # and then the verb
_NO_CHANGE = "Nothing to change"
_BANNED = re.compile(
    r"""\banother\b[^.]{0,40}\bin\ each\b | \b(?:in|to)\ each\ (?:step|round)\b | \ba?\ rounds?\ of\b
    | \barms?\b | \b(?:is|are|was|were)\ told\b | \banew\b | \bwithout\ (?:a|any)\ message\b
    | \bgoes\ wrong\b | \bnames\ CUDA\b | \bwaits\ for\ nobody\b | \bit\ is\ not\ seen\b""",
    re.IGNORECASE | re.VERBOSE,
)
_GRADE = re.compile(r"(?:Safe|Unsafe|Shown|Nothing is written|No fix|There is no)\b")
GENERATED = "the list of fixes is generated: begin with why the fix is right, or what it leaves"
_OPENING = re.compile(r"^(?:What|Of|Whether)\b")


class Violation(NamedTuple):
    place: str
    text: str
    problem: str

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}: {self.text}"


def main() -> int:
    found = [*rules(ROOT / "rules"), *pages(ROOT / "rules"), *documents(ROOT), *code(ROOT)]
    found += templates(ROOT / "src")
    for violation in found:
        print(violation)
    return bool(found)


def rules(folder: Path) -> Iterator[Violation]:
    """Violations in the sentences of rule pages and tables."""
    for path in sorted(folder.glob("*/*")):
        text = path.read_text("utf-8")
        place = path.relative_to(folder.parent).as_posix()
        if path.suffix == ".md":
            head = expand(tomllib.loads(text.split("+++")[1]), Where(place))
        elif path.suffix == ".toml":
            head = tomllib.loads(text)
        else:
            continue
        for key, sentence in _sentences(head):
            yield from (Violation(place, sentence, problem) for problem in of_sentence(key, sentence))


def _sentences(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _sentences(inner, key if key in _ADVICE else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _sentences(inner, key)
    elif isinstance(value, str) and key in _SENTENCE:
        yield key, value


def of_sentence(key: str, sentence: str) -> Iterator[str]:
    """Yield the problems of a message, `help`, reason or title of a rule."""
    plain = _CODE.sub("", sentence)
    if (banned := _BANNED.search(plain)) is not None:
        yield f"banned phrase {banned[0]!r}"
    if _OPENING.match(sentence):
        yield "opens with a word that hides the actor"
    if sentence.endswith(".") and not sentence.endswith("...") and key != "advice":
        yield "ends with a period"
    if key in _MESSAGES and len(_HOLE.sub("", sentence)) > LONGEST:
        yield f"longer than {LONGEST} characters"
    if key in {*_MESSAGES, *_ADVICE} and sentence[:1].islower():
        yield "begins in lower case"
    if key in _ADVICE and not _is_imperative(sentence):
        yield "is no imperative: it begins with none of VERBS"


def _is_imperative(sentence: str) -> bool:
    first = sentence.split(maxsplit=1)[0].rstrip(",:;") if sentence else ""
    filled = first.startswith("{")  # by a row, whose text is checked itself
    return filled or first in VERBS or first in _CONDITIONS or sentence.startswith(_NO_CHANGE)


def pages(folder: Path) -> Iterator[Violation]:
    """Violations in the text of rule pages."""
    top, below = split_page(SCAFFOLD.read_text("utf-8"), Where("scaffold"))
    sentences = {text for _, text in _sentences(tomllib.loads(top))}
    scaffold = read_sections(below)
    for path in sorted(folder.glob("*/*.md")):
        place = path.relative_to(folder.parent).as_posix()
        text = path.read_text("utf-8")
        head, body = split_page(text, Where(place))
        for _, sentence in _sentences(tomllib.loads(head)):
            if sentence in sentences:
                yield Violation(place, sentence, "is left as `xlamig rule new` wrote it")
        for title, section in read_sections(body).items():
            if title == SECTION and _GRADE.match(section):
                opening = section.partition("\n")[0]
                yield Violation(place, opening, GENERATED)
            if title != SECTION and section in ("", scaffold.get(title)):
                yield Violation(place, f"## {title}", "is left as `xlamig rule new` wrote it")
        yield from _of_lines(place, body, text.count("\n") - body.count("\n"))


def documents(root: Path) -> Iterator[Violation]:
    """Violations in the prose of the documents."""
    for pattern in DOCUMENTS:
        for path in sorted(root.glob(pattern)):
            yield from _of_lines(path.relative_to(root).as_posix(), path.read_text("utf-8"))


def templates(folder: Path) -> Iterator[Violation]:
    """Violations in the text of HTML pages and their scripts."""
    for path in sorted({*folder.rglob("*.jinja"), *folder.rglob("*.js")}):
        place = path.relative_to(folder).as_posix()
        for row, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if (banned := _BANNED.search(line)) is not None:
                yield Violation(f"{place}:{row}", line.strip(), f"banned phrase {banned[0]!r}")


def _of_lines(place: str, text: str, above: int = 0) -> Iterator[Violation]:
    for row, line in prose(text):
        where = f"{place}:{row + above}"
        if len(_LINK.sub("](", line)) > LONGEST:
            yield Violation(where, line, f"wider than {LONGEST} columns")
        if (banned := _BANNED.search(_CODE.sub("", line))) is not None:
            yield Violation(where, line, f"banned phrase {banned[0]!r}")


def code(root: Path) -> Iterator[Violation]:
    """Violations in the comments, docstrings and sentences of the source."""
    for folder in CODE:
        for path in sorted((root / folder).rglob("*.py")):
            place = path.relative_to(root).as_posix()
            if not place.startswith(PROGRAMS):
                yield from of_source(place, path.read_text("utf-8"))


def of_source(place: str, source: str) -> Iterator[Violation]:
    """Violations in one Python file."""
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        text, docstring = token.string, False
        if token.type == tokenize.STRING:
            docstring = before in _STATEMENT_STARTS and text.startswith(_QUOTES)
            checked = docstring or place.startswith("src/")
        else:
            checked = token.type == tokenize.COMMENT
        if token.type not in _LAYOUT:
            before = token.type
        if not checked:
            continue
        where = f"{place}:{token.start[0]}"
        if (banned := _BANNED.search(_CODE.sub("", text))) is not None:
            yield Violation(where, " ".join(text.split())[:100], f"banned phrase {banned[0]!r}")
        if docstring and _OPENING.match(text.lstrip("r").strip('"').lstrip()):
            yield Violation(where, text.splitlines()[0], "opens with a word that hides the actor")


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a document outside code blocks, tables and HTML, with their row."""
    fenced = False
    for row, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith(("|", "<", "!")):
            yield row, line


if __name__ == "__main__":
    sys.exit(main())
