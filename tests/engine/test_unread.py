"""A fix that rests on what the rest of the program does is safe only if the rest was read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

PICK = """import torch
{}

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def move(batch):
    return batch.cuda()


def main():
    return move(torch.ones(2))


if __name__ == "__main__":
    main()
"""
LATER = "import torch\nimport pick\n"
OTHER = "class Batch:\n    pass\n"


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def grades(paths: Sequence[str], files: dict[str, str]) -> set[str]:
    """Return the grades of the fixes that select a device or move an unknown object in pick.py."""
    write(files, Path())
    options = engine.Options({"select": ["XLA002", "XLA003"]}, isolated=True, jobs=1, cache=False)
    found = engine.check([Path(path) for path in paths], options).findings
    return {f.fix.applicability for f in found if f.fix is not None and Path(f.filename).name == "pick.py"}


@pytest.mark.parametrize(
    ("line", "paths", "more"),
    [
        ("", ["pick.py"], {}),
        ("", ["pick.py"], {"other.py": OTHER}),  # no part of the program
        ("import numpy", ["pick.py"], {"other.py": OTHER}),
        ("from other import Batch", ["pick.py", "other.py"], {"other.py": OTHER}),
        ("from other import Batch", ["."], {"other.py": OTHER}),
        ("from other import Batch", ["."], {"other/__init__.py": OTHER}),
        ("", ["."], {"later.py": LATER}),
    ],
)
def test_a_program_that_was_read(line: str, paths: list[str], more: dict[str, str]) -> None:
    assert grades(paths, {"pick.py": PICK.format(line), **more}) == {"safe"}


@pytest.mark.parametrize(
    ("line", "more"),
    [
        ("from other import Batch", {"other.py": OTHER}),
        ("import other.parts", {"other/__init__.py": "", "other/parts.py": OTHER}),
        ("from other import parts", {"other/__init__.py": "", "other/parts.py": OTHER}),
        ("", {"later.py": LATER}),
    ],
)
def test_a_program_of_which_a_file_was_not_read(line: str, more: dict[str, str]) -> None:
    assert grades(["pick.py"], {"pick.py": PICK.format(line), **more}) == {"unsafe"}


def test_a_package_of_which_a_module_was_not_read() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/pick.py": PICK.format("from .other import Batch"),
        "pkg/other.py": OTHER,
    }
    assert grades(["pkg/pick.py"], files) == {"unsafe"}
    assert grades(["pkg"], files) == {"safe"}


def test_the_helper_needs_no_reading() -> None:
    options = engine.Options({}, isolated=True, jobs=1, cache=False)
    write({"pick.py": PICK.format("")}, Path())
    engine.fix([Path("pick.py")], options, frozenset({"safe"}), write=True)
    assert Path("xla_compat.py").exists()
    Path("pick.py").write_text(Path("pick.py").read_text() + "\n\ndef more(x):\n    return x.cuda()\n")
    assert grades(["pick.py"], {}) == {"safe"}
