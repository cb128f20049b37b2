from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_books import MATCH, TEXT, VERDICT, api, arg, book, guard, judge, page, reported

from xlamig.facts import ToolEvent, Why
from xlamig.findings import Finding, RuleError
from xlamig.rulebook import Judgement, Rulebook
from xlamig.rulebook.judge import NOT_MEASURED
from xlamig.source.text import SourceText

ONLY = MATCH + VERDICT


def the(judgements: tuple[Judgement, ...]) -> Finding:
    (judgement,) = judgements
    return judgement.finding


def verdict(severity: str, when: str = "", **keys: Any) -> str:
    lines = [
        f"{key.replace('_', '-')} = {value!r}".replace("True", "true").replace("False", "false")
        for key, value in keys.items()
    ]
    head = VERDICT.replace('severity = "error"', f'severity = "{severity}"')
    return head + (f"when = {{ {when} }}\n" if when else "") + "\n".join(lines) + "\n"


def test_a_finding_says_it_all(tmp_path: Path) -> None:
    rules = book(
        tmp_path,
        page(
            ONLY, message="`{spelled}` fails", help="write {name}", effort={"level": "simple", "group": "g"}
        ),
    )
    finding = the(judge(rules, api(start=14, end=18, statement=(14, 18), scope="fit", frequency="step")))
    assert (finding.code, finding.name, finding.target) == ("XLA001", "a-rule", "torch_xla")
    assert (finding.severity, finding.mechanism, finding.confidence) == ("error", "error", "certain")
    assert (finding.message, finding.help) == ("`torch.f` fails", "write torch.f")
    assert (finding.filename, finding.cell, finding.scope, finding.frequency) == (
        "train.py",
        None,
        "fit",
        "step",
    )
    assert (finding.place.location.row, finding.place.location.column) == (2, 1)
    assert finding.statement == "g(x)"
    assert (finding.effort.level, finding.effort.unit, finding.effort.group) == ("simple", "site", "g")
    assert not finding.effort.optional
    assert finding.reasons == () and finding.fix is None


def test_an_unmatched_fact_is_silent(tmp_path: Path) -> None:
    rules = book(tmp_path, page())
    assert reported(rules, api("torch.g"), api("torch")) == []


# ----------------------------------------------------------------------------------- verdicts


def test_the_first_verdict_that_fits_wins(tmp_path: Path) -> None:
    rows = [verdict("info", "frequency = 'once'"), verdict("warning", "frequency = 'step'"), verdict("error")]
    for order, expected in ((rows, "warning"), (rows[::-1], "error")):
        rules = book(tmp_path, page(MATCH + "".join(order)))
        assert the(judge(rules, api(frequency="step"))).severity == expected


def test_no_verdict_is_silence(tmp_path: Path) -> None:
    rules = book(tmp_path, page(MATCH + verdict("info", "frequency = 'once'")))
    assert reported(rules, api(frequency="step")) == []


def test_each_target_has_its_verdicts(tmp_path: Path) -> None:
    tpu = verdict("info").replace("torch_xla", "torch_tpu")
    text = page(MATCH + VERDICT + tpu)
    assert the(judge(book(tmp_path, text), api())).severity == "error"
    finding = the(judge(book(tmp_path, text, target="torch_tpu"), api()))
    assert (finding.severity, finding.target) == ("info", "torch_tpu")


def test_a_verdict_overrides_the_pages_words_and_level(tmp_path: Path) -> None:
    text = page(MATCH + verdict("error", message="m", help="h", effort="complex"), help="page")
    finding = the(judge(book(tmp_path, text), api()))
    assert (finding.message, finding.help, finding.effort.level) == ("m", "h", "complex")


def test_a_preview_verdict_is_passed_over_without_preview(tmp_path: Path) -> None:
    text = page(MATCH + verdict("error", status="preview") + verdict("info"))
    assert the(judge(book(tmp_path, text), api())).severity == "info"
    assert the(judge(book(tmp_path, text, preview=True), api())).severity == "error"


