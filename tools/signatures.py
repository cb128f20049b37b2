"""Regenerates `src/xlamig/knowledge/data/signatures.json`.

    PJRT_DEVICE=CPU python tools/signatures.py

in an environment with torch 2.9.0 and torch_xla 2.9.0. Functions in C are read from torch's stubs and from
the schemas of its operators, everything else is inspected. A line of the table is

    "torch.median": "input, dim, keepdim * out -> tensor|tensors"

positional parameters in order, after `*` those that have to be named, and the kinds of results. `...` ends
a list of positional parameters that overloads do not agree on, or that takes any number. `input!` takes
nothing but a tensor or None, `tensors+` nothing but a list or tuple of tensors.
"""

from __future__ import annotations

import ast
import contextlib
import datetime
import importlib
import inspect
import json
import os
import re
import time
import typing
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

warnings.filterwarnings("ignore")
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # torch_xla replaces functions of torch: it comes last

import torch  # noqa: E402

PATH = Path(__file__).parents[1] / "src" / "xlamig" / "knowledge" / "data" / "signatures.json"

MODULES = (Path(__file__).parent / "signature_modules.txt").read_text("utf-8").split()

_OF = r"(?:torch\.)?(?:_tensor\.)?(?:_C\.)?Tensor"
_MANY = rf"(?:typing\.)?(?:[Ll]ist|[Tt]uple|Sequence)\[{_OF}(?:, \.\.\.)?\]"
_FORMS = {
    "!": re.compile(rf"{_OF}(?: \| None)?|(?:typing\.)?Optional\[{_OF}\]"),
    "+": re.compile(rf"{_MANY}(?: \| {_MANY})*(?: \| None)?"),
}

CLASSES = {"Tensor": torch.Tensor, "Module": torch.nn.Module}  # whose methods have names of their own

KINDS = ("tensor", "tensors", "number", "bool", "text", "dtype", "device", "shape", "module", "none", "other")
# "self" is the owner of a method, and nothing that can be told elsewhere


@dataclass(frozen=True)
class Overload:
    """`open`: takes any number of positional arguments after those named. `annotations` are the
    parameters' types, by name."""

    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    open: bool
    returns: str  # a kind, or "" where nothing says
    annotations: Mapping[str, str]


# ------------------------------------------------------------------------------- stubs


def stub(name: str) -> ast.Module:
    return ast.parse((Path(torch.__file__).parent / name).read_text("utf-8"))


def of_stub(body: Iterable[ast.stmt], drop: int = 0) -> dict[str, list[Overload]]:
    found: dict[str, list[Overload]] = defaultdict(list)
    for node in body:
        if isinstance(node, ast.FunctionDef):
            a = node.args
            positional = [p.arg for p in (*a.posonlyargs, *a.args)][drop:]
            if drop == 0 and positional[:1] == ["self"]:  # a deprecated overload
                positional[0] = "input"
            found[node.name].append(
                Overload(
                    tuple("input" if p == "self" else p for p in positional),
                    tuple(p.arg for p in a.kwonlyargs),
                    a.vararg is not None,
                    kind_of(ast.unparse(node.returns) if node.returns else ""),
                    {
                        "input" if p.arg == "self" else p.arg: ast.unparse(p.annotation)
                        for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)
                        if p.annotation is not None
                    },
                )
            )
    return found


def kind_of(annotation: str) -> str:
    """The kind that an annotation of a result stands for."""
    text = annotation.replace("torch._C.", "").replace("torch.", "").replace("typing.", "").strip("\"' ")
    text = text.removeprefix("Optional[").removesuffix("]") if text.startswith("Optional[") else text
    text = text.removesuffix(" | None")
    if not text:
        return ""
    if text in ("T", "~T", "Self"):
        return "self"
    if text in ("Tensor", "Parameter", "TensorBase"):
        return "tensor"
    if text.startswith("return_types."):
        return "tensors"
    head = text.partition("[")[0].lower()
    if head in ("tuple", "list", "sequence") and "Tensor" in text:
        return "tensors"
    if text in ("None", "NoReturn"):
        return "none"
    simple = {
        **dict.fromkeys(
            ("_int", "_float", "Number", "int", "float", "complex", "_complex", "SymInt"), "number"
        ),
        **dict.fromkeys(("number", "Number | _complex", "float | int", "int | float"), "number"),
        **dict.fromkeys(("_bool", "bool"), "bool"),
        **dict.fromkeys(("str", "_str"), "text"),
        **dict.fromkeys(("_dtype", "dtype"), "dtype"),
        **dict.fromkeys(("_device", "device", "Device"), "device"),
        **dict.fromkeys(("_size", "Size"), "shape"),
        **dict.fromkeys(("Module", "nn.Module"), "module"),
    }
    return simple.get(text, "other")


