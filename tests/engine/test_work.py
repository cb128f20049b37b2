"""The work of a run, counted: how often it asks and computes, not how long it takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine, ir
from xlamig.engine import Options, load
from xlamig.engine.workspace import Workspace
from xlamig.fix.layout import Layout
from xlamig.flow import ProjectIndex

FILES = 30
LINK = "import torch\nfrom pack.m{0} import g{0}\n\n\ndef g{1}(x):\n    return g{0}(x.cuda())\n"


@pytest.fixture
def chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files that each call the one before."""
    first = {"pack/__init__.py": "", "pack/m0.py": "def g0(x):\n    return x\n"}
    write(first | {f"pack/m{i}.py": LINK.format(i - 1, i) for i in range(1, FILES)}, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_a_file_needs_is_worked_out_a_fixed_number_of_times(
    chain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    needed_by = ProjectIndex.needed_by

    def counted(index: ProjectIndex, interface: object, also: object = ()) -> object:
        asked.append(interface.module)  # type: ignore[attr-defined]
        return needed_by(index, interface, also)  # type: ignore[arg-type]

    monkeypatch.setattr(ProjectIndex, "needed_by", counted)
    engine.check([Path()], Options(jobs=1, cache=False))
    rounds = 3
    assert max(map(asked.count, asked)) <= 4 * rounds


def test_an_edit_inside_a_function_leaves_the_layout_of_the_project(
    chain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[Path] = []
    homes = Layout.homes
    monkeypatch.setattr(Layout, "homes", lambda layout: computed.append(layout.top) or homes(layout))
    workspace = Workspace([Path()], Options(jobs=1, cache=False))
    for count in range(3):
        workspace.edit(chain / "pack/m0.py", f"def g0(x):\n    return x + {count}\n".encode())
        workspace.check()
    assert len(computed) == 1
    workspace.edit(chain / "pack/m0.py", b"import pack.m9\n\n\ndef g0(x):\n    return x\n")
    workspace.check()
    assert len(computed) == 2
    workspace.refresh()
    workspace.check()
    assert len(computed) == 3


def test_a_fix_reads_each_text_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summarised: list[str] = []
    summary_of = load.summary_of

    def counted(module: ir.Module, text: str, *rest: object) -> object:
        summarised.append(text)
        return summary_of(module, text, *rest)  # type: ignore[arg-type]

    write({"train.py": "import torch\n\nx = torch.ones(2).cuda()\ntorch.cuda.synchronize()\n"}, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(load, "summary_of", counted)
    outcome = engine.fix([Path()], Options(jobs=1, cache=False), {"safe", "unsafe"}, write=False)
    fixed = next(file.new for file in outcome.files if file.filename == "train.py")
    assert summarised.count(fixed) == 1