@pytest.mark.parametrize(("preview", "codes"), [(False, []), (True, ["XLA001"])])
def test_a_preview_rule_needs_preview(tmp_path: Path, preview: bool, codes: list[str]) -> None:
    assert reported(book(tmp_path, page(status="preview"), preview=preview), api()) == codes


@pytest.mark.parametrize(
    ("stated", "keys", "expected"),
    [
        ("certain", {"confidence": "likely"}, "likely"),
        ("possible", {"confidence": "likely"}, "possible"),
        ("certain", {"measured": False}, "likely"),
        ("possible", {"measured": False}, "possible"),
        ("certain", {"measured": True}, "certain"),
    ],
)
def test_confidence_is_the_least_of_all(
    tmp_path: Path, stated: str, keys: dict[str, Any], expected: str
) -> None:
    rules = book(tmp_path, page(MATCH + verdict("error", **keys)))
    assert the(judge(rules, api(confidence=stated))).confidence == expected


FROM_ROW = '[[match]]\nfact = "api-use"\ntable = "t"\n[[verdict]]\ntarget = "torch_xla"\nfrom-row = true\n'
TABLE = """
[row."torch.f"]
torch_xla = { severity = "info", mechanism = "no-op", message = "{name} is empty", measured = false }
[row."torch.g"]
torch_xla = { severity = "error", mechanism = "slow" }
[row."torch.h"]
torch_tpu = { severity = "error", mechanism = "slow" }
"""


def test_a_verdict_from_the_row(tmp_path: Path) -> None:
    rules = book(tmp_path, page(FROM_ROW + 'help = "h"\n'), tables={"api/t.toml": TABLE})
    first = the(judge(rules, api()))
    assert (first.severity, first.mechanism, first.message, first.help) == (
        "info",
        "no-op",
        "torch.f is empty",
        "h",
    )
    assert first.confidence == "likely"
    second = the(judge(rules, api("torch.g")))
    assert (second.severity, second.message, second.confidence) == ("error", "found it", "certain")


def test_a_row_that_says_nothing_of_the_target_is_silent(tmp_path: Path) -> None:
    later = FROM_ROW + verdict("error")
    rules = book(tmp_path, page(later), tables={"api/t.toml": TABLE})
    assert reported(rules, api("torch.h")) == []


# ------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{name} {via}", "torch.f call"),
        ("backend={args.backend}", "backend=nccl"),
        ("{args.size}", "n + 1"),
        ("`{args.none}` fails here", "fails here"),
        ("use {scope}, now", "use, now"),
        ("at the end: {scope}", "at the end"),
        ("{{k: v}} {k: v} {name}", "{k: v} {k: v} torch.f"),
        ("f{{name}}", "f{name}"),
        ("{proofs.device}.type", "d.type"),
        ("{context}", "a, b"),
    ],
)
def test_placeholders(tmp_path: Path, template: str, filled: str) -> None:
    arguments = (arg("backend", "nccl"), arg("size", "n + 1", "expression"))
    fact = api(args=arguments, proofs={"device": "d"}, context=frozenset({"b", "a"}))
    assert the(judge(book(tmp_path, page(message=template)), fact)).message == filled


def test_placeholders_of_a_row(tmp_path: Path) -> None:
    table = '[row."torch.f"]\nalternative = "torch.x"\nsince = { torch_xla = "2.7" }\n[row."torch.g"]\n'
    match = '[[match]]\nfact = "api-use"\ntable = "t"\n'
    text = page(match + VERDICT, message="`{row.alternative}` since {row.since.torch_xla}")
    rules = book(tmp_path, text, tables={"api/t.toml": table})
    assert [j.finding.message for j in judge(rules, api(), api("torch.g", 6, 8))] == [
        "`torch.x` since 2.7",
        "since",
    ]


