"""Files and commands of pip: requirements, their options, `pip install` lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from packaging.requirements import InvalidRequirement
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from xlamig.artifacts.packages.requirement import package_fact, read_requirement
from xlamig.artifacts.page import Page
from xlamig.facts import Fact, Span

_LINE = re.compile(r"(?:[^\\\r\n]|\\(?!\r?\n)|\\\r?\n)+")  # a continued line is one
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*")
_INDEX = re.compile(r"(--(?:extra-)?index-url|--find-links|-i|-f)(?:\s*=\s*|\s+)(\S+)")
_OPTIONS = re.compile(r"\s--?[a-zA-Z].*$", re.DOTALL)
_PLACE = re.compile(r"(?:[\w+.-]+://|git\+|file:|\.{0,2}/|~/|[A-Za-z]:\\|\.$|\.\[)")
_EGG = re.compile(r"[#&]egg=([\w.-]+)")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_WITH_VALUE = frozenset({
    "-r", "--requirement", "-c", "--constraint", "-t", "--target", "--platform", "--python-version", "--abi",
    "--implementation", "--prefix", "--root", "--src", "--upgrade-strategy", "--config-settings", "-C",
    "--global-option", "--no-binary", "--only-binary", "--progress-bar", "--report", "--trusted-host",
    "--cert", "--client-cert", "--cache-dir", "--log", "--proxy", "--retries", "--timeout", "--exists-action",
    "-e", "--editable", "--python", "-p", "--torch-backend", "--build-option", "-b", "--index-strategy",
})  # fmt: skip
_INDEXES = frozenset(
    {"--index-url", "--extra-index-url", "-i", "--find-links", "-f", "--index", "--default-index"}
)


_EXTRA = frozenset({"--extra-index-url", "--find-links", "-f"})


def read_requirements(page: Page) -> Iterator[Fact]:
    """The facts of a requirements file; a line that is no requirement costs itself alone."""
    for line in _LINE.finditer(page.text):
        text = _COMMENT.sub("", line[0]).replace("\\\n", " ").replace("\\\r\n", "  ")
        if not text.strip() or "${" in text or "{{" in text or "{%" in text:
            continue
        start = line.start() + len(line[0]) - len(line[0].lstrip())
        if text.lstrip().startswith("-"):
            yield from _option(page, line[0], line.start())
            continue
        wanted = _OPTIONS.sub("", text).strip()
        yield from read_line(page, wanted, (start, start + len(wanted)), optional=page.optional)


def read_line(page: Page, text: str, span: Span, *, optional: bool = False) -> Iterator[Fact]:
    """A requirement, a path or a URL."""
    try:
        fact = read_requirement(page, text, span, optional=optional)
    except InvalidRequirement as error:
        if not _PLACE.match(text) and not text.endswith((".whl", ".tar.gz", ".zip")):
            problem = str(error).partition("\n")[0].rstrip(":")
            yield page.as_malformed(f"`{_shorten(text)}` is no requirement: {problem}", *span)
            return
        fact = None
        if name := _name_in(text):
            fact = package_fact(page, name, "", span, spelled=text, optional=optional, cuda=_cuda_in(text))
    if fact is not None:
        yield fact


def read_install(page: Page, words: Sequence[tuple[str, Span]]) -> Iterator[Fact]:
    """Yield the requirements in the arguments of `pip install`, given as words without quotes and their
    places."""
    waiting = ""
    for word, span in words:
        if waiting:
            if waiting in _INDEXES:
                yield from index_fact(page, word, span, waiting)
            waiting = ""
        elif word.startswith("-"):
            name, equals, value = word.partition("=")
            if equals and name in _INDEXES:
                yield from index_fact(page, value, (span[1] - len(value), span[1]), name)
            elif not equals and (name in _WITH_VALUE or name in _INDEXES):
                waiting = name
        elif "$" not in word and (_NAME.match(word) or _PLACE.match(word)):
            yield from (f for f in read_line(page, word, span) if f.kind == "package")


def index_fact(page: Page, url: str, span: Span, option: str = "") -> Iterator[Fact]:
    """Where packages come from; `path` is "extra" for an index beside that of PyPI."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    if parts.netloc:
        yield page.setting(
            f"{parts.netloc}{parts.path.rstrip('/')}", url, span, "index", "extra" if option in _EXTRA else ""
        )


def _option(page: Page, line: str, at: int) -> Iterator[Fact]:
    code = _COMMENT.sub("", line)
    for found in _INDEX.finditer(code):
        yield from index_fact(page, found[2], (at + found.start(2), at + found.end(2)), found[1])
    editable = re.match(r"\s*(?:-e|--editable)(?:\s*=\s*|\s+)(\S+)", code)
    if editable and (name := _name_in(editable[1])):
        span = (at + editable.start(1), at + editable.end(1))
        yield package_fact(page, name, "", span, spelled=editable[1])


def _name_in(place: str) -> str:
    """The distribution that a path or URL is of, where it says so."""
    egg = _EGG.search(place)
    if egg:
        return egg[1]
    last = place.partition("#")[0].rpartition("/")[2]
    if last.endswith(".whl"):
        try:
            return str(parse_wheel_filename(last.replace("%2B", "+"))[0])
        except InvalidWheelFilename:
            return ""
    if place.startswith(("git+", "http://", "https://", "ssh://")):
        repository = last.partition("@")[0].removesuffix(".git")
        return repository if _NAME.fullmatch(repository) and "git" in place else ""
    return ""


def _cuda_in(text: str) -> str:
    found = re.search(r"(?:\+|%2B|/)(cu\d{2,3})\b", text)
    return found[1] if found else ""


def _shorten(text: str) -> str:
    short = " ".join(text.split()).replace("`", "'")
    return short if len(short) <= 60 else f"{short[:57]}..."