# ------------------------------------------------------------------------------- schemas and inspection


def of_schemas(operator: str) -> list[Overload]:
    """The overloads of an operator in C that no stub shows: torch.linalg, fft and special."""
    found = []
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{operator}"):
        if any("Dimname" in str(a.type) for a in schema.arguments):
            continue
        if schema.overload_name.endswith(("out", "_out")) or any(a.is_out for a in schema.arguments):
            continue
        names = [("input" if a.name == "self" else a.name, a.kwarg_only) for a in schema.arguments]
        results = [str(r.type) for r in schema.returns]
        kind = "tensors" if len(results) > 1 or "List[Tensor]" in results else kind_of("".join(results))
        found.append(
            Overload(
                tuple(n for n, only in names if not only),
                (*(n for n, only in names if only), "out"),
                False,
                kind,
                {"input" if a.name == "self" else a.name: str(a.type) for a in schema.arguments},
            )
        )
    return found


def of_object(thing: Any, drop: int = 0) -> list[Overload]:
    """Return the signatures that Python itself knows of a function or class. Raises where that is nothing."""
    if isinstance(thing, type):
        returns = "module" if issubclass(thing, torch.nn.Module) else "other"
        made_by = thing.__init__ if "__init__" in _written_by(thing) else None
        overloads = typing.get_overloads(made_by) if inspect.isfunction(made_by) else []
        if overloads:
            return [_of_signature(inspect.signature(o), 1, returns) for o in overloads]
        return [_of_signature(inspect.signature(thing), 0, returns)]
    written = inspect.unwrap(thing)
    overloads = typing.get_overloads(written) if inspect.isfunction(written) else []
    return [_of_signature(inspect.signature(o), drop) for o in overloads or (thing,)]


def _written_by(cls: type) -> set[str]:
    return {name for base in cls.__mro__[:-1] for name in vars(base)}


def _of_signature(signature: inspect.Signature, drop: int, returns: str | None = None) -> Overload:
    parameters = list(signature.parameters.values())[drop:]
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    note = signature.return_annotation
    text = "" if note is inspect.Signature.empty else note.__name__ if isinstance(note, type) else str(note)
    if isinstance(note, type) and issubclass(note, torch.nn.Module):
        text = "Module"
    return Overload(
        tuple(p.name for p in parameters if p.kind in by_position),
        tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY),
        any(p.kind is p.VAR_POSITIONAL for p in parameters),
        kind_of(text) if returns is None else returns,
        {p.name: _written(p.annotation) for p in parameters if p.annotation is not p.empty},
    )