def test_reasons_come_in_order(tmp_path: Path) -> None:
    other = SourceText("other.py", "x\nhelper()\n")
    text = page(MATCH + verdict("error", reason="{name} does it", measured=False))
    fact = api(
        reasons=(Why("read here", (0, 1)), Why("in general")),
        related=(Why("called there", (2, 8), "other.py"), Why("or there", (0, 1), "gone.py")),
        guards=(guard("cuda", start=14),),
    )
    views = {"other.py": other}
    reasons = the(judge(book(tmp_path, text), fact, views=views.get)).reasons
    assert [(r.message, r.filename, r.place.location.row if r.place else None) for r in reasons] == [
        ("read here", "train.py", 1),
        ("in general", "train.py", None),
        ("called there", "other.py", 2),
        ("or there", "gone.py", None),
        ("torch.f does it", "train.py", 1),
        ("a TPU does not run this: `torch.cuda.is_available()` is false there (line 2)", "train.py", 2),
        (NOT_MEASURED, "train.py", 1),
    ]


def test_a_reason_that_a_line_gives_twice_is_said_once(tmp_path: Path) -> None:
    twice = (Why("tied here", (0, 1)), Why("tied here", (2, 3)), Why("tied here", (14, 15)))
    reasons = the(judge(book(tmp_path, page()), api(reasons=twice))).reasons
    assert [(r.message, r.place and r.place.location.row) for r in reasons] == [
        ("tied here", 1),
        ("tied here", 2),
    ]


# ------------------------------------------------------------------------------------- guards

LOWERING = {
    "torch_xla": ["cuda", "other-device", "no-xla", "optional-import", "package", "hasattr", "version"],
    "torch_tpu": ["cuda", "other-device", "xla", "optional-import", "package", "hasattr", "version"],
}


def on(target: str, **keys: Any) -> str:
    return page(MATCH + VERDICT.replace("torch_xla", target), **keys)


@pytest.mark.parametrize(("target", "kind"), [(t, kind) for t, kinds in LOWERING.items() for kind in kinds])
def test_a_guard_that_the_target_need_not_enter_lowers(tmp_path: Path, target: str, kind: str) -> None:
    finding = the(judge(book(tmp_path, on(target), target=target), api(guards=(guard(kind, "G"),))))
    assert (finding.severity, finding.effort.optional) == ("info", True)
    assert ("line 1" if kind == "optional-import" else "`G`") in finding.reasons[-1].message


@pytest.mark.parametrize(
    ("kind", "help", "shown"),
    [
        ("cuda", "Use sync()", "Leave it as it is; if a TPU needs this work too, use sync()"),
        ("cuda", "Delete it", "Leave it: a TPU does not run this"),
        ("no-xla", "Use sync()", "Leave it as it is; if a TPU needs this work too, use sync()"),
        ("no-xla", "Drop it", "Leave it: a TPU does not run this"),
        ("hasattr", "Use sync()", "Leave it if the code without it is right; otherwise use sync()"),
        ("package", "Drop it", "Leave it if the code without this package is right; otherwise drop it"),
        (
            "optional-import",
            "Use sync()",
            "Leave it if the code without this import is right; otherwise use sync()",
        ),
        ("package", "If it is used, drop it", "If it is used, drop it"),
        ("version", "Use sync()", "Use sync()"),
    ],
)
def test_help_leaves_code_that_a_tpu_does_not_run(tmp_path: Path, kind: str, help: str, shown: str) -> None:
    text = page(MATCH + VERDICT, help=help)
    assert the(judge(book(tmp_path, text), api(guards=(guard(kind),)))).help == shown


@pytest.mark.parametrize(
    ("kind", "help", "phase", "no_action"),
    [
        ("cuda", "Delete it", "run", True),
        ("no-xla", "Drop it", "scale", True),
        ("cuda", "Use sync()", "run", True),
        ("cuda", "Start one process per chip", "scale", False),
        ("package", "Drop it", "run", False),
    ],
)
def test_nothing_changes_where_a_tpu_never_runs(
    tmp_path: Path, kind: str, help: str, phase: str, no_action: bool
) -> None:
    text = page(MATCH + VERDICT, help=help, phase=phase)
    assert the(judge(book(tmp_path, text), api(guards=(guard(kind),)))).no_action is no_action


def test_a_guard_that_no_tpu_enters_says_more_than_one_that_it_need_not(tmp_path: Path) -> None:
    text = page(MATCH + VERDICT, help="Use sync()")
    finding = the(judge(book(tmp_path, text), api(guards=(guard("package", "P"), guard("cuda", "C")))))
    assert finding.help == "Leave it as it is; if a TPU needs this work too, use sync()"
    assert "`C`" in finding.message


