"""The scripts to migrate: what the manifest says, how a script is laid out, and how a verdict is found."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.mirror import MissingMirror
from benchmarks.scripts.cases import CannotPrepare, Script, of_files, of_manifest
from benchmarks.scripts.results import RESULTS, Results, line, summary, totals
from benchmarks.scripts.runs import Bench
from benchmarks.scripts.verdict import Ran, differences, verdict_of

SCRIPTS = of_manifest()
STEP = {"compiles": 2.0, "executions": 2.0, "reads": 0.0}


def result(verdict: str, half: str = "dev", **more: object) -> dict[str, object]:
    return {"id": f"{half}-{verdict}", "half": half, "verdict": verdict, "repo": "a/b", **more}


def ran(losses: list[float], compiles: float = 0.0, **more: object) -> Ran:
    steps = [{"compiles": compiles * index, "executions": 2.0 * index, "reads": 0.0} for index in range(8)]
    return Ran(0, losses, ["xla"], steps, {"executions": 9.0}, **more)  # type: ignore[arg-type]


def test_the_manifest_has_seventy_scripts_of_45_repositories() -> None:
    assert len({script.id for script in SCRIPTS}) == len(SCRIPTS) >= 70
    assert len({script.repo for script in SCRIPTS}) >= 45


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.id)
def test_an_entry_names_a_commit_and_paths_inside_its_folder(script: Script) -> None:
    assert re.fullmatch(r"[0-9a-f]{40}", script.commit)
    assert script.shape
    paths = [script.cwd, *script.make, *(path for _, path in script.data)]
    assert not [path for path in paths if Path(path).is_absolute() or ".." in Path(path).parts]


@pytest.mark.evidence  # numpy comes with torch
def test_the_kinds_of_data_are_known() -> None:
    from benchmarks.scripts.data import GENERATORS

    assert {kind for script in SCRIPTS for kind, _ in script.data} <= set(GENERATORS)


def test_no_script_is_one_that_the_repository_keeps_apart() -> None:
    entries = {(script.repo, f"{script.cwd}/{script.entry}") for script in SCRIPTS}
    assert not entries & {
        ("pytorch/examples", "mnist/main.py"),
        ("pytorch/examples", "vae/main.py"),
        ("pytorch/examples", "reinforcement_learning/reinforce.py"),
        ("vwxyzjn/cleanrl", "./cleanrl/dqn.py"),
    }


def test_a_missing_mirror_is_reported(tmp_path: Path) -> None:
    with pytest.raises(MissingMirror, match="karpathy/minGPT"):
        SCRIPTS[0].lay_out(tmp_path / "work", tmp_path, sys.executable)


def test_data_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    script = replace(of_files([Path(__file__)])[0], prepare=(("-c", "raise ValueError('no data')"),))
    with pytest.raises(CannotPrepare, match="no data"):
        script.lay_out(tmp_path / "work", None, sys.executable)


def test_a_script_is_read_at_its_commit(tmp_path: Path) -> None:
    source, bare = tmp_path / "source", tmp_path / "mirror" / "owner+name" / "repo"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(source)]
    (source / "lib").mkdir(parents=True)
    (source / "train.py").write_text("old\n")
    (source / "lib" / "net.py").write_text("net\n")
    (source / "data.bin").write_bytes(b"\0")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    (source / "train.py").write_text("new\n")
    subprocess.run([*git, "commit", "-qam", "two"], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", str(source), str(bare)], check=True)
    script = Script("one", "train.py", repo="owner/name", commit=commit, make=("out",))
    script.lay_out(tmp_path / "work", tmp_path / "mirror", sys.executable)
    found = {str(path.relative_to(tmp_path / "work")) for path in (tmp_path / "work").rglob("*")}
    assert found == {"train.py", "lib", "lib/net.py", "out"}
    assert (tmp_path / "work" / "train.py").read_text() == "old\n"


@pytest.mark.parametrize(
    ("plain", "ported", "verdict"),
    [
        (ran([1.0, 0.9]), ran([1.0, 0.9]), "migrated"),
        (ran([1.0, 0.9]), ran([1.0, 0.5]), "other losses"),
        (ran([1.0]), ran([float("nan")]), "other losses"),
        (ran([1.0]), ran([1.0], compiles=2.0), "recompiles"),
        (ran([1.0]), Ran(1), "error"),
        (ran([1.0]), Ran(None), "timeout"),
        (ran([1.0]), Ran(0, [1.0], ["cpu"]), "not on XLA"),
        (ran([1.0]), Ran(0, [], ["xla"]), "never runs"),
        (Ran(0), ran([]), "runs"),
    ],
)
def test_a_verdict_names_what_went_wrong_first(plain: Ran, ported: Ran, verdict: str) -> None:
    assert verdict_of(ported, differences(plain, ported), bool(plain.losses)) == verdict


def test_what_did_not_run_on_the_cpu_is_counted_but_not_as_a_failure() -> None:
    found = totals([result("migrated"), result("original fails"), result("error", "test")])
    assert (found["dev"]["scripts"], found["dev"]["ran"], found["dev"]["migrated"]) == (2, 1, 1)
    assert (found["test"]["ran"], found["test"]["migrated"]) == (1, 0)


def test_a_script_that_xlamig_cannot_fix_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise subprocess.CalledProcessError(2, ["xlamig"], stderr=b"a warning\nerror: cannot fix it\n")

    monkeypatch.setattr(Bench, "run", lambda *_, **more: ran([1.0]))
    monkeypatch.setattr(Bench, "fix", fail)
    server: Any = None
    bench = Bench(sys.executable, server, server, 10, 10, tmp_path, "portable")
    found = bench.migrate(of_files([Path(__file__)])[0])
    assert (found["verdict"], found["why"]) == ("error", "xlamig: exit code 2: error: cannot fix it")


def test_a_run_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    class Writing:
        def run(self, command: list[str], cwd: Path, environment: dict[str, str], limit: int) -> int:
            (cwd / "logs").mkdir()
            return 0

    server: Any = Writing()
    script = of_files([Path(__file__)])[0]
    bench = Bench(sys.executable, server, server, 10, 10, tmp_path, "portable")
    script.lay_out(tmp_path / "plain", None, sys.executable)
    assert [bench.run(script, tmp_path / "plain", xla=False).code for _ in range(2)] == [0, 0]
    assert [path.name for path in tmp_path.rglob("*")] == ["plain", script.entry]


def test_totals_name_no_script() -> None:
    text = "\n".join(summary([result("error", "test", why="XLA201: secret")]))
    assert "test: 0 of 1 migrated" in text
    assert "secret" not in text and "test-error" not in text


def test_results_are_stored_with_their_commit_and_resumed(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    Results(file, resume=False).add(result("migrated"))
    stored = json.loads(file.read_text())["results"][0]
    assert stored["commit"] and stored["xlamig"] and stored["date"]
    assert Results(file, resume=True).get("dev-migrated") == stored
    assert Results(file, resume=False).get("dev-migrated") is None
    file.write_text(json.dumps({"results": [{**stored, "xlamig": "0000000"}]}))
    assert Results(file, resume=True).get("dev-migrated") is None


def test_the_error_of_a_test_script_is_not_stored(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    results = Results(file, resume=False)
    results.add(result("error", "test", why="XLA201: secret"))
    results.add(result("error", why="XLA201: shown"))
    assert "secret" not in file.read_text()
    assert "shown" in file.read_text()


def test_a_line_tells_costs_and_cause() -> None:
    text = line(result("recompiles", **{"per step": STEP, "difference": [0.0, 0.01], "why": "XLA203"}))
    assert "2/2/0" in text and "1.0e-02" in text and text.endswith("XLA203")


def test_the_page_states_the_stored_results() -> None:
    page = (Path(__file__).parents[2] / "docs" / "research" / "accuracy.md").read_text("utf-8")
    found = totals(Results(RESULTS, resume=False).by_id.values())
    cells = (f"**{total['migrated']} of {total['ran']}, " for total in found.values())
    row = next(line for line in page.splitlines() if line.startswith("| **migrated** |"))
    assert all(cell in row for cell in cells)
