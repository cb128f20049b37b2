"""A check of one file knows what the functions do that it imports, and reports on that file alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

TRAIN = """import torch
from pkg.utils import {name}


def train(model, loader, optimizer):
    for x in loader:
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        y = {name}(loss)
        if y > 1:
            print("large")
"""
FUNCTIONS = """import torch


def halved(x):
    return x.detach() / 2


def counted(x):
    return x.dim()
"""


def found(root: Path, name: str) -> set[tuple[str, str]]:
    options = engine.Options(isolated=True, cache=False)
    report = engine.check([Path(name)], options)
    return {(f.code, each.filename) for each in report.files for f in each.findings if f.code == "XLA106"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {
        "pkg/__init__.py": "",
        "pkg/utils/__init__.py": "from .tensors import counted, halved\n",
        "pkg/utils/tensors.py": FUNCTIONS,
        "pkg/tensors.py": FUNCTIONS.replace("x.dim()", "x + 1"),
        "pkg/counts.py": TRAIN.format(name="counted"),
        "pkg/halves.py": TRAIN.format(name="halved"),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_function_of_another_file_that_returns_a_number_stays_silent(project: Path) -> None:
    assert found(project, "pkg/counts.py") == set()


def test_tensor_of_a_function_that_a_package_reexports_is_known(project: Path) -> None:
    assert found(project, "pkg/halves.py") == {("XLA106", "pkg/halves.py")}


def test_file_and_folder_give_the_same_findings(project: Path) -> None:
    assert found(project, "pkg/halves.py") == found(project, "pkg")


def test_import_of_a_file_that_imports_itself_ends(project: Path) -> None:
    (project / "pkg/utils/__init__.py").write_text("from pkg.utils import halved\nfrom pkg.utils import *\n")
    assert found(project, "pkg/halves.py") == set()


def test_base_class_of_another_file_is_known(project: Path) -> None:
    (project / "pkg/base.py").write_text("from torch import nn\n\n\nclass Base(nn.Module):\n    pass\n")
    (project / "pkg/near.py").write_text("from pkg.base import Base\n")
    (project / "pkg/net.py").write_text(
        "import torch\nfrom .near import Base\n\n\nclass Net(Base):\n    def forward(self, x):\n"
        "        if x.sum() > 0:\n            return x\n        return -x\n"
    )
    assert found(project, "pkg/net.py") == {("XLA106", "pkg/net.py")}


def test_imported_files_are_not_reported_on_fixed_or_listed(project: Path) -> None:
    (project / "pkg/utils/tensors.py").write_text(FUNCTIONS + "\n\nDEVICE = torch.device('cuda')\n")
    options = engine.Options(isolated=True, cache=False)
    before = {path: path.read_text() for path in project.rglob("*.py")}
    outcome = engine.fix([Path("pkg/halves.py")], options, {"safe", "unsafe"}, write=True)
    changed = {path.name for path, text in before.items() if path.read_text() != text}
    assert {file.filename for file in outcome.after.files} == {"pkg/halves.py"}
    assert changed <= {"halves.py"}


def test_import_that_does_not_parse_is_unknown(project: Path) -> None:
    (project / "pkg/utils/tensors.py").write_text("def halved(x:\n")
    assert found(project, "pkg/halves.py") == set()


def test_large_file_that_is_imported_is_not_read(project: Path) -> None:
    (project / "pkg/utils/tensors.py").write_text(FUNCTIONS + "# a table\n" * 40_000)
    assert found(project, "pkg/halves.py") == set()


def test_file_of_which_most_is_used_for_its_size_is_read_first(project: Path) -> None:
    (project / "pkg/utils/tensors.py").write_text(FUNCTIONS + "# a table\n" * 18_000)
    (project / "pkg/utils/tables.py").write_text("TABLE = ()\n" + "# a table\n" * 15_000)
    (project / "pkg/utils/__init__.py").write_text("")
    imports = "from pkg.utils.tensors import counted, halved\nfrom pkg.utils.tables import TABLE\n"
    (project / "pkg/halves.py").write_text(
        imports + TRAIN.format(name="halved").replace("utils", "utils.tensors")
    )
    assert found(project, "pkg/halves.py") == {("XLA106", "pkg/halves.py")}
