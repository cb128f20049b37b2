from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from small_books import MATCH, VERDICT, api, book, page

from xlamig.config.settings import Settings
from xlamig.rulebook import Rulebook
from xlamig.rulebook.filter import codes_for, is_shown, keep
from xlamig.rulebook.places import count_statements_once
from xlamig.rulebook.suppressed import Outcome, apply, silence
from xlamig.source.suppress import suppressions
from xlamig.source.text import SourceText

B_RULE = page(MATCH.replace("torch.f", "torch.g") + VERDICT, code="XLA002", name="b-rule")
GONE = page("", code="XLA009", name="gone", status="withdrawn", successor="XLA002", body="# gone\n")
TPU = page(MATCH + VERDICT.replace("torch_xla", "torch_tpu"), code="XLA011", name="tpu-rule")
ALL = frozenset({"XLA001", "XLA002"})


@pytest.fixture
def rules(tmp_path: Path) -> Rulebook:
    return book(tmp_path, page(), B_RULE, GONE, TPU)


def settle(rules: Rulebook, comment: str, evaluated: frozenset[str] = ALL, **fact: str) -> Outcome:
    source = SourceText("train.py", f"f(x)  {comment}\n")
    judged = rules.judge([api(**fact)], source, evaluated)
    shown = partial(is_shown, settings=Settings())
    return apply(judged, suppressions(source), rules.by_code, evaluated, shown)


@pytest.mark.parametrize("comment", ["", "# XLA001 is fine here", "# noqa: E501"])
def test_what_is_no_suppression_changes_nothing(rules: Rulebook, comment: str) -> None:
    outcome = settle(rules, comment)
    assert [j.finding.code for j in outcome.kept] == ["XLA001"]
    assert (outcome.suppressed, outcome.events) == (0, ())


@pytest.mark.parametrize(
    "comment", ["# noqa: XLA001", "# xlamig: ignore[a-rule] why", "# xlamig: ignore[XLA001]"]
)
def test_a_suppressed_finding_is_counted_and_gone(rules: Rulebook, comment: str) -> None:
    assert settle(rules, comment) == Outcome((), 1, ("XLA001",), ())


def test_a_finding_that_is_hidden_anyway_uses_its_suppression(rules: Rulebook) -> None:
    assert settle(rules, "# noqa: XLA001", confidence="possible") == Outcome((), 0, ("XLA001",), ())


def test_an_unused_code_is_an_event_at_its_place(rules: Rulebook) -> None:
    outcome = settle(rules, "# xlamig: ignore[XLA001, XLA002]")
    (event,) = outcome.events
    assert (event.event, event.subject, event.span) == ("unused-suppression", "XLA002", (31, 37))
    assert event.parts["comment"] == event.statement == (6, 38)
    assert event.parts["removal"] == (29, 37) and event.proofs["removal"] == ""


@pytest.mark.parametrize("code", ["XLA002", "XLA0", "b-rule"])
def test_a_rule_that_did_not_run_has_no_unused_suppressions(rules: Rulebook, code: str) -> None:
    comment = f"# xlamig: ignore[{code}]"
    assert settle(rules, comment, frozenset({"XLA001"}), name="torch.h").events == ()


def test_a_rule_of_the_other_target_has_no_unused_suppressions(rules: Rulebook) -> None:
    assert settle(rules, "# xlamig: ignore[XLA011]", rules.active).events == ()


def test_a_suppression_of_the_tools_own_rules_is_never_unused(tmp_path: Path) -> None:
    tool = '[[match]]\nfact = "tool"\nevent = "unused-suppression"\n' + VERDICT
    rules = book(tmp_path, page(), page(tool, code="XLA090", name="unused-suppression"))
    assert settle(rules, "# xlamig: ignore[XLA090]", rules.active, name="torch.h").events == ()
    (event,) = settle(rules, "# xlamig: ignore[XLA0]", rules.active, name="torch.h").events
    assert event.event == "unused-suppression"


