from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from making import a_finding, a_fix, a_report
from xlamig.config.settings import EffortSettings, Settings
from xlamig.engine.options import UsageError
from xlamig.findings import Report, RuleError
from xlamig.source.text import SourceText

CLEAN = a_report()
INFO = a_report(a_finding(severity="info"))
WARNING = a_report(a_finding(severity="warning"))
ERROR = a_report(a_finding(severity="error"))
UNPARSABLE = a_report(a_finding("XLA000", "info"))
CRASHED = a_report(a_finding(severity="info"), rule_errors=(RuleError("XLA101", "a.py", "KeyError"),))


@pytest.mark.parametrize(
    ("report", "args", "code"),
    [
        (CLEAN, [], 0),
        (INFO, [], 0),
        (WARNING, [], 1),
        (ERROR, [], 1),
        (UNPARSABLE, ["--fail-on", "error"], 1),
        (CRASHED, [], 2),
        (CRASHED, ["--exit-zero"], 2),
        (ERROR, ["-e"], 0),
        (ERROR, ["--max-effort", "0.1"], 1),
        (INFO, ["--max-effort", "0"], 0),
        (WARNING, ["--hook"], 1),
    ],
)
def test_exit_code(engine: Any, invoke: Any, report: Report, args: list[str], code: int) -> None:
    engine.report = report
    assert invoke("check", *args).exit_code == code


def test_fail_on_comes_from_the_settings(engine: Any, invoke: Any) -> None:
    engine.settings = Settings(fail_on="error")
    assert invoke("check").exit_code == 0


def test_effort_over_budget_fails_although_nothing_else_does(engine: Any, invoke: Any) -> None:
    engine.settings = Settings(fail_on="error")
    result = invoke("check", "--max-effort", "0.1", "-q")
    assert result.exit_code == 1
    assert "more than the 0.1 h" in result.stderr


def test_a_hook_does_not_see_the_whole_program(engine: Any, invoke: Any) -> None:
    invoke("check")
    assert engine.asked["options"].whole is None
    invoke("check", "--hook", ".")
    assert engine.asked["options"].whole is False


def test_nothing_to_check_is_a_warning_unless_in_a_hook(engine: Any, invoke: Any) -> None:
    engine.report = Report("torch_xla")
    assert "no file to check" in invoke("check").stderr
    hook = invoke("check", "--hook")
    assert (hook.exit_code, hook.output) == (0, "")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (UsageError("no such path: x"), "Error: no such path: x\n"),
        (PermissionError(13, "Permission denied", "a.py"), "Error: a.py: Permission denied\n"),
        (KeyError("x\ny"), "Error: internal error, please report it: KeyError: 'x\\ny' (-vv shows where)\n"),
    ],
)
def test_what_cannot_be_done_is_one_line(engine: Any, invoke: Any, error: Exception, told: str) -> None:
    engine.error = error
    result = invoke("check")
    assert (result.exit_code, result.stderr) == (2, told)


def test_a_traceback_only_on_request(engine: Any, invoke: Any) -> None:
    engine.error = KeyError("x")
    assert "Traceback" not in invoke("check", "-v").stderr
    assert "Traceback" in invoke("check", "-vv").stderr


@pytest.mark.parametrize(
    "args", [["--bogus"], ["--target", "gpu"], ["-j", "x"], ["--per-file-ignores", "XLA101"]]
)
def test_wrong_usage(invoke: Any, args: list[str]) -> None:
    assert invoke("check", *args).exit_code == 2


def test_findings_go_to_stdout_and_the_rest_to_stderr(invoke: Any) -> None:
    result = invoke("check", "--output-format", "concise")
    assert result.stdout == "train.py:1:1: warning XLA005 `torch.cuda.synchronize()` raises on XLA\n"
    assert result.stderr.splitlines()[0] == "Found 1 problem (1 warning) in 1 file."
    assert "not calibrated" in result.stderr


@pytest.mark.parametrize("flag", ["--no-effort", "--hook", "-q"])
def test_no_estimate(invoke: Any, flag: str) -> None:
    assert "effort" not in invoke("check", flag).stderr


def test_json_is_json_and_the_format_can_come_from_the_environment(invoke: Any) -> None:
    result = invoke("check", env={"XLAMIG_OUTPUT_FORMAT": "json"})
    assert json.loads(result.stdout)["findings"][0]["code"] == "XLA005"


def test_statistics(invoke: Any) -> None:
    assert invoke("check", "--statistics").stdout == "1  XLA005  cuda-synchronize\n"


def test_output_file(invoke: Any) -> None:
    result = invoke("check", "--output-format", "concise", "-o", "out.txt")
    assert result.stdout == ""
    assert Path("out.txt").read_text().startswith("train.py:1:1")


