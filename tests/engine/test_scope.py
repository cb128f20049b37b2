"""`plan --entry`: only what a script imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options, UsageError

FILES = {
    "train.py": "import torch\nfrom lib.model import Net\ntorch.cuda.synchronize()\n",
    "other.py": "import torch\ntorch.cuda.synchronize()\n",
    "lib/__init__.py": "import torch\ntorch.cuda.synchronize()\n",
    "lib/model.py": "from lib import layers\nclass Net: pass\n",
    "lib/layers.py": "import torch\nfrom lib import model\ntorch.cuda.synchronize()\n",
    "lib/unused.py": "import torch\ntorch.cuda.synchronize()\n",
    "tools/train.py": "import torch\ntorch.cuda.synchronize()\n",
    "requirements.txt": "apex\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files_of(*entries: str) -> set[str]:
    report = engine.check([Path()], Options(isolated=True, cache=False), [Path(entry) for entry in entries])
    return {file.filename for file in report.files}


def test_without_an_entry_everything_is_reported(project: Path) -> None:
    assert files_of() >= FILES.keys()


def test_an_entry_brings_what_it_imports_with_packages_and_other_files(project: Path) -> None:
    expected = {"train.py", "lib/__init__.py", "lib/model.py", "lib/layers.py", "requirements.txt"}
    assert files_of("train.py") == expected


def test_several_entries_are_joined(project: Path) -> None:
    assert files_of("other.py", "tools/train.py") == {"other.py", "tools/train.py", "requirements.txt"}


def test_a_unique_end_of_a_path_is_enough(project: Path) -> None:
    assert "lib/unused.py" in files_of("unused.py")


@pytest.mark.parametrize(("entry", "said"), [("trian.py", "did you mean train.py"), ("absent.py", "no such")])
def test_an_unknown_entry_is_refused(project: Path, entry: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        files_of(entry)


def test_an_ambiguous_entry_is_refused(project: Path) -> None:
    (project / "more").mkdir()
    (project / "more" / "other2.py").write_text("import torch\n")
    (project / "lib" / "other2.py").write_text("import torch\n")
    with pytest.raises(UsageError, match="several files"):
        files_of("other2.py")


def test_provenance_outside_a_repository_is_the_folder_alone(project: Path) -> None:
    about = engine.provenance(project)
    assert (about.name, about.revision, about.changed) == (project.name, "", False)
