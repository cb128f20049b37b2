"""Dockerfiles: their instructions, and the shell in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from xlamig.artifacts.page import Page, is_template
from xlamig.artifacts.surroundings.shell import Wanted, read_command, read_shell
from xlamig.facts import Fact, Span

_INSTRUCTIONS = frozenset({
    "FROM", "RUN", "CMD", "LABEL", "MAINTAINER", "EXPOSE", "ENV", "ADD", "COPY", "ENTRYPOINT", "VOLUME",
    "USER", "WORKDIR", "ARG", "ONBUILD", "STOPSIGNAL", "HEALTHCHECK", "SHELL",
})  # fmt: skip
_HEREDOC = re.compile(r"<<-?\s*[\"']?(\w+)[\"']?")
_PAIR = re.compile(r"([A-Za-z_]\w*)=((?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.|[^\s\\])*)", re.DOTALL)
_OLD_PAIR = re.compile(r"([A-Za-z_]\w*)[ \t]+(\S.*)")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?-([^}]*))?\})")
_COMMENT = re.compile(r"(?<=\n)[ \t]*#[^\n]*")
_FLAGS = re.compile(r"(?:--[\w-]+(?:=\S+)?\s+)*")
_REGISTRY = re.compile(r"(?:index\.)?docker\.io/(?:library/)?")


class Instruction(NamedTuple):
    """`start:end` is what comes after the word."""

    word: str
    begin: int
    start: int
    end: int


def read_dockerfile(page: Page, wanted: Wanted) -> Iterator[Fact]:
    arguments: dict[str, str] = {}
    for step in instructions(page.text):
        body = page.text[step.start : step.end]
        match step.word:
            case "FROM":
                yield from _image(page, body, step.start, arguments, wanted)
            case "ARG" | "ENV":
                for name, value, span in _pairs(body, step.start):
                    if step.word == "ARG":
                        arguments[name] = value
                    if wanted(name):
                        yield page.setting(name, value, span, "variable")
            case "RUN" | "CMD" | "ENTRYPOINT":
                yield from _command(page, step, body, wanted)
            case word if word not in _INSTRUCTIONS and not is_template(page.text):
                message = f"`{word[:40]}` is no instruction of a Dockerfile"
                yield page.as_malformed(message, step.begin, step.begin + len(word))
                return


def instructions(text: str) -> Iterator[Instruction]:
    """Each with its continued lines and here-documents; comments between lines belong to it."""
    at, size = 0, len(text)
    while at < size:
        end = _line_end(text, at)
        line = text[at:end]
        if not line.strip() or line.lstrip().startswith("#"):
            at = end + 1
            continue
        begin = at + len(line) - len(line.lstrip())
        word = re.match(r"\S+", text[begin:end])
        after = begin + (word.end() if word else 0)
        last = _end_of_instruction(text, at)
        for tag in _HEREDOC.findall(text[after:last]):
            closing = re.compile(rf"^[ \t]*{tag}[ \t]*\r?$", re.MULTILINE).search(text, last)
            last = closing.end() if closing else last
        yield Instruction(text[begin:after].upper(), begin, after, last)
        at = last + 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _end_of_instruction(text: str, at: int) -> int:
    """The end of the last line of an instruction; comment and empty lines inside do not end it."""
    goes_on = True
    end = at
    while goes_on and at <= len(text):
        end = _line_end(text, at)
        line = text[at:end].strip()
        goes_on = line.endswith("\\") or (at > 0 and (line.startswith("#") or not line) and end < len(text))
        at = end + 1
    return end


def _image(page: Page, body: str, start: int, arguments: dict[str, str], wanted: Wanted) -> Iterator[Fact]:
    lead = len(body) - len(body.lstrip())
    flags = _FLAGS.match(body[lead:])
    lead += flags.end() if flags else 0
    spelled = re.match(r"\S+", body[lead:])
    if spelled is None:
        return
    image = _VARIABLE.sub(lambda m: arguments.get(m[1] or m[2], m[3] or m[0]), spelled[0]).strip("\"'")
    name = _REGISTRY.sub("", image, count=1)
    if wanted(name):
        yield page.setting(name, image, (start + lead, start + lead + spelled.end()), "image")


def _pairs(body: str, start: int) -> Iterator[tuple[str, str, Span]]:
    old = _OLD_PAIR.fullmatch(body.strip())
    if old and "=" not in body.split()[0]:
        at = start + body.index(old[1])
        yield old[1], old[2], (at, at + len(old[0]))
        return
    for found in _PAIR.finditer(body):
        yield found[1], found[2].strip("\"'"), (start + found.start(), start + found.end())


def _command(page: Page, step: Instruction, body: str, wanted: Wanted) -> Iterator[Fact]:
    if body.lstrip().startswith("["):
        try:
            listed = json.loads(body)
        except (json.JSONDecodeError, RecursionError):
            listed = None  # Docker, too, takes it for a command then
        if isinstance(listed, list) and all(isinstance(word, str) for word in listed):
            at = step.start
            words = []
            for word in listed:
                at = max(page.text.find(word, at, step.end), at)
                words.append((word, (at, at + len(word))))
            yield from read_command(page, words, wanted)
            return
    flags = _FLAGS.match(body.lstrip())
    skip = len(body) - len(body.lstrip()) + (flags.end() if flags else 0)
    if _HEREDOC.match(body, skip):  # the script is the document
        skip = body.find("\n", skip) + 1
    # Docker takes out comment lines; the shell would take one for the end of a continued line.
    plain = _COMMENT.sub(lambda found: " " * (len(found[0]) - 1) + "\\", body)
    inner = Page(page.text[: step.start] + plain + page.text[step.end :], page.kind, page.context)
    yield from read_shell(inner, wanted, step.start + skip, step.end)
