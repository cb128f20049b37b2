from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from runs import Check

from xlamig import engine
from xlamig.engine import Options
from xlamig.findings import Report


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Checks files given by name, or all of a folder that holds them, with no cache."""
    monkeypatch.chdir(tmp_path)

    def run(files: dict[str, bytes], jobs: int = 1) -> Report:
        for name, data in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return engine.check([Path()], Options(isolated=True, jobs=jobs, cache=False))

    return run
