from __future__ import annotations

import json
from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

OPTIONS = Options({}, isolated=True, jobs=1, cache=False)


def write(name: str, *cells: str) -> Path:
    made = [
        {"cell_type": "code", "metadata": {}, "execution_count": 3, "outputs": [], "source": cell}
        for cell in cells
    ]
    path = Path(name)
    path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    return path


def cells(path: Path) -> list[str]:
    return [cell["source"] for cell in json.loads(path.read_text())["cells"]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_names_and_values_hold_across_cells() -> None:
    write("a.ipynb", "%pip install torch\nimport torch as t", "wait = t.cuda.synchronize", "x = 1\nwait()")
    [finding] = engine.check([Path()], OPTIONS).findings
    assert (finding.code, finding.cell, finding.place.location.row) == ("XLA005", 3, 2)


def test_a_broken_notebook_costs_itself_only() -> None:
    Path("broken.ipynb").write_text("{")
    write("a.ipynb", "import torch", "torch.cuda.synchronize()")
    found = {(f.code, f.filename) for f in engine.check([Path()], OPTIONS).findings}
    assert found == {("XLA000", "broken.ipynb"), ("XLA005", "a.ipynb")}


def test_a_cell_that_is_no_python_is_named() -> None:
    write("a.ipynb", "x = 1", "y = 2\nprint 'x'")
    [finding] = engine.check([Path()], OPTIONS).findings
    assert (finding.code, finding.cell, finding.place.location.row) == ("XLA000", 2, 2)


def test_the_other_cells_are_read_and_left_as_they_are() -> None:
    path = write("a.ipynb", "import torch", "print 'x'", "m = torch.nn.Linear(1, 1)\nm.cuda()")
    before = path.read_bytes()
    outcome = engine.fix([Path()], OPTIONS, frozenset({"safe"}), write=True)
    found = [(f.code, f.cell) for f in engine.check([Path()], OPTIONS).findings]
    assert found == [("XLA000", 2), ("XLA002", 3)]
    assert path.read_bytes() == before and not any(file.applied for file in outcome.files)


def test_a_fix_rewrites_its_cells_and_nothing_else() -> None:
    path = write("a.ipynb", "!ls\nimport torch", "m = torch.nn.Linear(1, 1)", "m.cuda()\n!ls")
    before = json.loads(path.read_text())
    outcome = engine.fix([Path()], OPTIONS, frozenset({"safe"}), write=True)
    assert sum(outcome.files[0].applied.values()) == 1
    assert cells(path) == [
        "!ls\nimport torch\nfrom xla_compat import default_device",
        "m = torch.nn.Linear(1, 1)",
        "m.to(default_device())\n!ls",
    ]
    after = json.loads(path.read_text())
    for document in (before, after):
        for cell in document["cells"]:
            del cell["source"]
    assert before == after


def test_suppressions_and_ignores_are_of_the_cell() -> None:
    path = write("a.ipynb", "x = 1\ny = 2", "import torch\ntorch.cuda.synchronize()")
    engine.add_ignores([Path()], OPTIONS)
    assert cells(path)[1] == "import torch\ntorch.cuda.synchronize()  # xlamig: ignore[XLA005]"
    assert not engine.check([Path()], OPTIONS).findings


def test_a_module_of_the_same_name_is_another_one() -> None:
    write("a.ipynb", "DEVICE = 'cpu'")
    Path("a.py").write_text("from torch.cuda import synchronize as wait\n")
    Path("b.py").write_text("import torch\nfrom a import wait\n\nwait()\n")
    assert "XLA005" in [f.code for f in engine.check([Path()], OPTIONS).findings]


def test_a_diff_is_of_the_file() -> None:
    path = write("a.ipynb", "!ls\nimport torch", "torch.nn.Linear(1, 1).cuda()")
    outcome = engine.fix([Path()], OPTIONS, frozenset({"safe"}), write=False)
    [file] = outcome.files
    assert file.old == path.read_text() and "[xlamig" not in file.new
    assert json.loads(file.new)["cells"][1]["source"] == "torch.nn.Linear(1, 1).to(default_device())"


def test_a_notebook_on_stdin_stays_a_notebook() -> None:
    data = write("a.ipynb", "import torch", "torch.nn.Linear(1, 1).cuda()").read_bytes()
    options = Options({}, isolated=True, jobs=1, cache=False, stdin=("a.ipynb", data))
    outcome = engine.fix([Path("a.ipynb")], options, frozenset({"safe"}), write=True)
    assert outcome.stdin is not None
    assert "default_device" in json.loads(outcome.stdin.content)["cells"][1]["source"]


SHOWN = """import torch
HELPER


def show(model, pictures):
    for picture in pictures:
        print(model(picture).cpu().numpy())


net = MODEL
show(read("net.pt"), read("pictures.pt"))
"""


@pytest.mark.parametrize(
    ("helper", "model", "listed"),
    [
        ("", "torch.nn.Linear(3, 3)", False),
        ("from parts import Net", "Net()", False),
        ("", "torch.nn.Linear(3, 3).cuda()", True),
        ("from placed import net", "net()", True),  # which another file moves
        ("from missing.parts import Net", "Net()", True),  # which may be the one in parts.py
        ("opt = torch.optim.SGD(torch.nn.Linear(3, 3).parameters(), 0.1)", "torch.nn.Linear(3, 3)", True),
    ],
)
def test_what_costs_time_on_a_device_is_counted_where_none_is_used(
    helper: str, model: str, listed: bool
) -> None:
    Path("parts.py").write_text("import torch\n\n\nclass Net(torch.nn.Linear):\n    pass\n")
    Path("missing").mkdir()
    Path("missing/other.py").write_text("import torch\n")
    Path("placed.py").write_text("import torch\n\n\ndef net():\n    return torch.nn.Linear(3, 3).cuda()\n")
    write("a.ipynb", *SHOWN.replace("HELPER", helper).replace("MODEL", model).split("\n\n\n"))
    options = Options(
        {"include-no-action": True, "confidence": "possible"}, isolated=True, jobs=1, cache=False
    )
    found = [f for f in engine.check([Path()], options).findings if f.code in ("XLA101", "XLA102")]
    assert found and all(f.no_action is not listed for f in found)
