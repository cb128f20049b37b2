from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def own_key(user_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key that signs cache entries is the tests' own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(user_folder))
