"""Devices that a program reads from its settings: `torch.device(cfg["device"])`, `device: cuda` in YAML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from xlamig import ir
from xlamig.engine.source import Source
from xlamig.facts import DeviceChoice, Fact, Why

_CUDA = re.compile(
    r"""^[ ]*["']?(\w*device)["']?[ ]*:[ ]*["']?cuda(?::0)?["']?[ ]*(?:\#.*)?$""", re.MULTILINE
)
_SETTINGS = re.compile(r"cfg|conf|hparams|hyp|^params$|setting", re.IGNORECASE)
_DECIDES = re.compile(r"is_available\(|startswith\(|\.type\b|[!=]=")


def device_settings(sources: Iterable[Source]) -> Mapping[str, str]:
    """Return the settings that are a CUDA device in a YAML file, each with the first file that says so."""
    found: dict[str, str] = {}
    for source in sources:
        if source.source.kind == "yaml" and "cuda" in source.source.text:
            for name in _CUDA.findall(source.source.text):
                found[name] = min(found.get(name, source.file.name), source.file.name)
    return found


def settings_in(text: str, settings: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return those settings that a module may read as a device."""
    if not settings or "device" not in text:
        return ()
    return tuple((name, file) for name, file in sorted(settings.items()) if name in text)


def device_setting_facts(module: ir.Module, text: str, settings: Mapping[str, str]) -> Iterator[Fact]:
    """Yield the places that take a setting for a device, but where CUDA is asked for first."""
    if not settings or any(_setting(target) in settings for target in _assigned(module)):
        return
    for path in _paths(module, ()):
        node = path[-1]
        name = _setting(node)
        if name not in settings or not _is_device(path):
            continue
        statement = next(n for n in reversed(path) if isinstance(n, ir.Stmt))
        if _DECIDES.search(text, statement.start, statement.end):
            continue
        scope = [n.name for n in path if isinstance(n, ir.FunctionDef | ir.ClassDef)]
        yield DeviceChoice(
            span=(node.start, node.end),
            statement=(statement.start, statement.end),
            scope=".".join(scope),
            confidence="likely",
            related=(Why(f"`{name}` is a CUDA device in {settings[name]}"),),
            via="literal",
            device="cuda",
            position="settings-file",
            result="device",
            spelled=text[node.start : node.end],
        )


def _assigned(module: ir.Module) -> Iterator[ir.Expr]:
    for node in ir.walk(module):
        if isinstance(node, ir.Assign):
            yield from node.targets


def _paths(node: ir.Node, above: tuple[ir.Node, ...]) -> Iterator[tuple[ir.Node, ...]]:
    path = (*above, node)
    yield path
    for child in ir.children(node):
        yield from _paths(child, path)


def _setting(node: ir.Node) -> str:
    """Return the name of the setting that an expression reads: `cfg["device"]`, `cfg.train.device`."""
    match node:
        case ir.Subscript(
            value=ir.Name() | ir.Attribute() | ir.Subscript(), index=(ir.Const(value=str(key)),)
        ):
            return key
        case ir.Call(func=ir.Attribute(attr="get"), args=(ir.Arg(value=ir.Const(value=str(key))), *_)):
            return key
        case ir.Attribute(value=owner, attr=key) if any(map(_SETTINGS.search, _names(owner))):
            return key
    return ""


def _names(node: ir.Node) -> Iterator[str]:
    while isinstance(node, ir.Attribute):
        yield node.attr
        node = node.value
    if isinstance(node, ir.Name):
        yield node.id


def _is_device(path: tuple[ir.Node, ...]) -> bool:
    """Return whether the last node of a path is all that `torch.device` or `.to` gets, or what a name for a
    device is set to."""
    match path[-3:]:
        case [ir.Call(func=ir.Attribute(value=ir.Name(id="torch"), attr="device"), args=(_,)), ir.Arg(), _]:
            return True
        case [ir.Call(func=ir.Attribute(attr="to"), args=(first, *_)), ir.Arg(keyword=None) as arg, _]:
            return first is arg
        case [*_, ir.Assign(targets=(ir.Name(id=name) | ir.Attribute(attr=name),), value=value), node]:
            return value is node and "device" in name
    return False
