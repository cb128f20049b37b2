"""Which calls of CUDA raise beside torch_xla, without a GPU, against the errors `check` predicts.

Each program runs as it stands, not as if on CUDA. Every call that uses CUDA runs by itself: where it
raises, that is noted, and the program goes on with what it was called on, or with a thing that puts up
with anything.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.intervals import wilson
from benchmarks.programs.accuracy import check, programs_of

RUNTIME = """
import atexit as _a, json as _j, os as _o
_rows = {"ran": set(), "raised": {}}
_a.register(lambda: open(_o.environ["XLAMIG_API_ERRORS"], "w").write(
    _j.dumps({"ran": sorted(_rows["ran"]), "raised": _rows["raised"]})))
class _Any:
    def __getattr__(self, name): return self
    def __call__(self, *args, **kwargs): return args[0] if args else self
    def __enter__(self): return self
    def __exit__(self, *args): return None
    def __bool__(self): return False
def _call(row, run, otherwise):
    _rows["ran"].add(row)
    try:
        return run()
    except Exception as error:
        _rows["raised"][row] = type(error).__name__
        return otherwise()
"""


class Wrapped(ast.NodeTransformer):
    """Puts every call of CUDA into a `_call`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        constants = [ast.unparse(a) for a in node.args if isinstance(a, ast.Constant)]
        named = "cuda" in ast.unparse(node.func) + " ".join(constants)
        self.generic_visit(node)
        if not named or any(isinstance(n, ast.NamedExpr | ast.Await | ast.Yield) for n in ast.walk(node)):
            return node
        instead = "_Any()"
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cuda"):
            instead = ast.unparse(node.func.value)
        call = f"_call({node.lineno}, lambda: {ast.unparse(node)}, lambda: {instead})"
        return ast.copy_location(ast.parse(call, mode="eval").body, node)


def observed(program: Path, python: str, folder: Path) -> dict[str, dict[str, str]] | None:
    """Rows of calls that ran, and of those that raised with the type of the exception."""
    tree = ast.fix_missing_locations(Wrapped().visit(ast.parse(program.read_text())))
    head = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    rest = [n for n in tree.body if n not in head]
    copy, output = folder / program.name, folder / "rows.json"
    parts = (*head, *ast.parse(RUNTIME + "import torch_xla\n").body, *rest)
    copy.write_text("\n".join(ast.unparse(part) for part in parts))
    environment = {**os.environ, "PJRT_DEVICE": "CPU", "XLAMIG_API_ERRORS": str(output)}
    subprocess.run([python, copy], cwd=folder, env=environment, capture_output=True, timeout=600, check=False)
    return json.loads(output.read_text()) if output.exists() else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", type=Path, help="default: the set developed-on")
    parser.add_argument("--python", default=os.environ.get("XLAMIG_XLA_PYTHON", sys.executable))
    args = parser.parse_args()
    right = wrong = missed = 0
    for program in args.programs or programs_of("developed-on"):
        with tempfile.TemporaryDirectory() as name:
            rows = observed(program.resolve(), args.python, Path(name))
            if rows is None:
                print(f"{program.stem}: did not run")
                continue
            ran, raised = {int(row) for row in rows["ran"]}, {int(row) for row in rows["raised"]}
            findings = check(program.resolve(), Path(name))
        errors = [f for f in findings if f["mechanism"] == "error" and f["severity"] == "error"]
        said = {f["location"]["row"] for f in errors} & ran
        told = {f["location"]["row"] for f in findings}
        right, wrong, missed = (
            right + len(said & raised),
            wrong + len(said - raised),
            missed + len(raised - told),
        )
        for row in sorted(said - raised):
            print(f"{program.stem}:{row} does not raise")
        for row in sorted(raised - said):
            print(f"{program.stem}:{row} raises, {'told otherwise' if row in told else 'not told'}")
    print(f"predicted errors that raised: {right} of {right + wrong}; lines that raised untold: {missed}")
    print(json.dumps({"precision": wilson(right, right + wrong), "missed": missed, "raised": right}))


if __name__ == "__main__":
    main()
