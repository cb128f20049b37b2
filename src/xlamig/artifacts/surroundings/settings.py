"""YAML and JSON: clusters, workflows, launchers, experiments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import yaml

from xlamig.artifacts.packages.conda import read_environment
from xlamig.artifacts.page import Page, is_template
from xlamig.artifacts.surroundings.shell import Wanted, Word, read_command, read_shell
from xlamig.facts import Fact, Span

_SCRIPTS = frozenset({"run", "script", "before_script", "after_script", "setup", "commands", "cmd"})
_COMMANDS = frozenset({"command", "entrypoint", "args"})
_VARIABLES = frozenset({"env", "environment", "variables", "envs"})
_MOST = 20_000  # nodes: more is data
_DEEP = 200


def read_yaml(page: Page, wanted: Wanted) -> Iterator[Fact]:
    """The facts of every document of a file. A template that is no YAML yet gives none."""
    try:
        for root in yaml.compose_all(page.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            yield from _read_document(page, root, wanted)
    except yaml.MarkedYAMLError as error:
        if is_template(page.text):
            return
        mark = error.problem_mark or error.context_mark
        yield page.as_malformed(f"no valid YAML: {error.problem or error.context}", mark.index if mark else 0)
    except (yaml.YAMLError, RecursionError) as error:
        yield page.as_malformed(f"no valid YAML: {_line(error)}", getattr(error, "position", 0))


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0] or "nested too deeply"


def _read_document(page: Page, root: yaml.Node | None, wanted: Wanted) -> Iterator[Fact]:
    if isinstance(root, yaml.MappingNode):
        yield from read_environment(page, root)
    pending: list[tuple[yaml.Node | None, tuple[str, ...]]] = [(root, ())]
    for _ in range(_MOST):
        if not pending:
            break
        node, path = pending.pop()
        if isinstance(node, yaml.SequenceNode):
            pending += [(item, path) for item in node.value]
            if path and path[-1] in _VARIABLES:
                yield from _listed_variables(page, node, wanted)
        elif isinstance(node, yaml.MappingNode) and len(path) < _DEEP:
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode):
                    yield from _entry(page, key, value, path, wanted)
                    pending.append((value, (*path, key.value)))


def _entry(
    page: Page, key: yaml.ScalarNode, value: yaml.Node, path: tuple[str, ...], wanted: Wanted
) -> Iterator[Fact]:
    name = key.value
    span = (key.start_mark.index, value.end_mark.index)
    if isinstance(value, yaml.ScalarNode):
        if path and path[-1] in _VARIABLES and wanted(name):
            yield page.setting(name, value.value, span, "variable")
        elif name in ("image", "container") and wanted(value.value):
            yield page.setting(value.value, value.value, _span(value), "image")
        elif wanted(name):
            parts = {"key": _inside(key), "value": _inside(value)}
            yield page.setting(name, value.value, span, "setting", ".".join(path), parts)
        if name in _SCRIPTS or (name in _COMMANDS and not value.style):
            yield from _script(page, value, wanted)
    elif isinstance(value, yaml.SequenceNode):
        items = [item for item in value.value if isinstance(item, yaml.ScalarNode)]
        if name in _SCRIPTS:
            for item in items:
                yield from _script(page, item, wanted)
        elif name in _COMMANDS and items:
            words: list[Word] = [(item.value, _inside(item)) for item in items]
            yield from _words(page, words, wanted)
        if wanted(name):
            given = ", ".join(item.value for item in items)
            yield page.setting(name, given, span, "setting", ".".join(path))
    elif wanted(name) and value.value:  # resources: {nvidia.com/gpu: {...}}
        yield page.setting(name, "", _span(key), "setting", ".".join(path))


def _words(page: Page, words: list[Word], wanted: Wanted) -> Iterator[Fact]:
    """`["bash", "-c", "torchrun ..."]` runs what its last word says."""
    if (len(words) > 1 and words[0][0].rpartition("/")[2] in ("sh", "bash")) or words[0][0] == "-c":
        yield from read_shell(page, wanted, *words[-1][1])
    else:
        yield from read_command(page, words, wanted)


def _script(page: Page, node: yaml.ScalarNode, wanted: Wanted) -> Iterator[Fact]:
    """A block is read where it stands, indented as it is; so is plain text."""
    start, end = _span(node)
    if node.style in ("|", ">"):
        start = page.text.find("\n", start) + 1
    elif node.style:
        start, end = start + 1, end - 1
    if start < end:
        yield from read_shell(page, wanted, start, end)


def _listed_variables(page: Page, node: yaml.SequenceNode, wanted: Wanted) -> Iterator[Fact]:
    """`- NAME=value` of Compose, `- {name: NAME, value: value}` of Kubernetes."""
    for item in node.value:
        if isinstance(item, yaml.ScalarNode):
            name, _, value = item.value.partition("=")
            if wanted(name):
                yield page.setting(name, value, _span(item), "variable")
        elif isinstance(item, yaml.MappingNode):
            entries = {
                key.value: value
                for key, value in item.value
                if isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)
            }
            if "name" in entries and wanted(entries["name"].value):
                value = entries["value"].value if "value" in entries else ""
                yield page.setting(entries["name"].value, value, _span(entries["name"]), "variable")


def _inside(node: yaml.ScalarNode) -> Span:
    """Without the quotes."""
    start, end = _span(node)
    return (start + 1, end - 1) if node.style in ("'", '"') else (start, end)


def _span(node: yaml.Node) -> Span:
    return node.start_mark.index, node.end_mark.index


def _has_value_per_line(text: str, error: json.JSONDecodeError) -> bool:
    """Return whether a file that is no JSON is one of JSON Lines: a value per line, which are data."""
    return error.msg == "Extra data" and error.pos > 0 and text[error.pos - 1] == "\n"


def read_json(page: Page, wanted: Wanted) -> Iterator[Fact]:
    """The keys of a JSON file at its top and one below, where settings are."""
    try:
        data = json.loads(page.text)
    except json.JSONDecodeError as error:
        if not is_template(page.text) and not _has_value_per_line(page.text, error):
            yield page.as_malformed(f"invalid JSON ({error.msg})", error.pos)
        return
    except RecursionError:
        yield page.as_malformed("nested too deeply", 0)
        return
    for key, value in data.items() if isinstance(data, dict) else ():
        inner = [(name, v, key) for name, v in value.items()] if isinstance(value, dict) else []
        for name, setting, path in [(key, value, ""), *inner]:
            found = re.search(rf'"({re.escape(name)})"\s*:', page.text) if wanted(name) else None
            if found:
                text = json.dumps(setting) if not isinstance(setting, str) else setting
                yield page.setting(name, text[:60], found.span(1), "setting", path)