def test_events_can_be_suppressed_too(tmp_path: Path) -> None:
    tool = '[[match]]\nfact = "tool"\nevent = "unused-suppression"\n' + VERDICT
    rules = book(tmp_path, page(), page(tool, code="XLA090", name="unused-suppression"))
    source = SourceText("train.py", "x = 1  # xlamig: ignore[XLA001, XLA090]\n")
    comments = suppressions(source)
    events = apply((), comments, rules.by_code, rules.active).events
    judged = rules.judge(events, source)
    assert [j.finding.code for j in judged] == ["XLA090"]
    assert silence(judged, comments).kept == ()


@pytest.mark.parametrize(
    ("comment", "subject", "detail"),
    [
        ("# xlamig: ignore[XLA0O1]", "XLA0O1", "did you mean"),
        ("# xlamig: ignore[b-rul]", "b-rul", 'did you mean "b-rule"?'),
        ("# noqa: XLA777", "XLA777", "no rule has this code"),
        ("# xlamig: ignore[XLA009]", "XLA009", "withdrawn in favour of XLA002"),
        ("# xlamig: ignore", "# xlamig: ignore", "has to name a code"),
    ],
)
def test_an_unknown_code_is_an_event(rules: Rulebook, comment: str, subject: str, detail: str) -> None:
    outcome = settle(rules, comment)
    (event,) = outcome.events
    assert (event.event, event.subject) == ("unknown-code", subject)
    assert detail in event.detail
    assert len(outcome.kept) == 1


# ------------------------------------------------------------------------- what a report shows


def test_codes_for_a_file() -> None:
    def ignored(filename: str, code: str) -> bool:
        return (filename, code) == ("a.py", "XLA002")

    assert codes_for("a.py", ["XLA001", "XLA002", "XLA003"], {"XLA001", "XLA002"}, ignored) == {"XLA001"}
    assert codes_for("b.py", ["XLA001", "XLA002", "XLA003"], {"XLA001", "XLA002"}, ignored) == ALL


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        (Settings(), 2),
        (Settings(confidence="certain"), 1),
        (Settings(confidence="possible"), 3),
        (Settings(severity="warning"), 2),
        (Settings(severity="error"), 2),
    ],
)
def test_keep_is_about_severity_and_confidence(rules: Rulebook, settings: Settings, count: int) -> None:
    facts = [api(start=i, end=i + 1, confidence=c) for i, c in enumerate(["certain", "likely", "possible"])]
    judged = rules.judge(facts, SourceText("train.py", "f(x)"))
    assert len(keep(judged, settings, ALL, lambda filename, code: False)) == count
    assert keep(judged, settings, {"XLA002"}, lambda filename, code: False) == ()
    assert keep(judged, settings, ALL, lambda filename, code: True) == ()


def test_a_lower_severity_is_hidden(tmp_path: Path) -> None:
    info = page(MATCH + VERDICT.replace('severity = "error"', 'severity = "info"'))
    judged = book(tmp_path, info).judge([api()], SourceText("train.py", "f(x)"))
    assert len(keep(judged, Settings(), ALL, lambda filename, code: False)) == 1
    assert keep(judged, Settings(severity="warning"), ALL, lambda filename, code: False) == ()


def test_one_statement_is_work_once(tmp_path: Path) -> None:
    low = B_RULE.replace('severity = "error"', 'severity = "warning"')
    rules = book(tmp_path, page(), low)
    source = SourceText("train.py", "f(x) + g(x)\nf(x)\n")
    whole = (0, 11)
    facts = [
        api("torch.g", 0, 4, statement=whole),
        api(start=7, end=11, statement=whole),
        api(start=12, end=16),
    ]
    found = count_statements_once(rules.judge(facts, source))
    assert [(j.finding.code, j.finding.effort.optional) for j in found] == [
        ("XLA002", True),
        ("XLA001", False),
        ("XLA001", False),
    ]
    alone = count_statements_once(rules.judge(facts[:1], source))
    assert not alone[0].finding.effort.optional
