from __future__ import annotations

import re
from dataclasses import replace
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from making import a_finding, a_fix, a_report
from xlamig.config.settings import EffortSettings
from xlamig.effort.estimate import estimate
from xlamig.effort.plan import Plan
from xlamig.effort.tables import table
from xlamig.findings import Concern, FileReport, Finding, Part, Report, SkippedFile


def plan(*findings: Finding, **settings: object) -> Plan:
    return estimate(a_report(*findings, sites=10, lines=100), EffortSettings(**settings))  # type: ignore[arg-type]


def test_the_verdict_says_that_files_could_not_be_read() -> None:
    unread = a_finding("XLA000", "info", severity="error", filename="a.py", job="syntax")
    other = replace(unread, filename="b.py", aside="job")
    made = plan(replace(unread, also=(other,)))
    assert made.verdict_reason.endswith("; 2 files could not be read and may need more")
    template = plan(a_finding("XLA000", "info", severity="info"))
    assert "could not be read" not in template.verdict_reason


def minutes(*findings: Finding, **settings: object) -> float:
    return plan(*findings, **settings).hours.likely * 60


def test_nothing_costs_nothing() -> None:
    made = plan()
    assert (made.hours.likely, made.hours.high, made.terms, made.verdict) == (0, 0, (), "nothing")


def test_where_nothing_uses_torch_there_is_no_work_on_top() -> None:
    without = estimate(Report("torch_xla", (FileReport("a.py", lines=3),)), EffortSettings())
    assert (without.verdict, without.fixed_low, without.fixed_high) == ("nothing", 0, 0)
    used = estimate(Report("torch_xla", (FileReport("a.py", lines=3, sites=1),)), EffortSettings())
    assert (used.verdict, used.fixed_low) == ("ready", EffortSettings().overhead_low_hours)
    module = Part("Net", "class", ("torch.nn.Module",), (), (), (), 1, 2)
    inherits = estimate(Report("torch_xla", (FileReport("a.py", parts=(module,)),)), EffortSettings())
    assert inherits.verdict == "ready"


def test_an_info_adds_nothing_and_is_listed_as_optional() -> None:
    made = plan(a_finding("XLA101", "complex", severity="info"))
    assert made.hours.likely == 0
    assert [(item.code, item.hours.likely > 0) for item in made.optional] == [("XLA101", True)]


def test_level_info_is_no_work_at_all() -> None:
    made = plan(a_finding(level="info"))
    assert (made.hours.likely, made.optional, made.verdict) == (0, (), "ready")


def test_one_site_costs_offset_and_site() -> None:
    assert minutes(a_finding(level="complex")) == pytest.approx(45 + 20)


def test_sites_of_a_rule_get_cheaper() -> None:
    findings = [a_finding(level="complex", row=row) for row in range(1, 9)]
    assert minutes(*findings) == pytest.approx(45 + 20 * 8**0.68)


def test_confidence_weighs_offset_and_sites() -> None:
    assert minutes(a_finding(level="complex", confidence="likely")) == pytest.approx(
        45 * 0.8 + 20 * 0.8**0.68
    )


def test_a_group_pays_its_largest_offset_once() -> None:
    findings = [
        a_finding("XLA001", "trivial", group="device"),
        a_finding("XLA003", "simple", group="device", row=2),
    ]
    assert minutes(*findings) == pytest.approx(20 + 1.5 + 5)


def test_a_statement_costs_once_under_the_rule_that_asks_for_most() -> None:
    sync = a_finding("XLA101", "complex", severity="warning", statement="x = y.cuda().item()")
    call = a_finding("XLA002", "trivial", severity="error", statement="x = y.cuda().item()")
    assert [term.code for term in plan(sync, call).terms] == ["XLA101"]


def test_the_same_snippet_in_one_function_is_one_site() -> None:
    made = plan(*(a_finding(row=row, statement="torch.cuda.synchronize()", scope="fit") for row in (3, 9)))
    assert made.terms[0].sites == 1


@pytest.mark.parametrize(("unit", "sites"), [("site", 4), ("function", 3), ("file", 2), ("repo", 1)])
def test_units(unit: str, sites: int) -> None:
    places = [("a.py", "f", 1), ("a.py", "f", 2), ("a.py", "g", 3), ("b.py", "f", 1)]
    findings = [a_finding(unit=unit, filename=name, scope=scope, row=row) for name, scope, row in places]
    assert plan(*findings).terms[0].sites == sites


def test_a_dependency_counts_once_whatever_imports_it() -> None:
    uses = [("apex", "a.py"), ("apex", "b.py"), ("xformers", "a.py")]
    findings = [
        a_finding(unit="dependency", message=f"`{name}` has no XLA build", filename=file)
        for name, file in uses
    ]
    assert plan(*findings).terms[0].sites == 2


def test_a_safe_fix_leaves_only_the_reading() -> None:
    hours = plan(*(a_finding(row=row, level="simple", fix=a_fix("safe")) for row in (1, 2))).hours
    assert hours.after_fix * 60 == pytest.approx(2 * 0.5)


