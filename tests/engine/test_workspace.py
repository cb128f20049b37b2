"""A workspace says after every edit what a batch check of the saved files says."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_project import check, codes

from xlamig import ir
from xlamig.engine import Options
from xlamig.engine.workspace import Workspace
from xlamig.findings import FileReport

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "speed"))

import edits  # noqa: E402

SYNCHRONIZE = b"import torch\ntorch.cuda.synchronize()\n"
LONG = b"\n\ndef f():\n    pass\n"
DEVICE = b"""\
import torch

device = torch.device("cuda")


def made():
    return torch.zeros(%d).cuda()
"""
Open = Callable[[], Workspace]


@pytest.fixture
def collector_is_off() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def opened(project: Path) -> Workspace:
    workspace = Workspace([Path()], Options(jobs=1))
    workspace.check()
    return workspace


def test_starts_with_the_findings_of_a_batch_check(project: Path) -> None:
    assert Workspace([Path()], Options(jobs=1)).check() == check()


def test_a_buffer_hides_the_file_until_it_is_closed(project: Path, opened: Workspace) -> None:
    before = opened.check()
    assert codes(before, "app/clean.py") == []
    opened.edit(Path("app/clean.py"), SYNCHRONIZE)
    assert codes(opened.check(), "app/clean.py") == ["XLA005"]
    opened.close(Path("app/clean.py"))
    assert opened.check() == before


def test_an_edit_reaches_the_files_that_import_it(project: Path, opened: Workspace) -> None:
    before = codes(opened.check(), "app/train.py")
    opened.edit(project / "app/compat.py", b"def wait(): ...\n")
    after = codes(opened.check(), "app/train.py")
    assert "XLA005" in before
    assert "XLA005" not in after


def test_only_affected_files_are_analysed_again(
    project: Path, opened: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xlamig.engine import run

    analysed: list[str] = []
    monkeypatch.setattr(run, "analyse", lambda job: analysed.append(job.source.filename) or _analyse(job))
    _analyse = sys.modules["xlamig.engine.analyse"].analyse
    opened.edit(project / "tools.py", SYNCHRONIZE)
    opened.check()
    assert analysed == ["tools.py"]


def test_no_report_comes_first_where_an_edit_changes_what_is_imported(
    project: Path, opened: Workspace
) -> None:
    first: list[FileReport] = []
    opened.edit(project / "tools.py", SYNCHRONIZE)
    opened.check(lambda report, text: first.append(report))
    assert first == []


def test_the_report_on_an_edited_file_comes_first_and_is_not_made_twice(
    project: Path, opened: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xlamig.engine import run

    first: list[tuple[str, list[str], list[str]]] = []
    analysed: list[str] = []
    monkeypatch.setattr(run, "analyse", lambda job: analysed.append(job.source.filename) or _analyse(job))
    _analyse = sys.modules["xlamig.engine.analyse"].analyse
    opened.edit(project / "tools.py", SYNCHRONIZE + LONG)
    opened.check()
    analysed.clear()
    opened.edit(project / "tools.py", SYNCHRONIZE + LONG.replace(b"pass", b"torch.cuda.synchronize()"))
    report = opened.check(
        lambda report, text: first.append((text.text, [f.code for f in report.findings], [*analysed]))
    )
    ((text, found, before),) = first
    assert text.count("synchronize") == 2
    assert found == codes(report, "tools.py") == ["XLA005", "XLA005"]
    assert before == analysed == ["tools.py"]


def test_two_edited_files_are_reported_first_as_the_check_reports_them(
    project: Path, opened: Workspace
) -> None:
    first: dict[str, list[str]] = {}
    for more in (b"", b"torch.cuda.synchronize()\n"):
        opened.edit(project / "tools.py", SYNCHRONIZE + LONG + more)
        opened.edit(project / "app/clean.py", SYNCHRONIZE + LONG + more)
        report = opened.check(
            lambda report, text: first.update({report.filename: [f.code for f in report.findings]})
        )
    assert first == {name: codes(report, name) for name in ("app/clean.py", "tools.py")}
    assert first["tools.py"] == ["XLA005", "XLA005"]


def test_checks_that_are_cut_short_forget_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from xlamig.engine import run

    stopped = False

    def tick(finished: int, total: int) -> None:
        if stopped:
            raise KeyboardInterrupt

    workspace = Workspace([Path()], Options(jobs=1, cache=False, progress=tick))
    workspace.check()
    stopped = True
    for number in range(1, 4):
        workspace.edit(project / "tools.py", SYNCHRONIZE * number)
        with pytest.raises(KeyboardInterrupt):
            workspace.check()
    stopped = False
    analysed: list[str] = []
    _analyse = sys.modules["xlamig.engine.analyse"].analyse
    monkeypatch.setattr(run, "analyse", lambda job: analysed.append(job.source.filename) or _analyse(job))
    workspace.check()
    assert analysed == ["tools.py"]


def test_unsaved_text_never_reaches_the_cache_on_disk(project: Path, opened: Workspace) -> None:
    cache = project / ".xlamig_cache" / "cache.sqlite"
    before = cache.read_bytes()
    opened.edit(project / "tools.py", SYNCHRONIZE)
    opened.check()
    assert cache.read_bytes() == before


def test_a_file_that_breaks_and_is_mended_leaves_nothing_behind(project: Path, opened: Workspace) -> None:
    before = opened.check()
    opened.edit(project / "app/train.py", b"import torch\nx = (torch.manual_seed(1)\n")
    assert codes(opened.check(), "app/train.py") == ["XLA000"]
    opened.edit(project / "app/train.py", (project / "app/train.py").read_bytes())
    assert opened.check() == before


def test_new_and_deleted_files_are_noticed_after_a_refresh(project: Path, opened: Workspace) -> None:
    (project / "new.py").write_bytes(SYNCHRONIZE)
    (project / "tools.py").unlink()
    opened.refresh()
    assert opened.check() == check()


def test_a_buffer_that_is_too_large_is_skipped_as_its_file_would_be(project: Path, opened: Workspace) -> None:
    large = SYNCHRONIZE + b"#" * 2_000_000
    opened.edit(project / "tools.py", large)
    report = opened.check()
    (project / "tools.py").write_bytes(large)
    assert report == check()
    assert [file.filename for file in report.skipped] == ["tools.py"]
    opened.edit(project / "tools.py", SYNCHRONIZE)
    assert codes(opened.check(), "tools.py") == ["XLA005"]


def test_a_changed_configuration_holds_after_a_refresh(project: Path, opened: Workspace) -> None:
    (project / "xlamig.toml").write_text('ignore = ["XLA005"]\n')
    opened.refresh()
    report = opened.check()
    assert "XLA005" not in {finding.code for finding in report.findings}
    assert report == check()


def test_fixes_are_shown_for_the_text_of_the_buffer(project: Path, opened: Workspace) -> None:
    opened.edit(project / "tools.py", b"import torch\n\nprint(1)\ntorch.cuda.synchronize()\n")
    before = opened.check()
    fixed = opened.fixed("tools.py", ("safe",))
    assert fixed is not None
    assert "torch.cuda.synchronize()" not in fixed.text.splitlines()
    assert opened.fixed("missing.py", ("safe",)) is None
    assert opened.check() == before


@pytest.mark.slow
@pytest.mark.parametrize("count", [100, 1_000])
def test_memory_does_not_grow_with_the_number_of_edits(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collector_is_off: None
) -> None:
    """`benchmarks/speed/edits.py` prints the size of the process over edits of larger files."""
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("")
    workspace = Workspace([Path()], Options(jobs=1))
    kept = []
    for number in range(count):
        workspace.edit(Path("train.py"), DEVICE % number)
        workspace.check()
        workspace.free()
        if number % (count // 10) == 9:
            kept.append((workspace.size, len(gc.get_objects())))
    sizes, objects = zip(*kept, strict=True)
    assert len(set(sizes)) == 1
    assert max(objects) - objects[0] < count


def test_the_trees_of_a_check_are_freed_with_it(opened: Workspace, collector_is_off: None) -> None:
    before = _trees()
    opened.edit(Path("app/train.py"), DEVICE % 0)
    assert codes(opened.check(), "app/train.py") == ["XLA001", "XLA002"]
    opened.free()
    assert _trees() <= before


def test_an_edit_parses_only_what_it_changes(
    project: Path, opened: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xlamig.syntax import splice

    text = (DEVICE % 1).decode() + "".join(f"\n\ndef f{i}(x):\n    return x.cuda()\n" for i in range(9))
    opened.edit(project / "tools.py", text.encode())
    opened.check()
    pieces: list[str] = []
    parse = splice.module_from_text
    monkeypatch.setattr(splice, "module_from_text", lambda piece: pieces.append(piece) or parse(piece))
    edited = text.replace("def f4(x):\n", "def f4(x):\n    print(x.item())\n").encode()
    opened.edit(project / "tools.py", edited)
    report = opened.check()
    assert [piece.count("\n") for piece in pieces] == [5]
    (project / "tools.py").write_bytes(edited)
    assert report == check()


def _trees() -> int:
    return sum(isinstance(thing, ir.Module) for thing in gc.get_objects())


@pytest.mark.slow
def test_random_edits_end_with_the_findings_of_a_batch_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`benchmarks/speed/edits.py` does the same with many more edits of larger files."""
    monkeypatch.chdir(tmp_path)
    assert edits.run(ROOT / "fixtures" / "repos", 80, 20, None) == 0
    assert capsys.readouterr().out.count("same") == 4