def test_an_output_file_that_cannot_be_written_is_one_line(invoke: Any) -> None:
    result = invoke("check", "-o", "missing/out.txt")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ") and len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("args", "env", "coloured"),
    [
        ([], {}, False),
        (["--color", "always"], {}, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour(invoke: Any, args: list[str], env: dict[str, str], coloured: bool) -> None:
    result = invoke("check", *args, env=env, color=True)
    assert ("\x1b[" in result.stdout) == coloured


def test_a_version_that_was_not_measured_is_one_line_on_stderr(engine: Any, invoke: Any) -> None:
    assert "was not measured" not in invoke("check").stderr
    engine.settings = Settings(target_version="2.4")
    done = invoke("check")
    assert done.stderr.count("torch_xla 2.4 was not measured") == 1
    assert "was not measured" not in done.stdout


def test_settings_reach_the_engine_by_their_key(engine: Any, invoke: Any) -> None:
    invoke(
        "check", "src", "--select", "XLA1,XLA2", "--select", "XLA3",
        "--per-file-ignores", "tests/*:XLA1,XLA2", "--strategy", "native",
        "--no-respect-gitignore", "--preview", "--no-cache", "-j", "2", "--isolated",
    )  # fmt: skip
    options = engine.asked["options"]
    assert options.overrides == {
        "select": ["XLA1", "XLA2", "XLA3"],
        "per-file-ignores": {"tests/*": ["XLA1", "XLA2"]},
        "strategy": "native",
        "respect-gitignore": False,
        "preview": True,
    }
    assert (options.cache, options.jobs, options.isolated, engine.asked["paths"]) == (
        False,
        2,
        True,
        (Path("src"),),
    )


def test_nothing_is_overridden_by_default(engine: Any, invoke: Any) -> None:
    invoke("check")
    assert engine.asked["options"].overrides == {}
    assert engine.asked["paths"] == (Path(),)


def test_config_is_a_file_or_settings_and_flags_win(engine: Any, invoke: Any) -> None:
    invoke(
        "check", "--config", "own.toml", "--config", "target='torch_tpu'", "--config", "effort.exponent=1.0",
        "--config", "effort.hours-per-day=6", "--target", "torch_xla",
    )  # fmt: skip
    options = engine.asked["options"]
    assert options.config == Path("own.toml")
    assert options.overrides == {"target": "torch_xla", "effort": {"exponent": 1.0, "hours-per-day": 6}}


def test_a_setting_that_is_not_toml(invoke: Any) -> None:
    result = invoke("check", "--config", "target=torch_tpu")
    assert result.exit_code == 2
    assert "target='torch_tpu'" in result.stderr


def test_show_files_and_settings(invoke: Any) -> None:
    assert invoke("check", "--show-files").stdout == "a.py\nb.py\n"
    assert 'target = "torch_xla"' in invoke("check", "--show-settings").stdout


def test_stdin(engine: Any, invoke: Any) -> None:
    invoke("check", "-", "--stdin-filename", "src/a.py", input="x = 1\n")
    assert engine.asked["options"].stdin == ("src/a.py", b"x = 1\n")
    assert engine.asked["paths"] == (Path("src/a.py"),)


def test_no_fix_unless_asked(engine: Any, invoke: Any) -> None:
    invoke("check", "--unsafe-fixes")
    assert "write" not in engine.asked


@pytest.mark.parametrize(
    ("args", "grades", "write"),
    [
        (["--fix"], {"safe"}, True),
        (["--fix", "--unsafe-fixes"], {"safe", "unsafe"}, True),
        (["--fix-only"], {"safe"}, True),
        (["--diff"], {"safe"}, False),
        (["--fix", "--diff"], {"safe"}, False),
    ],
)
def test_fix(engine: Any, invoke: Any, args: list[str], grades: set[str], write: bool) -> None:
    invoke("check", *args)
    assert (engine.asked["grades"], engine.asked["write"]) == (grades, write)


def test_all_fixed_is_clean(engine: Any, invoke: Any) -> None:
    engine.outcome.after = CLEAN
    assert invoke("check", "--fix").exit_code == 0
    assert invoke("check", "--fix", "--exit-non-zero-on-fix").exit_code == 1


def test_what_fixes_left_is_reported(invoke: Any) -> None:
    result = invoke("check", "--fix")
    assert result.exit_code == 1
    assert "(2 fixed, 1 remaining)" in result.stderr


def test_fix_only_reports_nothing(invoke: Any) -> None:
    result = invoke("check", "--fix-only", "--show-fixes")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == (
        "Fixed 2 problems:\n- train.py:\n    2 x XLA005\nLeft 1 problem:\n- 1 of 3 x XLA005: by hand\n"
    )


def test_diff(engine: Any, invoke: Any) -> None:
    result = invoke("check", "--diff")
    assert result.exit_code == 1
    assert result.stdout == "--- train.py\n+++ train.py\n@@ -1 +1 @@\n-a\n+b\n"
    engine.outcome.files = ()
    assert invoke("check", "--diff").exit_code == 0


def test_fixed_stdin_goes_to_stdout_and_findings_to_stderr(engine: Any, invoke: Any) -> None:
    engine.outcome.stdin = SourceText("stdin.py", "fixed\n")
    result = invoke("check", "-", "--fix", input="x\n")
    assert result.stdout == "fixed\n"
    assert "XLA005" in result.stderr


def test_a_file_that_could_not_be_fixed_is_a_failure(engine: Any, invoke: Any) -> None:
    engine.outcome.problems = ("train.py: read-only",)
    result = invoke("check", "--fix", "-q")
    assert (result.exit_code, "train.py: read-only" in result.stderr) == (2, True)


def test_the_estimate_uses_the_settings(engine: Any, invoke: Any) -> None:
    engine.settings = Settings(effort=EffortSettings(levels={"trivial": (600, 0)}))
    assert "likely 10 h" in invoke("check").stderr


def test_fixable_findings_are_marked_as_asked(engine: Any, invoke: Any) -> None:
    engine.report = a_report(a_finding(fix=a_fix("unsafe")))
    assert "[*]" not in invoke("check", "--output-format", "concise").stdout
    assert "[*]" in invoke("check", "--output-format", "concise", "--unsafe-fixes").stdout


def test_a_preview_rule_that_is_selected_without_preview_is_named(engine: Any, invoke: Any) -> None:
    engine.previewed = ("ACME001",)
    assert '"ACME001" selects preview rules only, and these run with --preview' in invoke("check").stderr