def test_an_unsafe_fix_leaves_a_quarter_and_only_on_request() -> None:
    hours = plan(a_finding(level="complex", fix=a_fix("unsafe"))).hours
    assert hours.after_fix == hours.likely
    assert hours.after_unsafe_fix * 60 == pytest.approx(45 + 20 * 0.25)


def test_a_displayed_fix_saves_nothing() -> None:
    hours = plan(a_finding(fix=a_fix("display"))).hours
    assert hours.after_fix == hours.likely == hours.after_unsafe_fix


def test_a_single_certain_rule_ranges_from_half_to_double() -> None:
    hours = plan(a_finding(level="complex")).hours
    assert (hours.low, hours.high) == pytest.approx((hours.likely / 2, hours.likely * 2))


def test_less_sure_is_wider_and_many_rules_keep_a_floor() -> None:
    unsure = plan(a_finding(level="complex", confidence="possible")).hours
    assert unsure.high / unsure.likely == pytest.approx(4)
    many = plan(*(a_finding(f"XLA{n}", "complex", row=n) for n in range(100, 140))).hours
    assert many.high / many.likely == pytest.approx(1.25)


def test_levels_and_exponent_can_be_set() -> None:
    findings = [a_finding(level="simple", row=row) for row in (1, 2)]
    assert minutes(*findings, levels={"simple": (0, 7)}, exponent=1.0) == pytest.approx(14)


def test_the_first_site_of_a_class_or_function_takes_more_lines_than_the_others() -> None:
    findings = [a_finding("XLA1", "complex", row=1), *(a_finding(level="complex", row=row) for row in (2, 3))]
    assert plan(*findings).hours.lines_to_change == 30 + 2 * 1
    assert plan(*findings, lines={"complex": 5}, lines_further=2).hours.lines_to_change == 5 + 2 * 2
    method = replace(findings[0], scope="Trainer.step")
    assert plan(method, replace(findings[1], scope="Trainer.save")).hours.lines_to_change == 30 + 1
    for elsewhere in (replace(method, filename="b.py"), replace(method, scope="main")):
        assert plan(method, elsewhere).hours.lines_to_change == 2 * 30


def test_a_script_takes_few_lines() -> None:
    assert plan(a_finding(level="complex", filename="run.sh")).hours.lines_to_change == 1
    assert plan(a_finding(level="complex", filename="run.ipynb")).hours.lines_to_change == 30


def test_lines_to_make_it_fast_are_apart() -> None:
    found = plan(a_finding(level="complex"), a_finding("XLA2", "complex", phase="fast", row=2))
    assert (found.hours.lines_to_change, found.hours.lines_fast) == (30, 30)
    assert (found.lines.low, found.lines.likely, found.lines.high) == (10, 40, 120)
    assert (found.lines.fixed, found.lines.fast) == (10, 30)


def test_tests_and_examples_weigh_less_and_are_shown_apart() -> None:
    findings = [
        a_finding(level="complex", filename=name)
        for name in ("a.py", "tests/a.py", "b/test_a.py", "examples/a.py")
    ]
    made = plan(*findings)
    assert made.terms[0].expected_sites == pytest.approx(1 + 3 * 0.25)
    assert [(side.name, side.sites) for side in made.sides] == [("tests", 2), ("examples", 1)]
    assert made.sides[0].hours.likely * 60 == pytest.approx(20 * (1.75**0.68 - 1.25**0.68))
    assert plan(*findings, tests_weight=1.0).terms[0].expected_sites == pytest.approx(3.25)


def test_where_there_are_only_examples_they_are_the_program() -> None:
    made = plan(a_finding(level="complex", filename="examples/train.py"))
    assert (made.terms[0].expected_sites, made.sides) == (1, ())


def test_the_chance_of_a_confidence_can_be_set() -> None:
    assert minutes(a_finding(level="complex", confidence="likely"), confidence={"likely": 1.0}) == 65


def test_work_waits_for_what_it_needs() -> None:
    device = a_finding("XLA001", group="device-placement")
    step = a_finding("XLA401", group="step-boundary", phase="correct", row=2)
    read = a_finding("XLA101", "complex", group="host-reads", phase="fast", row=3)
    items = {item.code: item for phase in plan(device, step, read).phases for item in phase.items}
    assert items["XLA401"].needs == ("XLA001",)
    assert items["XLA401"].unblocks == ("XLA101",)
    assert items["XLA001"].needs == ()


def test_dependencies_are_of_groups_that_rules_have_and_have_no_cycle() -> None:
    needs = table("work")["needs"]
    pages = (Path(__file__).parents[2] / "rules").glob("*/XLA*.md")
    known = {name for page in pages for name in re.findall(r'group = "([^"]+)"', page.read_text("utf-8"))}
    assert {*needs, *(name for names in needs.values() for name in names)} <= known
    TopologicalSorter(needs).prepare()


