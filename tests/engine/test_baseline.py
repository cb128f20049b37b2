from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_project import check as plain_check
from small_project import codes, write

from xlamig import engine
from xlamig.engine import Options, UsageError
from xlamig.findings import Report

BASELINE = Path("known.json")
ENTRY = {
    "filename": "a.py",
    "target": "torch_xla",
    "code": "XLA005",
    "fingerprint": "f",
    "severity": "error",
    "confidence": "certain",
    "message": "",
}


def check(*paths: str, **overrides: object) -> Report:
    options = Options(overrides, isolated=True, jobs=1, cache=False, baseline=BASELINE)
    return engine.check([Path(path) for path in paths or (".",)], options)


def update(*paths: str, **overrides: object) -> tuple[int, int, int]:
    options = Options(overrides, isolated=True, jobs=1, cache=False, baseline=BASELINE)
    return engine.update_baseline([Path(path) for path in paths or (".",)], options)


def stale(report: Report) -> list[str]:
    return [finding.message for finding in report.findings if finding.code == "XLA091"]


def test_what_is_known_is_not_reported(project: Path) -> None:
    everything = plain_check(cache=False)
    entries, new, gone = update()
    assert (entries, new, gone) == (len(everything.findings), entries, 0)
    report = check()
    assert not report.findings and report.hidden == entries


def test_a_new_finding_is_reported_and_lines_above_do_not_matter(project: Path) -> None:
    update()
    text = (project / "tools.py").read_text()
    (project / "tools.py").write_text("# a\n# b\n" + text + "torch.cuda.ipc_collect()\n")
    assert [f.message for f in check().findings] and codes(check(), "tools.py") == ["XLA006"]


def test_one_more_of_the_same_is_new(project: Path) -> None:
    update()
    text = (project / "tools.py").read_text()
    (project / "tools.py").write_text(text + "torch.cuda.synchronize()\n")
    assert codes(check(), "tools.py") == ["XLA005"]


def test_an_entry_without_a_finding_is_stale_on_its_line(project: Path) -> None:
    update()
    (project / "tools.py").write_text("import torch\n\ntorch.cuda.memory_allocated()\n")
    [finding] = check().findings
    assert (finding.code, finding.filename, finding.severity) == ("XLA091", "known.json", "info")
    line = (project / BASELINE).read_text().splitlines()[finding.place.location.row - 1]
    assert '"XLA005"' in line and "tools.py" in line


def test_entries_of_a_deleted_file_are_stale(project: Path) -> None:
    update()
    (project / "tools.py").unlink()
    assert len(stale(check())) == 2


def test_entries_of_a_moved_file_move_along(project: Path) -> None:
    update()
    (project / "tools.py").rename(project / "moved.py")
    assert not check().findings


@pytest.mark.parametrize(
    ("paths", "overrides"),
    [
        (["app"], {}),  # another part of the project
        (["app/clean.py"], {}),
        ([], {"select": ["XLA006"]}),
        ([], {"severity": "error", "select": ["XLA006"]}),
        ([], {"target": "torch_tpu"}),
    ],
)
def test_what_a_run_does_not_look_at_is_not_stale(
    project: Path, paths: list[str], overrides: dict[str, object]
) -> None:
    update()
    (project / "tools.py").write_text("import torch\n\ntorch.cuda.memory_allocated()\n")
    assert not stale(check(*paths, **overrides))


def test_an_update_keeps_what_the_run_does_not_look_at(project: Path) -> None:
    entries, *_ = update()
    assert update("app") == (entries, 0, 0)
    (project / "tools.py").write_text("import torch\n")
    assert update("app") == (entries, 0, 0)
    assert update() == (entries - 2, 0, 2)


def test_the_same_findings_give_the_same_bytes(project: Path) -> None:
    update()
    before = BASELINE.read_bytes()
    update()
    assert BASELINE.read_bytes() == before


def test_the_baseline_may_lie_elsewhere(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    update()
    monkeypatch.chdir(project / "app")
    options = Options({}, isolated=True, jobs=1, cache=False, baseline=project / BASELINE)
    assert not engine.check([project], options).findings


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version": 1}',
        '{"version": 2, "entries": []}',
        '{"version": 1, "entries": [{}]}',
        json.dumps({"version": 1, "entries": [{**ENTRY, "filename": 1}]}),
        json.dumps({"version": 1, "entries": [{**ENTRY, "severity": "loud"}]}),
    ],
)
def test_what_is_no_baseline_is_said_in_a_line(project: Path, text: str) -> None:
    BASELINE.write_text(text)
    with pytest.raises(UsageError, match=r"known\.json is (no|a) baseline"):
        check()


def test_a_missing_baseline_is_an_error(project: Path) -> None:
    with pytest.raises(UsageError, match="no baseline known\\.json"):
        check()


def test_an_unknown_code_is_stale(project: Path) -> None:
    update()
    document = json.loads(BASELINE.read_text())
    document["entries"] = [dict(document["entries"][0], code="XLA888")]
    BASELINE.write_text(json.dumps(document))
    assert len(stale(check())) == 1


def test_only_new_findings_are_fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write({"a.py": "import torch\n\n\ndef f(x, device):\n    return x.cuda()\n"}, tmp_path)
    update()
    text = (tmp_path / "a.py").read_text() + "\n\ndef g(y, device):\n    return y.cuda()\n"
    (tmp_path / "a.py").write_text(text)
    options = Options({}, isolated=True, jobs=1, cache=False, baseline=BASELINE)
    outcome = engine.fix([Path()], options, frozenset({"safe"}), write=True)
    fixed = (tmp_path / "a.py").read_text()
    assert "return x.cuda()" in fixed and "return y.to(device)" in fixed
    assert not outcome.after.findings


def test_comments_that_suppress_nothing_are_taken_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write({"a.py": "import torch\n\nx = 1  # xlamig: ignore[XLA001, XLA999]\n"}, tmp_path)
    update()
    assert not check().findings
    (tmp_path / "b.py").write_text("y = 1  # xlamig: ignore[XLA999]\n")
    assert {finding.code for finding in check().findings} == {"XLA092"}
