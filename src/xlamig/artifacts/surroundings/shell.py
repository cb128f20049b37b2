"""Shell scripts, and the shell inside Dockerfiles, Makefiles and workflows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from xlamig.artifacts.packages.pip import read_install
from xlamig.artifacts.packages.requirement import read_conda
from xlamig.artifacts.page import Page
from xlamig.facts import Fact, Span

Word = tuple[str, Span]
Wanted = Callable[[str], bool]

_DIRECTIVE = re.compile(r"^#SBATCH[ \t]+(-[^\n#]*)", re.MULTILINE)
_OPTION = re.compile(r"(--?[\w-]+)(?:=|[ \t]+)?(\"[^\"\n]*\"|'[^'\n]*'|\S*)")
# What only starts another command, with the options of it that take a value.
_WRAPPERS = {
    "sudo": ("-u", "-g"),
    "env": ("-u", "-C"),
    "exec": ("-a",),
    "nohup": (),
    "time": ("-o", "-f"),
    "command": (),
    "srun": (),
    "xvfb-run": (),
    "poetry run": (),
    "uv run": ("--with", "--extra", "--group", "--python", "-p"),
    "pipenv run": (),
    "conda run": ("-n", "-p"),
}
# Commands that start another program, with their options that take no value: what follows is the program's.
_STARTERS = {
    "docker run": ("-i", "-t", "-it", "-ti", "-d", "-P", "-q", "--rm", "--privileged", "--init", "--detach",
                   "--interactive", "--tty", "--publish-all", "--read-only", "--quiet"),
    "srun": ("-l", "--label", "-u", "--unbuffered", "-O", "--overcommit", "--exclusive", "--pty", "-v"),
    "sbatch": ("--exclusive", "--parsable", "-Q", "--quiet", "-W", "--wait", "--requeue", "-O", "-v"),
}  # fmt: skip
_PYTHON = re.compile(r"python[\d.]*$")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_MOST = 200_000  # characters: a longer script is data


def read_shell(page: Page, wanted: Wanted, start: int = 0, end: int | None = None) -> Iterator[Fact]:
    """The facts of the script in `text[start:end]`."""
    text = page.text[start:end]
    if len(text) > _MOST:
        return
    for found in _DIRECTIVE.finditer(text):
        yield from _options(page, "sbatch", found[1], start + found.start(1), wanted)
    for words, name, value, span in _statements(text, start):
        if words:
            yield from read_command(page, words, wanted)
        elif wanted(name):
            yield page.setting(name, value, span, "variable")


def read_command(page: Page, words: Sequence[Word], wanted: Wanted) -> Iterator[Fact]:
    """The facts of one command by its words."""
    words = list(words)
    while words:
        name = _basename(words[0][0])
        pair = " ".join([name, *(word for word, _ in words[1:2])])
        if wanted(pair) or (name not in _WRAPPERS and pair not in _WRAPPERS):
            break
        yield from _words_options(page, name, words[1:], wanted)
        words = _unwrap(words, 2 if pair in _WRAPPERS else 1)
    if not words:
        return
    texts = [_basename(words[0][0]), *(word for word, _ in words[1:4])]
    for length in range(len(texts), 0, -1):
        name = " ".join(texts[:length])
        if wanted(name):
            span = (words[0][1][0], words[length - 1][1][1])
            yield page.setting(name, " ".join(word for word, _ in words[length:]), span, "command")
            break
    yield from _installed_facts(page, texts, words, wanted)
    for length in (1, 2):
        yield from _words_options(page, " ".join(texts[:length]), words[length:], wanted)


def _installed_facts(
    page: Page, texts: Sequence[str], words: Sequence[Word], wanted: Wanted
) -> Iterator[Fact]:
    match texts:
        case [("pip" | "pip3"), "install", *_]:
            yield from read_install(page, words[2:])
        case ["python", "-m", "pip", "install", *_] | ["uv", "pip", "install", *_]:
            yield from read_install(page, words[4 if texts[0] == "python" else 3 :])
        case [("uv" | "poetry" | "pdm" | "pipenv"), ("add" | "install"), *_] if len(words) > 2:
            yield from read_install(page, words[2:])
        case [("conda" | "mamba" | "micromamba"), "install", *_]:
            plain = [word for word in words[2:] if _is_spec(word[0])]
            facts = (read_conda(page, text, span) for text, span in plain)
            yield from (fact for fact in facts if fact is not None)
        case [("apt" | "apt-get" | "yum" | "dnf" | "zypper"), *_] if "install" in texts:
            for text, span in words[1:]:
                name = text.partition("$")[0]
                if not text.startswith("-") and wanted(name):
                    yield page.setting(name, "", (span[0], span[0] + len(name)), "package")


def _is_spec(word: str) -> bool:
    return not word.startswith(("-", "/", ".")) and "$" not in word and not word.endswith((".yml", ".yaml"))


def _words_options(page: Page, command: str, words: Sequence[Word], wanted: Wanted) -> Iterator[Fact]:
    """Options of a command: `docker run --gpus all`; those of the program it starts are its own."""
    if command in _STARTERS:
        words = words[: _program_start(words, _STARTERS[command])]
    for (word, span), (value, after) in pairwise([*words, ("", (0, 0))]):
        name, equals, own = word.partition("=")
        if word.startswith("-") and wanted(f"{command} {name}"):
            given = own if equals else "" if value.startswith("-") else value
            end = span[1] if equals or not given else after[1]
            yield page.setting(f"{command} {name}", given, (span[0], end), "option")


def _program_start(words: Sequence[Word], flags: Sequence[str]) -> int:
    """Where the program begins."""
    takes = False
    for place, (word, _) in enumerate(words):
        if not word.startswith("-"):
            if not takes:
                return place
            takes = False
        else:
            takes = "=" not in word and word not in flags
    return len(words)


def _options(page: Page, command: str, text: str, at: int, wanted: Wanted) -> Iterator[Fact]:
    for found in _OPTION.finditer(text):
        name = f"{command} {found[1]}"
        if wanted(name):
            yield page.setting(name, found[2], (at + found.start(), at + found.end()), "option")


def _basename(word: str) -> str:
    name = word.rpartition("/")[2]
    return "python" if _PYTHON.match(name) else name


def _unwrap(words: list[Word], length: int) -> list[Word]:
    """Return the words of the command that a wrapper starts."""
    takes = _WRAPPERS.get(" ".join([_basename(words[0][0]), *(w for w, _ in words[1:length])]), ())
    words = words[length:]
    while words and (words[0][0].startswith("-") or _ASSIGNMENT.match(words[0][0])):
        with_value = words[0][0] in takes or (len(words) > 1 and words[1][0][:1].isdigit())
        words = words[2 if with_value else 1 :]
    return words


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def _statements(text: str, at: int) -> Iterator[tuple[list[Word], str, str, Span]]:
    """Commands, as (words, "", "", their span), and assignments, as ([], name, value, span)."""
    data = text.encode("utf-8", "surrogatepass")
    ascii_only = len(data) == len(text)

    def span(node: Node) -> Span:
        if ascii_only:
            return at + node.start_byte, at + node.end_byte
        first = len(data[: node.start_byte].decode("utf-8", "replace"))
        return at + first, at + first + len(data[node.start_byte : node.end_byte].decode("utf-8", "replace"))

    def plain(node: Node) -> str:
        word = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
        if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
            word = word[1:-1]
        return word.replace("\\\n", "")

    pending = [_parser().parse(data).root_node]
    while pending:
        node = pending.pop()
        if node.type == "command":
            parts = [c for c in node.children if c.type not in _NO_WORDS]
            words = [(plain(part), span(part)) for part in parts]
            if words:
                yield words, "", "", span(node)
        elif node.type == "variable_assignment":
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is not None:
                yield [], plain(name), plain(value) if value is not None else "", span(node)
        pending += reversed(node.children)


_NO_WORDS = ("variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect", "comment")
