"""Regenerates `src/xlamig/knowledge/data/versions-torch_xla.json`: names of torch_xla that came or went.

    pip download --no-deps -d wheels torch_xla==2.5.0   # and the other releases
    python tools/api_versions.py wheels/*.whl

Only the Python files in the wheels are read; nothing is installed or run.
"""

from __future__ import annotations

import ast
import datetime
import json
import re
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

PATH = Path(__file__).parents[1] / "src" / "xlamig" / "knowledge" / "data" / "versions-torch_xla.json"
Found = dict[str, bool]  # name -> whether it is deprecated


def names_in(wheel: Path) -> Found:
    found: Found = {}
    with zipfile.ZipFile(wheel) as archive:
        for file in archive.namelist():
            module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            if not file.endswith(".py") or not file.startswith("torch_xla/") or _is_private(module):
                continue
            tree = ast.parse(archive.read(file).decode("utf-8"))
            found[module] = False
            for name, deprecated in _public(tree.body, file.endswith("/__init__.py")):
                found[f"{module}.{name}"] = deprecated
    return found


def _is_private(module: str) -> bool:
    return any(part.startswith("_") or part == "pallas_kernels" for part in module.split("."))


def _public(body: list[ast.stmt], is_package: bool) -> Iterator[tuple[str, bool]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            named = [(node.name, any("deprecated" in ast.unparse(d) for d in node.decorator_list))]
        elif isinstance(node, ast.Assign):
            deprecated = isinstance(node.value, ast.Call) and "deprecated" in ast.unparse(node.value.func)
            named = [(target.id, deprecated) for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.ImportFrom) and is_package:
            ours = node.level > 0 or (node.module or "").startswith("torch_xla")
            named = [(a.asname or a.name, False) for a in node.names if ours and a.name != "*"]
        elif isinstance(node, ast.Try | ast.If):
            named = list(_public([*node.body, *node.orelse], is_package))
        else:
            continue
        yield from ((name, deprecated) for name, deprecated in named if not name.startswith("_"))


def bounds(name: str, versions: list[str], found: dict[str, Found]) -> str:
    """A version specifier: the releases that have the name; empty where all have it."""
    there = [version for version in versions if name in found[version]]
    first, last = versions.index(there[0]), versions.index(there[-1])
    if len(there) != last - first + 1:  # came back
        return ",".join(f"!={version}" for version in versions if version not in there)
    parts = [f">={there[0]}"] if first else []
    return ",".join([*parts, f"<{versions[last + 1]}"] if last + 1 < len(versions) else parts)


def main() -> None:
    started = time.monotonic()
    wheels = {re.split("-", path.name)[1]: path for path in map(Path, sys.argv[1:])}
    versions = sorted(wheels, key=lambda version: [int(part) for part in version.split(".")])
    found = {version: names_in(wheels[version]) for version in versions}
    names: dict[str, dict[str, str]] = {}
    for name in sorted({name for version in versions for name in found[version]}):
        row = {"versions": bounds(name, versions, found)}
        deprecated = [version for version in versions if found[version].get(name)]
        if deprecated:
            row["deprecated"] = f">={deprecated[0]}"
        if row := {key: value for key, value in row.items() if value}:
            names[name] = row
    about = {
        "target": "torch_xla",
        "versions": {"torch_xla": versions},
        "date": datetime.date.today().isoformat(),
        "command": "python tools/api_versions.py wheels/*.whl",
        "method": "definitions at the top level of the Python files in the wheels; a name that is not here"
        " is in all these releases or in none",
        "seconds": round(time.monotonic() - started, 1),
    }
    body = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in names.items())
    PATH.write_text(f'{{\n"about": {json.dumps(about)},\n"names": {{\n{body}\n}}\n}}\n', "utf-8")
    print(f"{len(names)} of {len({n for v in versions for n in found[v]})} names differ")


if __name__ == "__main__":
    main()
