"""The GitHub Action: its scripts run in the order of action.yml, as a runner would."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
CODE = "import torch\n\ntorch.cuda.synchronize()\n"


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


class Runner:
    """A checkout, and what a runner gives to its steps. `xlamig` is the one of this checkout and `gh`
    writes down what it is asked."""

    def __init__(self, folder: Path) -> None:
        self.checkout, self.temp, bin = folder / "checkout", folder / "temp", folder / "bin"
        for made in (self.checkout, self.temp, bin):
            made.mkdir()
        self.output, self.asked = folder / "output", folder / "asked"
        code = "from xlamig.cli import script; script()"
        self._tool(bin / "xlamig", f'exec "{sys.executable}" -c "{code}" "$@"')
        self._tool(bin / "gh", f'printf "%s\\n" "$@" >> "{self.asked}"')
        self.environment = {
            **os.environ,
            "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "XDG_CACHE_HOME": str(folder / "user"),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(self.output),
            "RUNNER_TEMP": str(self.temp),
        }
        self.git("init", "-q", "-b", "main")
        (self.checkout / "train.py").write_text(CODE)
        self.commit()

    def _tool(self, path: Path, line: str) -> None:
        path.write_text(f"#!/usr/bin/env bash\n{line}\n")
        path.chmod(0o755)

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=test", "-c", "user.email=test@example.org")
        done = subprocess.run(
            ["git", *who, *words], cwd=self.checkout, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-qm", "change")
        return self.git("rev-parse", "HEAD")

    def step(self, name: str, event: Mapping[str, str] | None = None, **inputs: str) -> tuple[int, str]:
        """The exit code of a step and what it printed, with `${{ ... }}` filled in."""
        known = {f"inputs.{key}": value.get("default", "") for key, value in ACTION["inputs"].items()}
        known |= {f"inputs.{key.replace('_', '-')}": value for key, value in inputs.items()}
        known |= {f"steps.check.outputs.{key}": value for key, value in self.outputs().items()}
        known |= dict(event or {})
        values = {
            key: re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda match: known.get(match[1], ""), value)
            for key, value in STEPS[name].get("env", {}).items()
        }
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", STEPS[name]["run"]],
            cwd=self.checkout,
            env=self.environment | values,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout + done.stderr

    def outputs(self) -> dict[str, str]:
        lines = self.output.read_text().splitlines() if self.output.exists() else []
        return dict(line.split("=", 1) for line in lines)


@pytest.mark.slow
def test_annotates_the_findings_and_fails_at_the_end(runner: Runner) -> None:
    code, printed = runner.step("Check")
    assert code == 0
    assert "::error" in printed and "train.py" in printed
    outputs = runner.outputs()
    assert (outputs["findings"], outputs["exit-code"]) == ("1", "1")
    sarif = json.loads(Path(outputs["sarif-file"]).read_text())
    assert [result["ruleId"] for result in sarif["runs"][0]["results"]] == ["XLA005"]
    assert runner.step("Fail on findings")[0] == 1


@pytest.mark.slow
@pytest.mark.parametrize("inputs", [{"fail_on": "never"}, {"arguments": "--ignore\nXLA005\n"}])
def test_passes_when_it_is_asked_to(runner: Runner, inputs: dict[str, str]) -> None:
    assert runner.step("Check", **inputs)[0] == 0
    assert runner.step("Fail on findings")[0] == 0


@pytest.mark.slow
def test_reports_only_what_a_pull_request_changes(runner: Runner) -> None:
    base = runner.git("rev-parse", "HEAD")
    (runner.checkout / "new.py").write_text(CODE)
    runner.commit()
    _, printed = runner.step("Check", {"github.event.pull_request.base.sha": base})
    assert "new.py" in printed and "train.py" not in printed
    assert runner.outputs()["findings"] == "1"


@pytest.mark.slow
def test_checks_several_paths_with_spaces_in_their_names(runner: Runner) -> None:
    (runner.checkout / "a folder").mkdir()
    (runner.checkout / "a folder" / "a file.py").write_text(CODE)
    _, printed = runner.step("Check", paths="a folder\n\ntrain.py\n")
    assert runner.outputs()["findings"] == "1"
    assert "a file.py" in printed and "train.py" in printed


def test_a_wrong_option_fails_the_action(runner: Runner) -> None:
    assert runner.step("Check", arguments="--no-such-option")[0] == 0
    assert runner.step("Fail on findings")[0] == 2


@pytest.mark.slow
def test_comments_the_plan_on_the_pull_request(runner: Runner) -> None:
    code, _ = runner.step(
        "Comment the plan on the pull request", {"github.event.pull_request.number": "12"}, token="secret"
    )
    assert code == 0
    asked = runner.asked.read_text().splitlines()
    assert asked[:3] == ["pr", "comment", "12"]
    assert "XLA005" in Path(asked[asked.index("--body-file") + 1]).read_text()


def test_every_script_and_output_that_is_named_exists() -> None:
    for step in STEPS.values():
        for name in re.findall(r"GITHUB_ACTION_PATH/([\w./-]+)", step.get("run", "")):
            assert (ROOT / name).is_file()
    named = {
        match
        for out in ACTION["outputs"].values()
        for match in re.findall(r"outputs\.([\w-]+)", out["value"])
    }
    assert named <= {"findings", "sarif-file", "exit-code"}


@pytest.mark.slow
def test_installs_into_an_environment_of_its_own(runner: Runner) -> None:
    runner.environment["GITHUB_PATH"] = str(runner.temp / "path")
    code, printed = runner.step("Install xlamig", version="local")
    assert code == 0, printed
    folder = Path((runner.temp / "path").read_text().strip())
    assert (folder / "xlamig").is_file()
