"""Invariants of a plan for every set of findings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import a_finding, a_fix, a_range, a_report
from xlamig.config.settings import EffortSettings
from xlamig.effort.estimate import estimate
from xlamig.effort.hours import hours_of
from xlamig.effort.model import ANCHORS, LINES
from xlamig.effort.plan import Plan
from xlamig.findings import FileReport, Finding

SETTINGS = EffortSettings()


@st.composite
def finding(draw: st.DrawFn, **fixed: Any) -> Finding:
    code = draw(st.sampled_from(["XLA001", "XLA005", "XLA101", "XLA601"]))
    grade = draw(st.sampled_from(["safe", "unsafe", "display", None]))
    values: dict[str, Any] = {
        "level": draw(st.sampled_from(list(ANCHORS))),
        "unit": draw(st.sampled_from(["site", "function", "file", "repo", "dependency"])),
        "group": draw(st.sampled_from(["", "device"])),
        "phase": draw(st.sampled_from(["run", "correct", "scale", "fast"])),
        "optional": draw(st.booleans()),
        "severity": draw(st.sampled_from(["error", "warning", "info"])),
        "confidence": draw(st.sampled_from(["certain", "likely", "possible"])),
        "filename": draw(st.sampled_from(["a.py", "b.py", "tests/c.py", "examples/d.py"])),
        "scope": draw(st.sampled_from(["", "fit"])),
        "row": draw(st.integers(1, 5)),
        "fix": a_fix(grade) if grade else None,
    }
    return a_finding(code, **(values | fixed))


FINDINGS = st.lists(finding(), max_size=12)


def plan_of(findings: list[Finding]) -> Plan:
    """Return the plan of a program whose files are all there, whatever is found in them."""
    report = a_report(*findings)
    return estimate(replace(report, files=(FileReport("main.py"), *report.files)), SETTINGS)


def likely(findings: list[Finding]) -> float:
    return plan_of(findings).hours.likely


@given(FINDINGS, finding())
def test_a_duplicate_changes_nothing(findings: list[Finding], twice: Finding) -> None:
    assert likely([*findings, twice, twice]) == pytest.approx(likely([*findings, twice]))


@given(FINDINGS, finding(unit="site"))
def test_one_more_site_never_lowers_and_adds_at_most_its_own_cost(
    findings: list[Finding], new: Finding
) -> None:
    new = replace(new, scope="elsewhere", place=a_range(99))
    anchor = ANCHORS[new.effort.level]
    before, after = likely(findings), likely([*findings, new])
    assert before - 1e-9 <= after <= before + (anchor.offset + anchor.per_site) / 60 + 1e-9


@given(FINDINGS)
def test_moving_a_file_changes_nothing(findings: list[Finding]) -> None:
    moved = [replace(finding, filename=f"src/{finding.filename}") for finding in findings]
    assert likely(moved) == pytest.approx(likely(findings))


@given(FINDINGS, finding(level="trivial", severity="error", optional=False))
def test_the_same_place_under_another_rule_adds_no_second_site(
    findings: list[Finding], twice: Finding
) -> None:
    other = replace(twice, code="XLA999", name="other")
    plan = plan_of([*findings, twice, other])
    alone = plan_of([*findings, twice])
    assert sum(term.sites for term in plan.terms) <= sum(term.sites for term in alone.terms)


@given(FINDINGS)
def test_order_changes_nothing(findings: list[Finding]) -> None:
    assert likely(findings[::-1]) == pytest.approx(likely(findings))


@given(FINDINGS, finding(unit="site"))
def test_one_more_site_never_lowers_the_lines_and_adds_at_most_its_own(
    findings: list[Finding], new: Finding
) -> None:
    new = replace(new, scope="elsewhere", place=a_range(99))
    told, more = plan_of(findings).hours, plan_of([*findings, new]).hours
    most = max(LINES.values())
    assert told.lines_to_change <= more.lines_to_change <= told.lines_to_change + most + 1
    assert told.lines_fast <= more.lines_fast <= told.lines_fast + most + 1


@given(FINDINGS, finding())
def test_a_duplicate_and_a_move_leave_the_lines(findings: list[Finding], twice: Finding) -> None:
    once = plan_of([*findings, twice]).lines
    assert plan_of([*findings, twice, twice]).lines == once
    moved = [replace(one, filename=f"src/{one.filename}") for one in (*findings, twice)]
    assert plan_of(moved).lines == once


NO_WORK = st.one_of(finding(severity="info"), finding(level="info"), finding(optional=True))


@given(FINDINGS, NO_WORK)
def test_info_and_optional_work_add_nothing(findings: list[Finding], extra: Finding) -> None:
    assert likely([*findings, extra]) == pytest.approx(likely(findings))
    assert plan_of([*findings, extra]).lines == plan_of(findings).lines


@given(FINDINGS)
def test_the_range_holds_the_likely_value_and_fixes_only_save(findings: list[Finding]) -> None:
    hours = plan_of(findings).hours
    assert 0 <= hours.low <= hours.likely <= hours.high
    assert hours.lines_to_change >= 0 <= hours.lines_fast
    assert 0 <= hours.after_unsafe_fix <= hours.after_fix + 1e-9
    assert hours.after_fix <= hours.likely + 1e-9


@given(FINDINGS)
def test_phases_families_and_terms_add_up(findings: list[Finding]) -> None:
    plan = plan_of(findings)
    for parts in (plan.phases, plan.families):
        assert sum(part.hours.likely for part in parts) == pytest.approx(plan.hours.likely)
    assert sum(term.minutes for term in plan.terms) == pytest.approx(plan.hours.likely * 60)


@given(FINDINGS)
def test_tests_and_examples_add_a_part_of_the_whole(findings: list[Finding]) -> None:
    plan = plan_of(findings)
    for side in plan.sides:
        assert 0 <= side.hours.low <= side.hours.likely <= side.hours.high
        assert side.hours.likely <= plan.hours.likely + 1e-9


@given(FINDINGS)
def test_an_item_waits_only_for_items_of_the_plan_and_never_for_itself(findings: list[Finding]) -> None:
    items = [item for phase in plan_of(findings).phases for item in phase.items]
    codes = {item.code for item in items}
    for item in items:
        assert {*item.needs, *item.unblocks} <= codes - {item.code}


@given(FINDINGS)
def test_coverage_counts_every_place_once(findings: list[Finding]) -> None:
    coverage = estimate(a_report(*findings, sites=7), SETTINGS).coverage
    parts = coverage.unchanged + coverage.fixable + coverage.unsafe_fixable + coverage.manual
    assert parts == coverage.sites
    assert coverage.unchanged >= 0


@given(FINDINGS)
def test_the_hours_alone_are_those_of_the_plan(findings: list[Finding]) -> None:
    report = a_report(*findings)
    assert hours_of(report, SETTINGS) == estimate(report, SETTINGS).hours
