"""setup.cfg, and the literal lists of a setup.py."""

from __future__ import annotations

import ast
import configparser
from collections.abc import Iterator, Mapping

from xlamig.artifacts.packages.pip import read_line
from xlamig.artifacts.packages.places import Places
from xlamig.artifacts.page import Page
from xlamig.facts import Fact, Package, Span

_REQUIRED = ("install_requires", "setup_requires")
_OPTIONAL = ("extras_require", "tests_require")


def read_setup_cfg(page: Page) -> Iterator[Fact]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(page.text)
    except configparser.Error as error:
        row = getattr(error, "lineno", None) or (getattr(error, "errors", None) or [(1, "")])[0][0]
        yield page.as_malformed(f"no valid setup.cfg: {error.message.splitlines()[0]}", page.offset(row))
        return
    places = Places(page.text)
    wanted = [("options", key, key in _OPTIONAL) for key in (*_REQUIRED, "tests_require")]
    if parser.has_section("options.extras_require"):
        wanted += [("options.extras_require", key, True) for key in parser["options.extras_require"]]
    for section, key, optional in wanted:
        places.section(section)
        places.key(key)
        for line in parser.get(section, key, fallback="").splitlines():
            text = line.partition(" #")[0].strip()
            if text and not text.startswith(("#", "file:")):
                yield from read_line(page, text, places.line(text), optional=optional)


def read_setup_py(page: Page) -> Iterator[Fact]:
    """Yield the requirements of a setup.py that Python can parse; the analyser reports a broken one."""
    try:
        tree = ast.parse(page.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    names: dict[str, ast.expr] = {}
    calls: list[ast.Call] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            names.setdefault(node.targets[0].id, node.value)
        elif isinstance(node, ast.Call) and _called_function(node) == "setup":
            calls.append(node)
    for keyword in (keyword for call in calls for keyword in call.keywords):
        if keyword.arg in (*_REQUIRED, *_OPTIONAL):
            for text, at in _strings(keyword.value, names):
                facts = read_line(page, text, _span(page, at), optional=keyword.arg in _OPTIONAL)
                # Text that is put together, as in f"torch{version}", is not read as it stands.
                yield from (fact for fact in facts if isinstance(fact, Package))


def _called_function(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _strings(node: ast.expr | None, names: Mapping[str, ast.expr]) -> Iterator[tuple[str, ast.Constant]]:
    """The text of a list, also through a name, a sum of lists or a dict of extras."""
    pending, seen = [node], 0
    while pending and seen < 1000:
        node, seen = pending.pop(0), seen + 1
        match node:
            case ast.Constant(value=str(text)):
                yield text, node
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                pending += elements
            case ast.Dict(values=values):
                pending += values
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                pending += [left, right]
            case ast.Name(id=name) if name in names:
                pending.append(names[name])


def _span(page: Page, node: ast.Constant) -> Span:
    """Inside the quotes, where the text stands as it is; columns of `ast` are bytes of UTF-8."""
    first = page.offset(node.lineno)
    line = page.text[first:].partition("\n")[0]
    start = first + len(line.encode()[: node.col_offset].decode("utf-8", "ignore"))
    inside = page.text.find(str(node.value), start, start + len(str(node.value)) + 4)
    return (inside, inside + len(str(node.value))) if inside >= 0 else (start, start + 1)