@pytest.mark.parametrize(("target", "kind"), [("torch_xla", "xla"), ("torch_tpu", "no-xla")])
def test_a_guard_that_the_target_enters_changes_nothing(tmp_path: Path, target: str, kind: str) -> None:
    finding = the(judge(book(tmp_path, on(target), target=target), api(guards=(guard(kind),))))
    assert (finding.severity, finding.effort.optional, finding.reasons) == ("error", False, ())


@pytest.mark.parametrize("guarded", ["lower", "silent", "ignore"])
@pytest.mark.parametrize("kind", ["never", "type-checking"])
def test_code_that_never_runs_is_silent(tmp_path: Path, guarded: str, kind: str) -> None:
    assert reported(book(tmp_path, page(guarded=guarded)), api(guards=(guard(kind),))) == []


def test_a_page_can_be_silent_under_guards_or_ignore_them(tmp_path: Path) -> None:
    fact = api(guards=(guard("cuda"),))
    assert reported(book(tmp_path, page(guarded="silent")), fact) == []
    assert reported(book(tmp_path, page(guarded="silent")), api()) == ["XLA001"]
    finding = the(judge(book(tmp_path, page(guarded="ignore")), fact))
    assert (finding.severity, finding.reasons) == ("error", ())


# -------------------------------------------------------------------------------------- fixes

FIXES = ONLY + "".join(
    f'[[fix]]\nstrategy = "{name}"\napplicability = "{grade}"\n{more}\n'
    for name, grade, more in [
        ("accumulate", "safe", 'target = "torch_tpu"'),
        ("accelerator", "safe", 'style = "native"'),
        ("cuda-method", "safe", 'requires = ["p", "q"]'),
        ("device-move", "safe", 'when = { via = "import" }'),
        ("seed-xla", "safe", "when = { args = { a = { absent = true } } }"),
        ("drop-argument", "safe", 'requires = ["p"]\ntitle = "for {name}"\nargument = "fused"'),
        ("display", "display", ""),
    ]
)


def fixes(judgements: tuple[Judgement, ...]) -> list[str]:
    (judgement,) = judgements
    return [fix.strategy for fix in judgement.fixes]


def test_fixes_that_can_be_tried(tmp_path: Path) -> None:
    judged = judge(book(tmp_path, page(FIXES)), api(proofs={"p": ""}, complete=False))
    assert fixes(judged) == ["drop-argument", "display"]
    fix = judged[0].fixes[0]
    assert (fix.title, fix.options) == ("for torch.f", {"argument": "fused"})


@pytest.mark.parametrize("values", [{"confidence": "possible"}, {"guards": (guard("cuda"),)}])
def test_where_it_may_not_run_or_not_be_so_a_fix_is_only_shown(
    tmp_path: Path, values: dict[str, Any]
) -> None:
    assert fixes(judge(book(tmp_path, page(FIXES)), api(proofs={"p": ""}, **values))) == ["display"]


# ------------------------------------------------------------------------------------- places

B_RULE = page(MATCH.replace("torch.f", "torch.g") + VERDICT, code="XLA002", name="b-rule")
C_RULE = page(MATCH.replace("torch.f", "torch.h") + VERDICT, code="XLA003", name="c-rule")


@pytest.mark.parametrize(
    ("span", "codes"),
    [
        ((2, 8), ["XLA001"]),
        ((0, 4), ["XLA001"]),
        ((4, 8), ["XLA001", "XLA002"]),
        ((14, 18), ["XLA001", "XLA002"]),
    ],
)
def test_superseded_only_where_places_overlap(
    tmp_path: Path, span: tuple[int, int], codes: list[str]
) -> None:
    rules = book(tmp_path, page(supersedes=["XLA002"]), B_RULE)
    assert reported(rules, api("torch.g", *span), api()) == codes


