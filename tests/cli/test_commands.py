from __future__ import annotations

import json
import types
from pathlib import Path
from typing import Any

import pytest

from making import a_finding, a_report
from xlamig.config.book import find_book
from xlamig.config.settings import Settings
from xlamig.findings import Report, RuleError
from xlamig.rulebook.load import load, load_folders


def test_plan_text(invoke: Any) -> None:
    result = invoke("plan")
    assert result.exit_code == 0
    assert result.stdout.startswith("torch_xla: easy (")
    assert "Terms, in minutes" not in result.stdout


def test_rules_json(invoke: Any) -> None:
    documents = json.loads(invoke("rules", "--output-format", "json").stdout)
    assert {"XLA003", "XLA101"} <= {document["code"] for document in documents}


def test_plan_explained(invoke: Any) -> None:
    assert "10 + 1.5 x 1^0.68 = 12" in invoke("plan", "--explain").stdout


def test_plan_json(invoke: Any) -> None:
    document = json.loads(invoke("plan", "--output-format", "json").stdout)
    assert document["effort"]["likely_hours"] == 0.19
    assert (document["placement"], document["economics"]) == ([], None)


def test_plan_of_nothing_warns(engine: Any, invoke: Any) -> None:
    engine.report = Report("torch_xla")
    result = invoke("plan")
    assert (result.exit_code, "no file to check" in result.stderr) == (0, True)


def test_plan_after_a_crashed_rule_fails(engine: Any, invoke: Any) -> None:
    engine.report = a_report(a_finding(), rule_errors=(RuleError("XLA101", "a.py", "KeyError"),))
    result = invoke("plan")
    assert (result.exit_code, "Rule XLA101 failed" in result.stdout) == (2, True)


def test_plan_takes_the_settings_of_check(engine: Any, invoke: Any) -> None:
    invoke("plan", "src", "--target", "torch_tpu")
    assert engine.asked["options"].overrides == {"target": "torch_tpu"}


def test_clean(engine: Any, invoke: Any) -> None:
    assert "1 cache." in invoke("clean", "--cache-dir", "x").stderr
    assert engine.asked["options"].overrides == {"cache-dir": Path("x")}


def test_config_describes_a_key(invoke: Any) -> None:
    assert "Default: 0.68" in invoke("config", "effort.exponent").stdout


def test_config_knows_no_such_key(invoke: Any) -> None:
    result = invoke("config", "targt")
    assert (result.exit_code, 'did you mean "target"?' in result.stderr) == (2, True)


def test_rules_lists_every_rule(invoke: Any) -> None:
    lines = invoke("rules").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [rule.code for rule in load(Settings()).rules]


@pytest.mark.parametrize("word", ["XLA005", "xla005", "cuda-synchronize"])
def test_rule_shows_a_page_by_code_or_name(invoke: Any, word: str) -> None:
    assert invoke("rule", word).stdout.startswith("# cuda-synchronize (XLA005; ")


def test_rule_as_json(invoke: Any) -> None:
    document = json.loads(invoke("rule", "XLA005", "--output-format", "json").stdout)
    assert (document["code"], document["name"]) == ("XLA005", "cuda-synchronize")
    assert "Example" in document["sections"]
    every = json.loads(invoke("rule", "--all", "--output-format", "json").stdout)
    assert document in every


@pytest.mark.parametrize("args", [["XLA998"], ["--all", "XLA005"], ["--output-format", "json"]])
def test_rule_that_is_not_there(invoke: Any, args: list[str]) -> None:
    assert invoke("rule", *args).exit_code == 2


def test_a_new_page_loads(invoke: Any) -> None:
    assert invoke("rule", "new", "XLA123", "my-rule").exit_code == 0
    (rule,) = load_folders([Path("rules")], Settings()).rules
    assert (rule.code, rule.name, rule.targets) == ("XLA123", "my-rule", ("torch_xla", "torch_tpu"))


def test_a_new_page_goes_to_its_family(invoke: Any) -> None:
    invoke("rule", "new", "XLA100", "first-rule", "--dir", "rules/syncs")
    invoke("rule", "new", "XLA101", "second-rule")
    assert Path("rules/syncs/XLA101-second-rule.md").is_file()


def test_a_new_page_of_ones_own(invoke: Any) -> None:
    assert invoke("rule", "new", "ACME001", "my-rule", "--dir", "ours", "--api", "acme.run").exit_code == 0
    (rule,) = load_folders([Path("ours")], Settings()).rules
    assert (rule.code, rule.page.head["match"][0]["name"]) == ("ACME001", "acme.run")
    assert not Path("fixtures").exists()


