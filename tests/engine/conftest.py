from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def own_key(user_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key that signs cache entries is the tests' own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(user_folder))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from small_project import FILES, write

    write(FILES, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path