def _written(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def of_docs(name: str, thing: Any) -> list[Overload]:
    """The first line of a docstring that is written as a call: `unique(input, sorted=True) -> Tensor`."""
    first = (inspect.getdoc(thing) or "").partition("\n")[0].replace(r"\*", "*")
    head, arrow, result = first.partition("->")
    if not head.rstrip().endswith(")") or f"{name}(" not in head:
        return []
    try:
        written = ast.parse(f"def {head[head.index(name + '(') :].strip()}: ...").body
    except SyntaxError:
        return []
    kind = "tensors" if result.count("Tensor") > 1 else kind_of(result.strip()) if arrow else ""
    return [replace(o, returns=kind) for o in of_stub(written)[name]]


# ------------------------------------------------------------------------------- one line


def merged(overloads: list[Overload]) -> str:
    """Return what is certain about a call, whichever overload it is."""
    told = [o for o in overloads if not _says_nothing([o])] or overloads
    current = [o for o in told if not any(_is_older(o, other) for other in told)]
    positional: list[str] = []
    is_open = False
    for index in range(max((len(o.positional) for o in current), default=0)):
        names = {o.positional[index] for o in current if index < len(o.positional)}
        if len(names) > 1 or any(o.open and len(o.positional) <= index for o in current):
            is_open = True
            break
        positional.extend(names)
    is_open = is_open or any(o.open for o in current)
    others = dict.fromkeys(n for o in current for n in (*o.positional, *o.keywords))
    rest = [name for name in others if name not in positional and not name.startswith("_")]
    kinds = [kind for kind in KINDS if any(o.returns == kind for o in current)]
    positional, rest = ([name + takes(name, current) for name in names] for names in (positional, rest))
    line = ", ".join([*positional, "..."] if is_open else positional)
    if rest:
        line = f"{line} * {', '.join(rest)}".lstrip()
    return f"{line} -> {'|'.join(kinds)}".lstrip() if kinds else line


def takes(name: str, overloads: list[Overload]) -> str:
    """Return "!" for a parameter that takes only tensors in every overload, "+" for one that takes only
    lists of them."""
    written = [o.annotations.get(name, "") for o in overloads if name in (*o.positional, *o.keywords)]
    if name == "out":
        return ""
    return next((mark for mark, form in _FORMS.items() if all(map(form.fullmatch, written))), "")


def _is_older(one: Overload, other: Overload) -> bool:
    """`add(input, alpha, other)` beside `add(input, other, *, alpha)`: deprecated, and hardly written."""
    scalars = set(one.positional) & set(other.keywords) & {"alpha", "beta", "value"}
    return bool(scalars) and set(one.positional) <= {*other.positional, *other.keywords}


# ------------------------------------------------------------------------------- all of it


def members(module: Any) -> Iterator[tuple[str, Any]]:
    home = module.__name__
    for name in sorted({*dir(module), *getattr(module, "__all__", ())}):
        thing = getattr(module, name, None)
        if name.startswith("_") or not callable(thing) or inspect.ismodule(thing):
            continue
        origin = getattr(thing, "__module__", None) or ""
        listed = name in getattr(module, "__all__", ())
        if not listed and origin and not origin.startswith(home.partition(".")[0]):
            continue  # typing.Any, functools.wraps ...
        yield name, thing


def collect() -> dict[str, list[Overload]]:
    functions = of_stub(stub("_C/_VariableFunctions.pyi").body)
    in_nn = of_stub(stub("_C/_nn.pyi").body)
    of_functional = of_stub(stub("nn/functional.pyi").body)
    in_c = {n.name: n for n in stub("_C/__init__.pyi").body if isinstance(n, ast.ClassDef)}
    top = of_stub(stub("_C/__init__.pyi").body)
    found: dict[str, list[Overload]] = {}
    for path in sorted(MODULES, key=lambda path: path.startswith("torch_xla")):
        try:
            module = importlib.import_module(path)
        except ImportError:
            print(f"there is no module {path}")
            continue
        family = path.removeprefix("torch.")
        for name, thing in members(module):
            made: list[Overload] = []
            with contextlib.suppress(ValueError, TypeError, AttributeError):
                made = of_object(thing)
            if not made or _says_nothing(made):
                if family == "nn.functional":
                    made = of_functional.get(name) or in_nn.get(name) or functions.get(name) or made
                elif family in ("linalg", "fft", "special"):
                    made = of_schemas(f"{family}_{name}") or of_schemas(name) or made
                elif path == "torch":
                    made = functions.get(name) or in_nn.get(name) or top.get(name) or made
                    if isinstance(thing, type) and name in in_c:
                        made = of_stub(in_c[name].body, 1).get("__init__") or made
                        made = [replace(o, returns="device" if name == "device" else "other") for o in made]
            if not made or _says_nothing(made):
                made = of_docs(name, thing) or made
            if made:
                found[f"{path}.{name}"] = made
    base = of_stub(in_c["TensorBase"].body, 1)
    for owner, cls in CLASSES.items():
        for name in sorted(dir(cls)):
            thing = getattr(cls, name)
            if name.startswith("_") or not callable(thing):
                continue
            made = []
            with contextlib.suppress(ValueError, TypeError):
                made = of_object(thing, 1)
            if (not made or _says_nothing(made)) and owner == "Tensor":
                made = base.get(name) or made
            if not made or _says_nothing(made):
                made = of_docs(name, thing) or made
            if made:
                own = "module" if owner == "Module" else "tensor"
                found[f"{owner}.{name}"] = [
                    replace(o, returns=own) if o.returns == "self" else o for o in made
                ]
    return found


def _says_nothing(overloads: list[Overload]) -> bool:
    return all(o.open and not o.positional and not o.keywords for o in overloads)


def main() -> None:
    started = time.monotonic()
    lines = {name: merged(overloads) for name, overloads in sorted(collect().items())}
    about = {
        "versions": {"torch": torch.__version__.partition("+")[0], "torch_xla": version("torch_xla")},
        "date": datetime.date.today().isoformat(),
        "command": "PJRT_DEVICE=CPU python tools/signatures.py",
        "method": "read from torch's stubs, operator schemas and Python signatures; overloads are joined",
        "seconds": round(time.monotonic() - started, 1),
    }
    body = ",\n".join(f"{json.dumps(name)}: {json.dumps(line)}" for name, line in lines.items())
    text = f'{{\n"about": {json.dumps(about)},\n"signatures": {{\n{body}\n}}\n}}\n'
    PATH.parent.mkdir(parents=True, exist_ok=True)
    PATH.write_text(text, "utf-8")
    print(f"{len(lines)} names, {len(text)} bytes, {about['seconds']} s")


if __name__ == "__main__":
    main()
