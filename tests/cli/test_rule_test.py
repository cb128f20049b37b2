"""`xlamig rule test` on a page of one's own, with the real engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from xlamig.cli import xlamig

Invoke = Callable[..., Result]
PAGE, BAD = "rules/ACME001-own-rule.md", "fixtures/ACME001/own-rule/bad.py"
MARK = "  # expect: ACME001"


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Runs commands in a repository with a rule ACME001 as scaffolded."""
    monkeypatch.chdir(tmp_path)
    Path("fixtures").mkdir()
    Path("xlamig.toml").write_text('rules = ["rules"]\n')
    run = lambda *args: CliRunner().invoke(xlamig, args)  # noqa: E731
    assert run("rule", "new", "ACME001", "own-rule").exit_code == 0
    return run


def replace(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


@pytest.mark.parametrize("name", ["ACME001", "own-rule"])
def test_a_scaffold_does_what_its_marks_say(invoke: Invoke, name: str) -> None:
    result = invoke("rule", "test", name)
    assert (result.exit_code, result.stdout) == (
        0,
        "ACME001 reports the marked lines of 2 examples and 3 test programs, and no other.\n",
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "old", "new", "line"),
    [
        (PAGE, MARK, "", f"{PAGE}: Example: no line has the mark `# expect: ACME001`"),
        (BAD, MARK, "", f"{BAD}: no line has the mark `# expect: ACME001`"),
        (BAD, "expect:", "expect", f"{BAD}: line 5: a mark reads `# expect: XLA005`"),
        (BAD, "expect:", "expect[torch_xal]:", f'{BAD}: line 5: there is no target "torch_xal"'),
        (BAD, "expect:", "expect[torch_xla]:", f"{BAD}: line 5: ACME001 is reported for torch_tpu, and the"),
        (PAGE, "torch.ones(2)", f"torch.ones(2){MARK}", "Use instead: line 3: ACME001 is not reported for"),
        (PAGE, 'fact = "api-use"', 'fact = "api-use"\nframe = 1', "match[0].frame: no field of api-use"),
    ],
)
def test_a_line_that_is_not_as_marked_is_named(
    invoke: Invoke, path: str, old: str, new: str, line: str
) -> None:
    replace(path, old, new)
    result = invoke("rule", "test", "ACME001")
    assert result.exit_code > 0 and line in result.output


def test_a_rule_without_an_example_is_not_called_tested(invoke: Invoke) -> None:
    replace(PAGE, "```python", "```text")
    Path(BAD).unlink()
    result = invoke("rule", "test", "ACME001")
    assert (result.exit_code, '"## Example" has no code' in result.stdout) == (1, True)


def test_a_misspelled_name_of_torch_is_named(invoke: Invoke) -> None:
    warning = "is it `torch.cuda.synchronize`?"
    assert warning in invoke("rule", "new", "ACME002", "b", "--api", "torch.cuda.synchronise").output
    assert warning in invoke("rule", "test", "ACME002").output
    assert "Warning" not in invoke("rule", "test", "ACME001").output
