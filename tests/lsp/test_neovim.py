"""Neovim, headless, as a client that nobody here has written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from editor import SERVER, SYNCHRONIZE

NEOVIM = shutil.which("nvim")
SCRIPT = Path(__file__).with_name("neovim.lua")


@pytest.mark.slow
@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed")
def test_shows_diagnostics_and_applies_fixes(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "sync.py").write_text(SYNCHRONIZE)
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "user"),
        "XLAMIG_ROOT": str(root),
        "XLAMIG_FILE": str(root / "sync.py"),
        "XLAMIG_SERVER": json.dumps(SERVER),
    }
    command = [str(NEOVIM), "--headless", "--clean", "-n", "-c", f"luafile {SCRIPT}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    told = json.loads(done.stdout[done.stdout.index("{") :])
    assert told["seen"] == [["XLA005", 2, 0]]
    assert "XLA005" in told["hover"]
    assert not told["left"]
    assert "torch.cuda.synchronize()" not in told["text"]