def test_a_new_page_brings_the_programs_that_the_tests_ask_for(invoke: Any) -> None:
    Path("fixtures").mkdir()
    assert invoke("rule", "new", "XLA123", "my-rule", "--api", "torch.cuda.f").exit_code == 0
    case = Path("fixtures/XLA123/my-rule")
    assert sorted(path.name for path in case.iterdir()) == ["bad.py", "good.py", "silent.py"]
    assert "torch.cuda.f()  # expect: XLA123" in (case / "bad.py").read_text()


@pytest.mark.parametrize(
    "args",
    [
        ["XLA1", "a"],
        ["acme001", "a"],
        ["XLA123", "My_Rule"],
        ["XLA100", "other"],
        ["XLA124", "first-rule"],
        ["XLA124", "other", "--api", "torch"],
    ],
)
def test_no_new_page_under_a_bad_or_taken_name(invoke: Any, args: list[str]) -> None:
    invoke("rule", "new", "XLA100", "first-rule")
    assert invoke("rule", "new", *args).exit_code == 2
    assert len(list(Path().rglob("*.md"))) == 1


def test_a_new_page_says_what_makes_xlamig_read_it(invoke: Any) -> None:
    setting = 'Add `rules = ["ours"]`'
    assert setting in invoke("rule", "new", "ACME001", "my-rule", "--dir", "ours").stderr
    Path("xlamig.toml").write_text('rules = ["ours"]\n')
    told = invoke("rule", "new", "ACME002", "other-rule", "--dir", "ours").stderr
    assert setting not in told and "xlamig rule test ACME002" in told


@pytest.mark.parametrize("below", ["", "device"])
def test_a_rule_of_ones_own_does_not_go_among_xlamigs(invoke: Any, below: str) -> None:
    folder = find_book() / below
    result = invoke("rule", "new", "ACME001", "my-rule", "--dir", str(folder))
    assert (result.exit_code, "your own repository" in result.stderr) == (2, True)
    assert list(folder.rglob("ACME*")) == []


def test_a_plan_over_its_budget_fails_and_says_by_how_much(invoke: Any) -> None:
    result = invoke("plan", "--max-effort", "0.1", "-q")
    assert result.exit_code == 1
    assert "The estimate is <0.1-0.4 h, likely 0.2 h: more than the 0.1 h" in result.stderr
    assert invoke("plan", "--max-effort", "9").exit_code == 0


COSTS = ("--gpu", "h100", "--gpus", "8", "--hours", "2000", "--tpu", "v5e,v6e")


def test_a_plan_with_costs(invoke: Any) -> None:
    found = json.loads(invoke("plan", *COSTS, "--output-format", "json").stdout)["economics"]
    assert [option["tpu"]["key"] for option in found["options"]] == ["v5e", "v6e"]
    assert found["migration"] is None


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--gpu", "h100"), "--gpu needs --hours and --tpu"),
        (("--tpu", "v5e"), "need --gpu"),
        (("--gpu", "k80", "--hours", "1", "--tpu", "v5e"), "no figures for the GPU 'k80'"),
        ((*COSTS, "--price", "v5e=free"), "expected NAME=PRICE"),
        ((*COSTS, "--tpu-utilisation", "50,40,20"), "expected LOW,LIKELY,HIGH"),
    ],
)
def test_half_a_question_about_costs_is_wrong_usage(invoke: Any, args: tuple[str, ...], message: str) -> None:
    result = invoke("plan", *args)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("name", ["markdown", "csv", "tasks"])
def test_a_plan_to_pass_on(invoke: Any, name: str) -> None:
    assert "XLA005" in invoke("plan", "--output-format", name).stdout


def test_a_plan_with_stored_reports(invoke: Any, tmp_path: Path) -> None:
    for name in ("2026-11-01.json", "undated.json"):
        (tmp_path / name).write_text(invoke("plan", "--output-format", "json").stdout, "utf-8")
    shown = invoke("plan", "--history-from", str(tmp_path))
    assert "2026-11-01  plan" in shown.stdout
    assert "  now  " in shown.stdout
    assert "Not in the history: undated.json" in shown.stderr


def test_a_plan_with_its_history(engine: Any, invoke: Any) -> None:
    commit = types.SimpleNamespace(revision="a1b2c3d", date="2026-11-21", subject="a commit")
    engine.history = lambda paths, options, points: iter([(commit, engine.report)] * points)
    shown = invoke("plan", "--history", "--history-points", "3").stdout
    assert shown.count("2026-11-21  a1b2c3d") == 3


@pytest.mark.parametrize("name", ["text", "markdown"])
def test_a_history_cuts_long_subjects(engine: Any, invoke: Any, name: str) -> None:
    commit = types.SimpleNamespace(revision="a1b2c3d", date="2026-11-21", subject="word " * 44)
    engine.history = lambda paths, options, points: iter([(commit, engine.report)] * points)
    shown = invoke("plan", "--history", "--output-format", name).stdout
    assert "word ..." in shown and "word " * 20 not in shown
