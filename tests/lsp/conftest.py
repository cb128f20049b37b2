from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the language server is an extra")
pytest.importorskip("pytest_lsp", reason="the language server is an extra")

sys.path.insert(0, str(Path(__file__).parent))
