"""The GitLab component: its script runs as a job would run it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CODE = "import torch\n\ntorch.cuda.synchronize()\n"


def job(**inputs: str) -> dict[str, Any]:
    """The job of the component with its inputs filled in."""
    head, body = (ROOT / "templates" / "xlamig.yml").read_text().split("\n---\n")
    known = {key: value.get("default", "") for key, value in yaml.safe_load(head)["spec"]["inputs"].items()}
    known |= {key.replace("_", "-"): value for key, value in inputs.items()}

    def filled(match: re.Match[str]) -> str:
        value = known[match[1]]
        return str(value).lower() if isinstance(value, bool) else str(value)

    found: dict[str, Any] = yaml.safe_load(re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", filled, body))
    return found["xlamig"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("fail_on", "code"), [("error", 1), pytest.param("warning", 1, marks=pytest.mark.slow)]
)
def test_writes_the_code_quality_report_and_fails(tmp_path: Path, fail_on: str, code: int) -> None:
    found = job(fail_on=fail_on)
    checkout, bin = tmp_path / "checkout", tmp_path / "bin"
    checkout.mkdir()
    bin.mkdir()
    (checkout / "train.py").write_text(CODE)
    tool = bin / "xlamig"
    start = "from xlamig.cli import script; script()"
    tool.write_text(f'#!/usr/bin/env bash\nexec "{sys.executable}" -c "{start}" "$@"\n')
    tool.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "XDG_CACHE_HOME": str(tmp_path / "user"),
        **{key: str(value) for key, value in found["variables"].items()},
    }
    done = subprocess.run(["sh", "-eu", "-c", "\n".join(found["script"])], cwd=checkout, env=environment)
    assert done.returncode == code
    report = json.loads((checkout / found["artifacts"]["reports"]["codequality"]).read_text())
    assert [entry["check_name"] for entry in report] == ["XLA005"]
