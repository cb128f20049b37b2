"""The options of a run: what its modules give to them, and what its settings, scripts and pages say."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from xlamig.config.disk import ASKED
from xlamig.engine.cache import Cache, digest
from xlamig.engine.command_help import without_help
from xlamig.engine.remembered import Remembered
from xlamig.engine.source import Source
from xlamig.engine.written_values import given_in_texts
from xlamig.findings import Aside
from xlamig.flow.model.asked import variable_in
from xlamig.flow.model.given import Given
from xlamig.flow.model.option_codes import ENTRY, OFF
from xlamig.flow.model.outcomes import State
from xlamig.flow.model.switches import NAMING, Switches
from xlamig.flow.model.unset_variables import values_while_unset
from xlamig.knowledge import values as table

PAGES = (".json", ".md", ".rst", ".gin", ".ini", ".cfg", ".conf", ".toml", ".txt")
"""The endings of the names of settings and pages."""
_FOLDERS = re.compile(
    r"conf|cfg|param|option|setting|recipe|hp|experiment|^exps?$|^args$|^arch|^ya?ml|^json", re.IGNORECASE
)
_MOST_FILES, _MOST_BYTES = 200, 100_000
_MADE = re.compile(rf"""(?<![\w.-])(?:{"|".join(NAMING)})["']?[ \t]*:[ \t]*["']?([A-Za-z_][\w.]*)""")
# A loader without a model tries out the data.
_RUNS = re.compile(
    r"\b(?:main|train|run|evaluate|test|launch|spawn|demo|fit)\w*\(|argparse|parse_args|Parser|argv|optim"
    r"|\bfire\b|DataLoader(?=(?s:.*)(?:load_state_dict|\.eval\(|\.train\())"
)
_VARIABLES = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
_OF_SLURM = "SLURM_"  # variables that it sets for the jobs that it starts
_SLURM = re.compile(r"slurm|sbatch|submitit|\bsrun\b", re.IGNORECASE)
_OPTIONS = re.compile(
    r"^\s*(?:\w+ = )?(?:argparse\.|parser\.)?(?:ArgumentParser|add_argument|parse_args)\(.*$", re.MULTILINE
)
_COMPUTES = re.compile(
    r"model|criterion|loss|(?:^|[^a-z])net(?:[^a-z]|$)|\bsave", re.IGNORECASE | re.MULTILINE
)
_MAIN = "\nif __name__ == "
_PARSER = re.compile(r"^\s*(\w+) = (?:argparse\.)?ArgumentParser\(\s*\)$", re.MULTILINE)
# More than one call of a module on inputs of its own: files, measurements, training.
_WORKS = re.compile(
    r"^\s*(?:for|while|with open)\b|\b(?:\w*(?:load|save|open|write|read|export|dump|glob|list)\w*|step)\("
    r"|\bsys\b|\bbackward\b",
    re.MULTILINE,
)
_USES_FILES = re.compile(
    r"\b\w*(?:load|save|open|write|read|export|dump|glob)\w*\(|\bstep\(|\bbackward\b|\bsys\b|criterion|loss"
)
_TESTS = re.compile(r"\btest_\w+\(")
_SETS_MODE = re.compile(r"^[ \t]*(\w+)\.train\((?:True|False)?\)", re.MULTILINE)
_COMMAND = re.compile(r"(?:^|[\s`$>])(?:python[\d.]*|torchrun|accelerate|deepspeed)[ \t][^\n]*\w\.py\b")
_REMARK = re.compile(r"(?:^|(?<=\s))#.*$", re.MULTILINE)  # in Python
_COMMENT = re.compile(r"^[ \t]*(?:#|//).*$", re.MULTILINE)


NONE_IDLE: Mapping[str, Collection[str]] = {}


def switches_of(
    sources: Iterable[Source],
    asides: Mapping[str, Aside],
    known: Remembered[Mapping[str, State]],
    cache: Cache,
    published: Collection[str] = (),
    idle: Mapping[str, Collection[str]] = NONE_IDLE,
    imported: Collection[str] = (),
) -> Mapping[str, State]:
    """Return the states of the options that the files of a run give values to; what tests do is not
    counted, nor what `idle` functions and classes assign, by file. Who is not seen may call the functions of
    `published` files. Others import the modules `imported`."""
    sources = list(sources)
    own = [source for source in sources if asides.get(source.file.name) != "tests"]
    clues = [source.loaded.clues for source in sources if source.loaded]
    evaluates = any(clue.evaluates for clue in clues) and not any(clue.trains for clue in clues)
    texts = [(source.file.path, _seal(source) or source.source.text) for source in own]
    by_slurm = bool(published) or any("slurm" in clue.habits for clue in clues)
    question = (evaluates, by_slurm, texts, sorted(published), sorted(idle.items()), sorted(imported))

    def find() -> Mapping[str, State]:
        beside = list(texts_beside(own))
        key = digest("switches", question, beside)
        found: Mapping[str, State] | None = cache.get_many([key]).get(key)
        if found is None:
            found = _find_switches(own, evaluates, by_slurm, beside, published, idle, imported).states()
            cache.put_many({key: found})
        return found

    return known.ask(question, find)


def _seal(source: Source) -> str:
    return source.loaded.given.seal if source.loaded and source.loaded.given else ""


def _find_switches(
    sources: list[Source],
    evaluates: bool,
    by_slurm: bool,
    beside: list[str],
    published: Collection[str],
    idle: Mapping[str, Collection[str]],
    imported: Collection[str],
) -> Switches:
    unread = (s.source.text for s in sources if not _given(s) and s.source.kind != "native")
    texts = [*(_COMMENT.sub("", text) for text in unread), *beside]
    made = frozenset(path.rpartition(".")[2] for text in texts for path in _MADE.findall(text))
    modules = []
    left = set[str]()
    for source in sources:
        if given := _given(source):
            scopes = idle.get(source.file.name, ())
            left |= given.assigned_in(scopes)
            reached = given.in_reach(scopes)
            modules.append((source.module, _published(reached) if source.file.name in published else reached))
    alone = {module for module, _ in modules}.difference(imported)
    documented = any(map(_COMMAND.search, texts))
    switches = Switches(modules, evaluates, made, left, alone, documented)
    if variables := [key for key in switches.tested if variable_in(key).startswith(_OF_SLURM)]:
        every = (*(s.source.text for s in sources if not _given(s)), *beside)
        if not by_slurm and not any(map(_SLURM.search, every)):
            for key in variables:
                switches.give(key.removeprefix(ENTRY), OFF)
    words = frozenset(word for text in texts for word in _VARIABLES.findall(text))
    for key, code in values_while_unset([given for _, given in modules], words):
        switches.leave(key, code)
    if names := switches.undecided():
        flips = frozenset(filter(switches.is_on, names))
        for option, code in given_in_texts(names, map(without_help, texts), flips):
            switches.give(option, code)
    return switches


def _published(given: Given) -> Given:
    """Return what a module gives whose functions and classes others may call."""
    return given._replace(kept=given.kept | given.own)


def _given(source: Source) -> Given | None:
    return source.loaded.given.get() if source.loaded and source.loaded.given else None


def texts_beside(sources: Collection[Source]) -> Iterator[str]:
    """Yield the texts of settings and pages in the folders of the program, and those around them, that are no
    sources of the run."""
    known = {source.file.path for source in sources}
    folders = {source.file.path.parent for source in sources}
    packages = {path.parent for path in known if path.name == "__init__.py"}
    folders |= {package.parent for package in packages}  # where a package is run from
    if len(folders) > 1:
        top = Path(os.path.commonpath(folders))
        folders |= {outer for one in folders for outer in one.parents if outer.is_relative_to(top)}
    seen = 0
    for folder in sorted(folders | {inner for one in folders for inner in _settings_folders(one)}):
        for path in _settings_files(folder):
            if path not in known and seen < _MOST_FILES:
                seen += 1
                if text := text_of(path):
                    yield text


def text_of(path: Path) -> str:
    """Return the text of a file that is no source of the run; "" for one that cannot be read."""
    ASKED.note_file(path)
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _settings_folders(folder: Path) -> Iterator[Path]:
    """Yield the folders of settings that a folder holds, each with those inside of it."""
    entries = (e for e in _entries(folder) if e.is_dir(follow_symlinks=False))
    for entry in (e for e in entries if _FOLDERS.search(e.name)):
        yield Path(entry.path)
        inner = (e for e in _entries(Path(entry.path)) if e.is_dir(follow_symlinks=False))
        yield from (Path(e.path) for e in inner)


def _settings_files(folder: Path) -> Iterator[Path]:
    """Yield the settings and pages that a folder holds."""
    entries = (e for e in _entries(folder) if e.name.endswith(PAGES) and e.is_file())
    return (Path(entry.path) for entry in entries if entry.stat().st_size < _MOST_BYTES)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return what a folder holds, by name; nothing for one that is not there or may not be read."""
    ASKED.names_in(folder)
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def is_tried_out(text: str, imported: bool) -> bool:
    """Return whether a module that others import only tries out its parts when it is run."""
    _, found, block = text.rpartition(_MAIN)
    block = _without_empty_parser(_REMARK.sub("", block))
    if found and _makes_inputs().search(block) and not _USES_FILES.search(block):
        block = _TESTS.sub("", block)
    return imported and not (found and _runs_program(block))


def _without_empty_parser(block: str) -> str:
    """Return a block without a parser that knows no arguments: it makes an object to set attributes of."""
    made = _PARSER.search(block)
    if made is None:
        return block
    rest = block[made.end() :].replace(f"{made[1]}.parse_args()", "")
    used = re.search(rf"\b{made[1]}\b", rest) is not None
    return block if used else block[: made.start()].replace("import argparse", "") + rest


def tries_itself_out(text: str) -> bool:
    """Return whether a module that no other imports only calls its parts once when it is run, on inputs that
    it makes up."""
    block = _REMARK.sub("", text.rpartition(_MAIN)[2]) if _MAIN in text else ""
    return bool(_makes_inputs().search(block)) and not _runs_program(block) and not _WORKS.search(block)


def _runs_program(block: str) -> bool:
    """Return whether what a module does when it is run is more than a trial. Options are no sign of it where
    they say which batches of a loader are looked at, nor is `net.train()` where `net` is called: it sets a
    mode."""
    block = _SETS_MODE.sub(lambda found: "" if re.search(rf"\b{found[1]}\(", block) else found[0], block)
    if "DataLoader(" in block and not _COMPUTES.search(block):
        block = _OPTIONS.sub("", block.replace("import argparse", ""))
    return _RUNS.search(block) is not None


@cache
def _makes_inputs() -> re.Pattern[str]:
    functions = "|".join(sorted(table.names("torch", "inputs")))
    return re.compile(rf"\b(?:torch|np|numpy)\.(?:random\.)?(?:{functions})\(|\.random_\(")
