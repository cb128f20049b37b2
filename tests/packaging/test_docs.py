"""The promises of the documents: links, commands, settings, output."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from xlamig.config.schema import Description, describe

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/**/*.md")]
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def block(marker: str) -> str:
    """The fenced block under `<!-- marker -->` in the README."""
    found = re.search(rf"^<!-- {marker} -->\n```\w*\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert found, f"README.md has no block marked {marker!r}"
    return found[1]


def anchors(document: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", document.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links() -> Iterator[tuple[Path, str]]:
    for document in DOCUMENTS:
        text = FENCED.sub("", document.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if "://" not in target:
                yield document, target


def main_steps() -> list[list[str]]:
    """The xlamig calls in the README's first command."""
    steps = [shlex.split(step) for step in block("command: run").split("&&")]
    return [step[1:] for step in steps if step[0].endswith("/xlamig")]


@pytest.mark.parametrize(
    ("document", "target"), [pytest.param(d, t, id=f"{d.relative_to(ROOT)}-{t}") for d, t in links()]
)
def test_relative_links_lead_somewhere(document: Path, target: str) -> None:
    path, _, anchor = target.partition("#")
    there = (document.parent / path).resolve() if path else document
    if there == ROOT / "docs" / "operator-table.md":  # made from the tables when the site is built
        return
    if there.parent == ROOT / "docs" / "rules":  # made from rules/ when the site is built
        assert there.stem == "index" or list((ROOT / "rules").glob(f"*/{there.stem}-*.md"))
        return
    assert there.exists()
    assert not anchor or anchor in anchors(there)


@pytest.mark.parametrize("name", ["run", "test"])
def test_ci_runs_the_readme_command(name: str) -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    command = block(f"command: {name}")
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    assert len(command.splitlines()) == 1
    assert re.search(rf"^readme {name}$", script, re.MULTILINE)


def test_the_first_command_checks_and_plans() -> None:
    assert [step[0] for step in main_steps()] == ["check", "plan"]


@pytest.mark.slow
@pytest.mark.parametrize("step", main_steps(), ids=lambda step: step[0])
def test_the_readme_output_is_what_the_readme_command_prints(step: list[str]) -> None:
    run = subprocess.run(
        [sys.executable, "-c", "from xlamig.cli import main; main()", *step],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100", "PYTHONUNBUFFERED": "1"},  # findings, then the summary
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    # Parts may be left out where the README says "...", but nothing may be changed.
    parts = [
        part.strip("\n") for part in re.split(r"^\.\.\.$", block(f"output: {step[0]}"), flags=re.MULTILINE)
    ]
    positions = [run.stdout.find(part) for part in parts]
    assert all(parts)
    assert -1 not in positions
    assert positions == sorted(positions)


@pytest.mark.parametrize("setting", describe(), ids=lambda setting: setting.key)
def test_every_setting_is_documented_with_its_default(setting: Description) -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| `{re.escape(setting.key)}` \| (.+?) \| (.+) \|$", text, re.MULTILINE)
    assert row
    told = row[1].strip("`")
    assert told == setting.default or setting.key == "exclude"  # too long for a table


def test_no_setting_is_documented_that_is_not_there() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w.-]+)`", text, re.MULTILINE)) == {setting.key for setting in describe()}