def test_a_superseded_finding_supersedes_nothing(tmp_path: Path) -> None:
    b_rule = B_RULE.replace('phase = "run"', 'phase = "run"\nsupersedes = ["XLA001"]')
    c_rule = C_RULE.replace('phase = "run"', 'phase = "run"\nsupersedes = ["XLA002"]')
    rules = book(tmp_path, page(), b_rule, c_rule)
    facts = [api(start=0, end=4), api("torch.g", 2, 8), api("torch.h", 5, 9)]
    assert reported(rules, *facts) == ["XLA001", "XLA003"]
    assert reported(rules, *facts[:2]) == ["XLA002"]


def test_a_rule_that_is_not_selected_supersedes_nothing(tmp_path: Path) -> None:
    rules = book(tmp_path, page(supersedes=["XLA002"]), B_RULE)
    assert reported(rules, api("torch.g"), api(), codes={"XLA002"}) == ["XLA002"]


def test_a_finding_that_is_not_shown_supersedes_none_that_is(tmp_path: Path) -> None:
    rules = book(tmp_path, page(supersedes=["XLA002"]), B_RULE)
    hidden = api(confidence="possible")
    assert reported(rules, api("torch.g"), hidden) == ["XLA001", "XLA002"]
    assert reported(rules, api("torch.g", confidence="possible"), hidden) == ["XLA001"]


def test_one_finding_per_rule_and_span(tmp_path: Path) -> None:
    rules = book(tmp_path, page())
    facts = [api(confidence="likely"), api(), api(confidence="likely"), api(end=5)]
    assert [j.finding.confidence for j in judge(rules, *facts)] == ["certain", "certain"]


def test_findings_come_by_place_whatever_the_order_of_facts(tmp_path: Path) -> None:
    rules = book(tmp_path, page(), B_RULE)
    facts = [api(start=19, end=23), api("torch.g", 0, 4), api(start=0, end=4), api(start=14, end=18)]
    expected = [("XLA001", 0), ("XLA002", 0), ("XLA001", 14), ("XLA001", 19)]
    for order in (facts, facts[::-1]):
        found = [j.finding for j in judge(rules, *order)]
        assert [(f.code, f.place.start) for f in found] == expected


def fingerprints(rules: Rulebook, text: str, *facts: Any) -> list[str]:
    return [j.finding.fingerprint for j in judge(rules, *facts, text=text)]


def test_a_fingerprint_survives_moving_and_reformatting(tmp_path: Path) -> None:
    rules = book(tmp_path, page())
    (before,) = fingerprints(rules, "f( x )", api(end=6))
    (after,) = fingerprints(rules, "\n\n\nf(\n  x )", api(start=3, end=10, statement=(3, 11)))
    assert before == after and len(before) == 16


def test_fingerprints_differ_by_code_scope_statement_and_ordinal(tmp_path: Path) -> None:
    rules = book(tmp_path, page(), B_RULE)
    facts = [api(), api("torch.g"), api(scope="f", end=3, statement=(0, 4)), api(start=1, statement=(14, 18))]
    again = api(start=2, end=3, statement=(0, 4))
    assert len(set(fingerprints(rules, TEXT, *facts, again))) == 5


# ------------------------------------------------------------------------------------ crashes

CRASH_RULE = page(
    '[[match]]\nfact = "tool"\nevent = "rule-crashed"\n' + VERDICT,
    code="XLA099",
    name="rule-crashed",
    message="{subject} raised {detail}",
)


def test_a_rule_that_raises_is_reported_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = book(tmp_path, page(), B_RULE, CRASH_RULE)
    broken = rules._judge.rules["XLA001"]

    def explode(*args: object) -> Any:
        raise ValueError("oh no")

    matches = tuple(replace(match, condition=explode) for match in broken.matches)
    monkeypatch.setitem(broken.__dict__, "matches", matches)
    errors: list[RuleError] = []
    found = judge(rules, api(), api("torch.g"), on_error=errors.append)
    assert [j.finding.message for j in found] == ["XLA001 raised ValueError: oh no", "found it"]
    assert errors == [RuleError("XLA001", "train.py", "ValueError: oh no")]


def test_tool_events_are_facts_like_others(tmp_path: Path) -> None:
    event = ToolEvent(span=(0, 0), statement=(0, 0), event="rule-crashed", subject="XLA005", detail="x")
    assert reported(book(tmp_path, CRASH_RULE), event, text="") == ["XLA099"]
