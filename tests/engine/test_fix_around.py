"""`--fix` writes the same into a file, whether it is given the file, its folder or the whole project."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

FILES = {
    "pkg/__init__.py": "",
    "pkg/devices.py": """import torch


def pick():
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
""",
    "pkg/loop.py": """def fit(net, optimizer, loader, device):
    for x in loader:
        loss = net(x.to(device)).sum()
        loss.backward()
        optimizer.step()
""",
    "pkg/train.py": """import torch
from torch import nn

from pkg.devices import pick
from pkg.loop import fit


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1)).to(pick())
    fit(net, torch.optim.SGD(net.parameters(), lr=0.1), [torch.zeros(2, 4)], pick())


if __name__ == "__main__":
    main()
""",
    "other.py": "import torch\n\nx = torch.zeros(3).cuda()\n",
}


def fixed(folder: Path, monkeypatch: pytest.MonkeyPatch, path: str, mark: str = ".git") -> dict[str, str]:
    """Return the files of the project after `--fix path`, and of the report those it is about."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    if mark:
        (folder / mark).mkdir()
    monkeypatch.chdir(folder)
    outcome = engine.fix(
        [Path(path)], engine.Options(isolated=True, jobs=1, cache=False), frozenset({"safe"}), write=True
    )
    assert not outcome.problems
    assert all(report.filename.startswith(path.removesuffix(".")) for report in outcome.after.files)
    return {name: (folder / name).read_text() for name in FILES}


@pytest.mark.parametrize("path", ["pkg/devices.py", "pkg/loop.py", "pkg/train.py", "other.py", "pkg"])
def test_a_part_is_fixed_as_in_the_whole(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fixed(tmp_path / "whole", monkeypatch, ".")
    part = fixed(tmp_path / "part", monkeypatch, path)
    inside = {name for name in FILES if name.startswith(path)}
    assert {name: part[name] for name in inside} == {name: whole[name] for name in inside}
    assert all(part[name] == FILES[name] for name in FILES.keys() - inside)
    assert part != FILES


def test_without_a_project_the_other_files_count_as_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fixed(tmp_path, monkeypatch, "pkg/devices.py", mark="") == FILES


def test_a_file_that_another_one_needs_fixed_first_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = 'import torch\n\n\ndef load(device):\n    return torch.load("f.pt", map_location=device)\n'
    monkeypatch.setitem(FILES, "pkg/loop.py", loads + FILES["pkg/loop.py"])
    assert fixed(tmp_path, monkeypatch, "pkg/devices.py") == FILES
