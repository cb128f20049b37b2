"""The files of a release, and the tools of its workflow."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from xlamig import __version__
from xlamig.cli import xlamig

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import man_page  # noqa: E402
import release  # noqa: E402


def test_there_is_one_version() -> None:
    assert release.package_version() == __version__
    assert json.loads((ROOT / "editors/vscode/package.json").read_text())["version"] == __version__


@pytest.mark.parametrize(
    ("version", "changelog", "problem"),
    [
        (__version__, f"# Changelog\n\n## {__version__} (2026-11-22)\n\n- new\n", None),
        (__version__, f"# Changelog\n\n## [{__version__}] - 2026-11-22\n\n- new\n", None),
        (__version__, f"# Changelog\n\n## {__version__} (unreleased)\n", "unreleased"),
        (__version__, "# Changelog\n", "no section"),
        ("9.9.9", "## 9.9.9 (2026-11-22)\n", "the tag says 9.9.9"),
    ],
)
def test_says_why_a_version_cannot_be_released(version: str, changelog: str, problem: str | None) -> None:
    found = release.problems(version, changelog)
    assert (not found) if problem is None else any(problem in line for line in found)


def test_the_notes_are_the_section_of_the_version() -> None:
    section = release.section_of("0.2.0", "# C\n\n## 0.2.0 (day)\n\n- two\n\n## 0.1.0\n\n- one\n")
    assert section is not None
    assert section["body"].strip() == "- two"


def test_the_manual_page_has_every_command_and_option() -> None:
    page = "\n".join(man_page.page())
    context = click.Context(xlamig, info_name="xlamig")
    for name in xlamig.list_commands(context):
        command = xlamig.get_command(context, name)
        assert command is not None
        assert f".SS xlamig {name}" in page
        for parameter in command.params:
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
                assert option.replace("-", "\\-") in page


@pytest.mark.parametrize("name", ["release", "docs"])
def test_workflows_name_only_what_exists(name: str) -> None:
    text = (ROOT / ".github/workflows" / f"{name}.yml").read_text()
    jobs = yaml.safe_load(text)["jobs"]
    for job in jobs.values():
        needed = job.get("needs", [])
        assert set([needed] if isinstance(needed, str) else needed) <= set(jobs)
    for script in ("tools/release.py", "tools/man_page.py", "editors/vscode"):
        assert script not in text or (ROOT / script).exists()


@pytest.mark.slow
def test_what_is_built_passes_twine_and_runs_alone(tmp_path: Path) -> None:
    dist, home = tmp_path / "dist", tmp_path / "home"
    subprocess.run([sys.executable, "-m", "build", "--outdir", dist, ROOT], check=True, capture_output=True)
    built = sorted(dist.iterdir())
    assert [path.name for path in built] == [
        f"xlamig-{__version__}-py3-none-any.whl",
        f"xlamig-{__version__}.tar.gz",
    ]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *built], check=True)
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    subprocess.run([home / "bin/python", "-m", "pip", "install", "-q", built[0]], check=True)
    told = subprocess.run([home / "bin/xlamig", "--version"], check=True, capture_output=True, text=True)
    assert told.stdout == f"xlamig {__version__}\n"
    server = subprocess.run([home / "bin/xlamig", "server"], capture_output=True, text=True)
    assert server.returncode == 1
    assert "pip install 'xlamig[server]'" in server.stderr
