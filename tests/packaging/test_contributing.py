"""The recipes of CONTRIBUTING.md, each from scaffold to green in a copy of the checkout, without torch."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PARTS = ("src", "tests", "rules", "fixtures", "tools", "docs")
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
BLOCK = re.compile(r"^ *```(?:python|toml) (?P<path>\S+)\n(?P<text>.*?)^ *```$", re.DOTALL | re.MULTILINE)
HEAD = {
    "message": "`{spelled}` looks for CUDA kernels, and XLA runs none",
    "help": "Remove it",
    "reason": "the sanitizer watches the launches of CUDA kernels",
}
FIX = '[[fix]]\nstrategy = "write-value"\nvalue = "None"\napplicability = "unsafe"\n'
FILLED = {
    "What it does": "Reports the call.",
    "Why it matters on a TPU": "The call raises, because a TPU host has no NVIDIA driver.",
    "Use instead": "```python\nprint(1)\n```",
    "How to see it yourself": "Run the example.",
    "Known limits": "A call through a variable is not reported.",
    "References": "- PyTorch's documentation.",
}


def recipe(title: str) -> str:
    """Return the section of CONTRIBUTING.md below `title`."""
    return TEXT.split(f"\n### {title}\n")[1].split("\n### ")[0].split("\n## ")[0]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for part in PARTS:
        shutil.copytree(ROOT / part, tmp_path / part)  # with what is compiled, which takes long
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def run(checkout: Path, *command: str, code: int = 0, **variables: str) -> str:
    environment = {
        **os.environ,
        **variables,
        "PYTHONPATH": str(checkout / "src"),
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
    }
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=checkout, env=environment, capture_output=True, text=True
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def check(checkout: Path, text: str) -> None:
    """Run the pytest command of a recipe that needs no torch."""
    commands = re.findall(r"`pytest ([^`]+)`", " ".join(text.split()))
    (line,) = [command for command in commands if "not evidence" in command]
    tests = line.split(" -m ")[0].split()
    chosen = re.findall(r"-k (\w+)", line)
    run(checkout, "pytest", "-q", *tests, "-m", "not evidence", *(("-k", chosen[0]) if chosen else ()))


def write_blocks(checkout: Path, text: str) -> None:
    """Write the files that a recipe shows; a block for a file that exists is appended."""
    for block in BLOCK.finditer(text):
        path = checkout / block["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text("utf-8") + "\n" if path.exists() else ""
        path.write_text(before + re.sub(r"^   ", "", block["text"], flags=re.MULTILINE), "utf-8")


def fill(page: Path) -> None:
    text = page.read_text("utf-8")
    for section, words in FILLED.items():
        text = re.sub(rf"(?ms)^## {section}\n.*?(?=^## |\Z)", f"## {section}\n\n{words}\n\n", text)
    for key, words in HEAD.items():
        text = re.sub(rf'(?m)^{key} = ".*"$', f'{key} = "{words}"', text)
    page.write_text(text, "utf-8")


def test_a_row_of_a_table(checkout: Path) -> None:
    text = recipe("A row of a table")
    write_blocks(checkout, text)
    check(checkout, text)


def test_a_rule(checkout: Path) -> None:
    text = recipe("A rule")
    command = re.search(r"```sh\n\s*xlamig (.*)\n", text)
    assert command is not None
    run(checkout, "xlamig", *command[1].split())
    code = command[1].split()[2]
    (page,) = (checkout / "rules").glob(f"*/{code}-*.md")
    assert f"{page.relative_to(checkout)}: " in run(checkout, "tools.check_prose", code=1)
    fill(page)
    assert "no other" in run(checkout, "xlamig", "rule", "test", code)
    check(checkout, text)
    run(checkout, "tools.check_prose")


def test_an_operator(checkout: Path) -> None:
    text = recipe("An operator")
    command = re.search(r"`xlamig (ops \S+)`", text)
    assert command is not None
    assert "table of values" not in run(checkout, "xlamig", *command[1].split())
    write_blocks(checkout, text)
    assert "table of values" in run(checkout, "xlamig", *command[1].split())
    check(checkout, text)


def test_a_fix_strategy(checkout: Path) -> None:
    text = recipe("A fix strategy")
    write_blocks(checkout, text)
    function, described = re.findall(r"`(\"write-value\": [^`]+)`", " ".join(text.split()))
    for path, line in {
        "src/xlamig/fix/strategies/__init__.py": function,
        "src/xlamig/rulebook/strategies.py": described,
    }.items():
        file = checkout / path
        file.write_text(
            re.sub(r'(?m)^(?=        "xm-barrier")', f"        {line}\n", file.read_text("utf-8"))
        )
    registry = checkout / "src/xlamig/fix/strategies/__init__.py"
    imported = "from xlamig.fix.strategies.write_value import write_value\n"
    registry.write_text(registry.read_text("utf-8").replace("\nSTRATEGIES:", f"{imported}\nSTRATEGIES:"))
    run(checkout, "tools.rule_schema")
    check(checkout, text)
    run(checkout, "xlamig", "rule", "new", "XLA089", "a-rule", "--api", "torch.cuda.f")
    (page,) = (checkout / "rules").glob("*/XLA089-*.md")
    page.write_text(page.read_text("utf-8").replace("+++\n\n#", f"{FIX}+++\n\n#"), "utf-8")
    update = re.search(r"`(XLAMIG_UPDATE_FIXED)=1 pytest ([^`]+)`", " ".join(text.split()))
    assert update is not None
    run(checkout, "pytest", "-q", *update[2].split(), **{update[1]: "1"})
    assert "\nNone  # expect" in (checkout / "fixtures/XLA089/a-rule/fixed.py").read_text("utf-8")
