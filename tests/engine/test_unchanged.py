"""A run over unchanged files gives the last report again, a change of what it rests on a new one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from small_project import PAGE, check, codes

from xlamig import engine
from xlamig.config.disk import ASKED
from xlamig.engine import Options
from xlamig.engine.found import files_of
from xlamig.engine.run import Run

OPTIONS = (
    "import torch\n\n\ndef step(x, fused=False):\n    if fused:\n        x.cuda()\n\n\nstep(torch.ones(1))\n"
)
SCRIPT = "import torch\n\nif __name__ == '__main__':\n    torch.zeros(1).cuda()\n"


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """The runs that had to look at files, as they come."""
    made: list[Run] = []
    report = Run.report
    monkeypatch.setattr(Run, "report", lambda run: made.append(run) or report(run))
    return made


def uncached() -> engine.Report:
    return engine.check([Path()], Options(jobs=1, cache=False))


def write(name: str, text: str) -> Callable[[], object]:
    def change() -> None:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return change


def test_nothing_runs_where_nothing_has_changed(project: Path, runs: list[Run]) -> None:
    assert check() == check()
    assert len(runs) == 1


@pytest.mark.parametrize(
    "change",
    [
        write("tools.py", "import torch\n\ntorch.cuda.synchronize()\n"),
        write("new.py", SCRIPT),
        write("requirements.txt", "nvidia-ml-py\n"),
        write("xlamig.toml", 'ignore = ["XLA005"]\n'),
        write("app/xlamig.toml", 'ignore = ["XLA005"]\n'),
        write(".gitignore", "tools.py\n"),
        write("setup.py", ""),
        write("README.md", "    python -m app.train\n"),
        write("docs/README.md", "    python app/train.py\n"),
        write("configs/base.json", '{"fused": true}'),
        write("app/settings.json", '{"fused": true}'),
        write("rules/XLA777-no-zeros.md", PAGE.replace("torch.zeros", "torch.ones")),
        write("tpu_helper/__init__.py", ""),
        Path("tools.py").unlink,
        Path("app/__init__.py").unlink,
        lambda: Path(".git").mkdir(),
        lambda: Path("app").rename("library"),
    ],
)
def test_a_change_of_what_a_report_rests_on_is_noticed(
    project: Path, runs: list[Run], change: Callable[[], object]
) -> None:
    write("xlamig.toml", 'rules = ["rules"]\n')()
    write("options.py", OPTIONS)()
    write("rules/XLA777-no-zeros.md", PAGE)()
    check()
    change()
    report = check()
    assert len(runs) == 2
    assert report == uncached()


def test_a_file_that_keeps_its_time_and_size_is_read(project: Path) -> None:
    check()
    before = Path("tools.py").stat()
    Path("tools.py").write_text(Path("tools.py").read_text().replace("synchronize", "is_available"))
    os.utime("tools.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert check() == uncached()


def test_a_run_notes_what_it_asks_the_disk(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a report outlives what it rests on: ask through `ASKED`."""
    for name in ("README.md", "configs/base.json", "app/notes.txt", "setup.py", "scripts/run.sh"):
        write(name, "python -m app.train")()
    write("options.py", OPTIONS)()
    asked: set[str] = set()
    sys.addaudithook(lambda event, given: _note(event, given, asked) if listening else None)
    listening = [True]
    check(jobs=1)
    listening.clear()
    found = {str(file.path) for file in files_of([Path()], Options()).files}
    noted = {*found, *ASKED.files, *ASKED.folders}
    ours = (f"{project}/.xlamig_cache", f"{project}/<")
    below = {path for path in asked if path.startswith(f"{project}/") and not path.startswith(ours)}
    assert {f"{project}/README.md", f"{project}/configs/base.json", f"{project}/tools.py"} <= below
    assert below <= noted


def _note(event: str, given: tuple[object, ...], asked: set[str]) -> None:
    if event in ("open", "os.scandir", "os.listdir") and isinstance(given[0], str | os.PathLike):
        asked.add(os.fspath(Path.cwd() / given[0]))


def test_options_have_reports_of_their_own(project: Path) -> None:
    every = check()
    some = engine.check([Path()], Options({"select": ["XLA001"]}, jobs=1))
    assert {finding.code for finding in some.findings} == {"XLA001"}
    assert engine.check([Path("app")], Options(jobs=1)).findings != every.findings
    assert check() == every


def test_folders_above_the_project_may_hold_anything(
    project: Path, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temporary folder changes all the time."""
    monkeypatch.chdir("app")
    check()
    write("../unrelated.txt", "")()
    check()
    assert len(runs) == 1


def test_a_project_may_begin_above(project: Path, runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("app")
    check()
    write("../pyproject.toml", "[build-system]\n")()
    assert check() == uncached()
    assert len(runs) == 3


def test_importers_of_single_files_are_looked_for_every_time(project: Path, runs: list[Run]) -> None:
    for _ in range(2):
        engine.check([Path("app/compat.py")], Options(jobs=1))
    assert len(runs) == 2


def test_a_file_that_is_edited_during_a_run_is_checked_again(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = Run.report
    with monkeypatch.context() as during:
        during.setattr(
            Run, "report", lambda run: (report(run), Path("tools.py").write_text("import torch\n"))[0]
        )
        assert codes(check(), "tools.py")
    assert not codes(check(), "tools.py")
