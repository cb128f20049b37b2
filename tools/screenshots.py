"""Writes the pictures of the site: findings in a terminal, and a plan as an HTML page.

python tools/screenshots.py            # docs/assets/check.svg and, with Chromium, plan.png
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "docs" / "assets"
PROGRAM = ROOT / "fixtures" / "repos" / "gpu-trainer"
_XLAMIG = (sys.executable, "-c", "from xlamig.cli import script; script()")
_RULES = "XLA101,XLA401"


def terminal() -> None:
    command = ["check", "--color", "always", "--isolated", "--no-cache", "--select", _RULES, "--exit-zero"]
    done = subprocess.run(
        [*_XLAMIG, *command, "gpu_trainer/train.py"], cwd=PROGRAM, capture_output=True, text=True, check=True
    )
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=110, file=nowhere, force_terminal=True)
        console.print(Text(f"$ xlamig check --select {_RULES} gpu_trainer/train.py\n", style="bold"))
        console.print(Text.from_ansi(done.stdout + done.stderr))
        console.save_svg(str(ASSETS / "check.svg"), title="xlamig check")


def page(chromium: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = shutil.copytree(PROGRAM, Path(folder) / PROGRAM.name)
        plan = Path(folder) / "plan.html"
        command = ["plan", "--isolated", "--no-cache", "--output-format", "html", "-o", str(plan), "."]
        subprocess.run([*_XLAMIG, *command], cwd=program, check=True)
        shot = f"--screenshot={ASSETS / 'plan.png'}"
        flags = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1000,700", shot]
        subprocess.run([chromium, *flags, plan.as_uri()], check=True, capture_output=True)


def main() -> int:
    terminal()
    chromium = shutil.which("chromium")
    if chromium is None:
        print("plan.png stays as it is: Chromium is not installed", file=sys.stderr)
        return 1
    page(chromium)
    return 0


if __name__ == "__main__":
    sys.exit(main())
