"""Functions as `map_location`, in programs that save states themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

LOAD = """import torch

def load(model, path):
    model.load_state_dict(torch.load(path, map_location=WHERE))
"""
TRAIN = """import torch
from load import load
from xm import save

def keep(model, path):
    STATE
    SAVE
"""
FUNCTION = "lambda storage, location: storage"
STATE = "state = {'model': model.state_dict()}"
SAVE = "torch.save(state, path)"


def reported(folder: Path, where: str = FUNCTION, state: str = STATE, save: str = SAVE) -> bool:
    texts = {
        "load": LOAD.replace("WHERE", where),
        "train": TRAIN.replace("STATE", state).replace("SAVE", save),
    }
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    findings = engine.check([folder], Options({"select": ["XLA907"]}, isolated=True)).findings
    return any("A function" in finding.message for finding in findings)


@pytest.mark.parametrize("where", [FUNCTION, "lambda s, l: s.cpu()"])
def test_a_function_does_not_load_what_the_program_saves(tmp_path: Path, where: str) -> None:
    assert reported(tmp_path, where)


@pytest.mark.parametrize(
    ("where", "state", "save"),
    [
        ("'cpu'", STATE, SAVE),
        (FUNCTION, STATE, "save(state, path)"),  # not by torch
        (FUNCTION, "state = [1]", SAVE),
        (FUNCTION, "state = {k: v.cpu() for k, v in model.state_dict().items()}", SAVE),
    ],
)
def test_other_files_load(tmp_path: Path, where: str, state: str, save: str) -> None:
    assert not reported(tmp_path, where, state, save)


def test_a_file_of_another_program_may_load(tmp_path: Path) -> None:
    assert reported(tmp_path)
    (tmp_path / "train.py").write_text("import torch\nfrom other import model\n" + STATE + "\n" + SAVE + "\n")
    findings = engine.check([tmp_path], Options({"select": ["XLA907"]}, isolated=True)).findings
    assert not findings


@pytest.mark.parametrize(
    ("loads", "severity"),
    [
        (["torch.load(p, map_location='cpu')", 'torch.load(q(p), map_location=torch.device("cpu"))'], "info"),
        (["torch.load(p, map_location='cpu')", "torch.load(p)"], "warning"),
        (["torch.load(p, map_location=FUNCTION)"], "warning"),
        (["print(p)"], "warning"),
    ],
)
def test_a_file_that_is_loaded_on_the_cpu_needs_no_other_care(
    tmp_path: Path, loads: list[str], severity: str
) -> None:
    save = "import torch\ndef keep(model, p):\n    torch.save(model.cuda().state_dict(), p)\n"
    (tmp_path / "train.py").write_text("import load\n" + save)
    body = "".join(f"    {load}\n" for load in loads).replace("FUNCTION", FUNCTION)
    (tmp_path / "load.py").write_text(f"import torch\ndef load(p, q):\n{body}")
    found = engine.check([tmp_path], Options({"select": ["XLA906"]}, isolated=True)).findings
    assert [(finding.code, finding.severity) for finding in found] == [("XLA906", severity)]


def test_another_program_may_load_what_this_one_saves(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import torch\nstate = torch.load('a', map_location='cpu')\n"
        "def keep(model, p):\n    torch.save(model.cuda().state_dict(), p)\n"
    )
    (tmp_path / "test.py").write_text("import torch\nstate = torch.load('a')\n")
    (found,) = engine.check([tmp_path], Options({"select": ["XLA906"]}, isolated=True)).findings
    assert found.severity == "warning"


@pytest.mark.parametrize(
    ("model", "files"),
    [
        ("nn.Linear(2, 2).cuda()", ["keep.py"]),
        ("nn.DataParallel(nn.Linear(2, 2)).cuda().module", ["keep.py"]),
        ("nn.Linear(2, 2)", []),
    ],
)
def test_the_caller_of_another_file_says_where_the_model_is(
    tmp_path: Path, model: str, files: list[str]
) -> None:
    (tmp_path / "keep.py").write_text("import torch\n\ndef keep(state, path):\n    torch.save(state, path)\n")
    (tmp_path / "train.py").write_text(
        f"from torch import nn\nfrom keep import keep\nmodel = {model}\n"
        "keep({'model': model.state_dict(), 'epoch': 3}, 'a')\n"
    )
    found = engine.check([tmp_path], Options({"select": ["XLA906"]}, isolated=True)).findings
    named = [Path(finding.filename).name for finding in found if finding.confidence != "possible"]
    assert named == files
