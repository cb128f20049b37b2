"""Scripts of another project that the repository brings along, and uses as a library, are counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

CALL = "import torch\nfrom torch import nn\n\nmodel = nn.Linear(2, 2).cuda()\n"
SCRIPT = CALL + "\nif __name__ == '__main__':\n    print(model)\n"
TOOL = "import torch\n\n\ndef move(x):\n    return x.cuda()\n"
MAIN = "import torch\nfrom other.tools import move\n\nif __name__ == '__main__':\n    move(torch.ones(2))\n"
OWN = {"main.py": MAIN, "LICENSE": "Ours\n", "other/LICENSE": "Theirs\n", "other/tools.py": TOOL}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(files: dict[str, str], *paths: str) -> set[str]:
    write(files, Path())
    options = engine.Options({"select": ["XLA002"]}, jobs=1, cache=False, isolated=True)
    findings = engine.check([Path(path) for path in paths or ("",)], options).findings
    return {place.filename for finding in findings for place in (finding, *finding.also) if not place.aside}


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"other/setup.py": "from setuptools import setup\nsetup(name='other', author='them')\n"},
        {"other/README.md": "python other/train.py\n"},
        {"README.md": "[other](https://example.com/other) is theirs\n\ncd other/data\n"},
        {"LICENSE": "", "other/COPYING.txt": "Theirs\n"},
    ],
)
def test_counts_scripts_that_nobody_runs(files: dict[str, str]) -> None:
    assert told({**OWN, "other/train.py": SCRIPT, **files}) == {"other/tools.py"}


def test_counts_modules_that_only_such_scripts_import() -> None:
    script = "from nets import build\n\nif __name__ == '__main__':\n    build()\n"
    files = {"other/sub/train.py": script, "other/sub/nets.py": f"{CALL}\n\ndef build():\n    pass\n"}
    assert told({**OWN, **files}) == {"other/tools.py"}


def test_counts_functions_that_only_such_scripts_call() -> None:
    tool = f"{TOOL}\n\ndef prepare(x):\n    x.cuda()\n"
    script = "from tools import prepare\n\nif __name__ == '__main__':\n    prepare(1)\n"
    write({**OWN, "other/tools.py": tool, "other/train.py": script}, Path())
    options = engine.Options({"select": ["XLA002"]}, jobs=1, cache=False, isolated=True)
    rows = {
        place.place.location.row
        for finding in engine.check([Path()], options).findings
        for place in (finding, *finding.also)
        if not place.aside
    }
    assert rows == {5}


@pytest.mark.parametrize(
    "files",
    [
        {"other/LICENSE": ""},
        {"other/LICENSE": "Ours \n"},
        {"main.py": SCRIPT},
        {"README.md": "python other/train.py --lr 1\n"},
        {"run.sh": "python -m other.train\n"},
        {"README.md": "cd other\npython train.py\n"},
        {"main.py": MAIN.replace("tools", "train").replace("move", "model")},
    ],
)
def test_lists_scripts_of_the_program(files: dict[str, str]) -> None:
    assert "other/train.py" in told({**OWN, "other/train.py": SCRIPT, **files})


@pytest.mark.parametrize("paths", [("other",), ("main.py", "other"), (".", "other")])
def test_lists_a_project_that_is_asked_for(paths: tuple[str, ...]) -> None:
    assert "other/train.py" in told({**OWN, "other/train.py": SCRIPT}, *paths)


def test_lists_modules_that_the_program_may_import_by_a_computed_name() -> None:
    by_name = f"{MAIN}    import importlib\n    importlib.import_module('other.' + input())\n"
    assert "other/nets.py" in told({**OWN, "main.py": by_name, "other/nets.py": CALL})
