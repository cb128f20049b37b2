"""Folders of a project's past are counted, unless the program still uses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

CALL = "import torch\nfrom torch import nn\n\nmodel = nn.Linear(2, 2).cuda()\n"
TOOL = "import torch\n\nscale = torch.ones(2).cuda()\n\n\ndef move(x):\n    return x * scale\n"
MAIN = "from now import move\n" + CALL + "move(model)\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(files: dict[str, str], top: str = "") -> set[str]:
    write({"main.py": MAIN, "now.py": TOOL, **files}, Path(top))
    options = engine.Options({"select": ["XLA002"]}, jobs=1, cache=False, isolated=True)
    findings = engine.check([Path(top)], options).findings
    return {place.filename for finding in findings for place in (finding, *finding.also) if not place.aside}


@pytest.mark.parametrize("folder", ["old", "legacy", "tools/deprecated", "_archive", "Old", "old_code/sub"])
def test_counts_what_nothing_uses(folder: str) -> None:
    files = {f"{folder}/train.py": CALL, f"{folder}/tools.py": TOOL}
    assert told(files) == {"main.py", "now.py"}


@pytest.mark.parametrize(
    "script", ["ls runs/threshold/\n", "python very-old/train.py\n", "python main.py  # not as of old.\n"]
)
def test_counts_what_a_script_names_only_as_the_end_of_a_word(script: str) -> None:
    assert told({"old/train.py": CALL, "run.sh": script}) == {"main.py", "now.py"}


@pytest.mark.parametrize(
    ("folder", "files"),
    [
        ("olden", {}),
        ("folder", {}),
        ("old", {"run.py": "from old.train import model\nmodel.cuda()\n"}),
        ("old", {"run.sh": "python old/train.py\n"}),
        ("legacy", {"run.sh": "python -m legacy.train\n"}),
        ("old", {"run.sh": "python ./old/train.py\n"}),
        ("tools/old", {"run.sh": "python -m tools.old.train\n"}),
    ],
)
def test_lists_what_is_used(folder: str, files: dict[str, str]) -> None:
    assert f"{folder}/train.py" in told({f"{folder}/train.py": CALL, **files})


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"now_deprecated.py": "from now_old import move\n"},
        {"nets/__init__.py": "", "run.py": "import importlib\nimportlib.import_module(f'nets.{name}')\n"},
        {"run.py": "# not now_older\n"},
        {"README.md": "The file of now is old.\n"},
    ],
)
def test_counts_an_older_copy_of_a_module(files: dict[str, str]) -> None:
    assert told({"now_old.py": TOOL, **files}) == {"main.py", "now.py"}


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("then_old", {}),  # of nothing newer
        ("now_older", {}),
        ("_old", {}),
        ("now_old", {"run.py": "from now_old import move\n"}),
        ("now_legacy", {"main.py": f"if new:\n    import now_legacy\n{MAIN}"}),
        ("now_old", {"run.sh": "python now_old.py\n"}),
        ("now_old", {"README.md": "Run `python now_old.py`.\n"}),
        ("now_old", {"net.yaml": "module: now_old\n"}),
        ("now_old", {"run.py": "import importlib\nimportlib.import_module('now_' + kind)\n"}),
        ("now_old", {"now_deprecated.py": "import now_old\n", "run.py": "import now_deprecated, now_old\n"}),
    ],
)
def test_lists_a_module_that_something_may_use(name: str, files: dict[str, str]) -> None:
    assert f"{name}.py" in told({f"{name}.py": TOOL, **files})


def test_a_project_that_lies_in_such_a_folder_is_the_program() -> None:
    assert told({}, "old") == {"old/main.py", "old/now.py"}
