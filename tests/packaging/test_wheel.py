"""The contents of a built wheel; the command works from it and from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGES = sorted(ROOT.glob("rules/**/XLA*.md"))
MAIN = "import sys, xlamig; from xlamig.cli import main; print(xlamig.__file__, file=sys.stderr); main()"


def pip(*arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "pip", "-q", *arguments], check=True, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "-w", folder, ROOT)
    (built,) = folder.glob("xlamig-*.whl")
    return built


def rules_from(path: Path, cwd: Path) -> str:
    """`xlamig rules` with `path` first on the import path."""
    run = subprocess.run(
        [sys.executable, "-c", MAIN, "rules"],
        env={**os.environ, "PYTHONPATH": str(path)},
        cwd=cwd,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert str(path / "xlamig") in run.stderr
    return run.stdout


def test_the_wheel_has_nothing_but_the_package(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"xlamig"}


def test_the_wheel_has_the_rules_the_licence_and_the_typing_marker(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    packed = {f"xlamig/_{path.relative_to(ROOT)}" for path in ROOT.glob("rules/**/*") if path.is_file()}
    assert packed
    assert packed <= set(names)
    assert "xlamig/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_rules_are_found_in_an_installed_wheel_and_in_the_checkout(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    pip("install", "--no-deps", "--target", site, wheel)
    installed = rules_from(site, tmp_path)
    assert installed == rules_from(ROOT / "src", tmp_path)
    assert all(page.name[:6] in installed for page in PAGES)