def test_a_rule_whose_statement_another_rule_pays_for_is_still_in_the_plan() -> None:
    sync = a_finding("XLA101", "complex", severity="warning", statement="s")
    call = a_finding("XLA002", "trivial", severity="error", statement="s")
    items = plan(sync, call).phases[0].items
    assert [(item.code, item.findings, item.sites) for item in items] == [("XLA101", 1, 1), ("XLA002", 1, 0)]


def test_phases_come_in_working_order() -> None:
    made = plan(a_finding("XLA101", phase="fast"), a_finding("XLA001", phase="run", row=2))
    assert [phase.phase for phase in made.phases] == ["run", "correct", "scale", "fast"]
    assert [len(phase.items) for phase in made.phases] == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("findings", "verdict"),
    [
        ([a_finding()], "easy"),
        ([a_finding(f"XLA{n}", "complex", row=n) for n in range(100, 110)], "moderate"),
        ([a_finding(level="redesign")], "hard"),
        ([a_finding(level="redesign", confidence="possible")], "easy"),
        ([a_finding(f"XLA{n}", "complex", row=n) for n in range(100, 200)], "hard"),
        ([a_finding(level="rearchitect", help="write it in Pallas")], "hard"),
        ([a_finding(level="rearchitect")], "blocked"),
        ([a_finding(level="rearchitect", severity="warning")], "hard"),
    ],
)
def test_verdict(findings: list[Finding], verdict: str) -> None:
    assert plan(*findings).verdict == verdict


def test_one_noisy_rule_is_named_not_capped() -> None:
    noisy = [a_finding("XLA101", "complex", row=row) for row in range(1, 31)]
    made = plan(*noisy, a_finding("XLA001", row=40))
    assert made.dominant is not None
    assert (made.dominant.code, made.dominant.sites) == ("XLA101", 30)


def test_few_sites_or_a_redesign_dominate_without_a_warning() -> None:
    assert plan(a_finding("XLA101", "complex")).dominant is None
    assert plan(*(a_finding("XLA701", "redesign", row=row) for row in range(1, 31))).dominant is None


def test_coverage() -> None:
    findings = [
        a_finding(row=1, fix=a_fix("safe")),
        a_finding("XLA101", row=1),
        a_finding(row=2, fix=a_fix("safe")),
    ]
    coverage = plan(*findings).coverage
    assert (coverage.sites, coverage.unchanged, coverage.fixable, coverage.manual) == (10, 8, 1, 1)


def test_skipped_files_are_not_covered() -> None:
    skipped = FileReport("b.py", skipped=SkippedFile("b.py", "too large"))
    coverage = estimate(
        Report("torch_xla", (FileReport("a.py", lines=3), skipped)), EffortSettings()
    ).coverage
    assert (coverage.files, coverage.lines) == (1, 3)


def test_fixed_work_stands_apart() -> None:
    made = plan(a_finding(), overhead_low_hours=1, overhead_high_hours=2)
    assert (made.fixed_low, made.fixed_high) == (1, 2)
    assert made.hours.high < 1


@pytest.mark.parametrize("unit", ["site", "function", "file", "repo", "dependency"])
def test_a_place_that_two_rules_report_is_paid_for_once_whatever_they_count(unit: str) -> None:
    first = a_finding("XLA101", "complex", unit=unit)
    second = a_finding("XLA002", "simple", statement="another one")
    assert [term.code for term in plan(first, second).terms] == ["XLA101"]


def test_a_statement_that_two_rules_report_is_compared_by_the_rule_that_asks_for_most() -> None:
    both = [a_finding("XLA001"), a_finding("XLA005")]
    again = a_finding("XLA001", scope="fit")
    assert minutes(*both, again) == minutes(*both[::-1], again) == minutes(again)


def test_a_rule_with_more_places_than_another_keeps_its_own_effort() -> None:
    launcher = [a_finding("XLA706", "simple", unit="repo", row=row) for row in (1, 2)]
    device = a_finding("XLA001", "complex", row=1)
    assert {term.code for term in plan(*launcher, device).terms} == {"XLA706", "XLA001"}


def test_stacks_come_once_with_what_concerns_them() -> None:
    concern = Concern("pad to one length", ("XLA904", "XLA307"))
    stack = {"group": "stacks", "message": "a runs", "severity": "info", "concerns": (concern,)}
    runs = [a_finding("XLA612", "info", filename=name, **stack) for name in ("a.py", "b.py")]
    stuck = a_finding("XLA608", message="b does not", group="frameworks")
    found = plan(*runs, stuck, *(a_finding("XLA904", row=row) for row in (2, 9)))
    assert [(stack.message, stack.concerns) for stack in found.stacks] == [
        ("b does not", ()),
        ("a runs", ("pad to one length (2 x XLA904)",)),
    ]


def test_other_findings_are_no_stacks() -> None:
    assert plan(a_finding(severity="info")).stacks == ()
