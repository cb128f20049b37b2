"""The order of a report, and the end of a long one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from making import a_finding, a_fix, an_edit, span_of
from xlamig.cli import xlamig
from xlamig.findings import Effort, FileReport, Finding, Report
from xlamig.report import blocks, render
from xlamig.report.context import Context
from xlamig.report.jobs import FROM, jobs, lines
from xlamig.report.order import in_order
from xlamig.report.screen import screenful

TEXT = "x = 1\ny = 2\nz = 3\n"


def found(code: str, group: str = "", level: Any = "simple", row: str = "x", **more: Any) -> Finding:
    finding = a_finding(code, place=span_of(TEXT, row), **more)
    return replace(finding, effort=Effort(level, "site", group or code, more.get("phase", "run")))


def report(*findings: Finding) -> Report:
    names = sorted({finding.filename for finding in findings})
    return Report(
        "torch_xla", tuple(FileReport(n, tuple(f for f in findings if f.filename == n)) for n in names)
    )


def test_sorts_by_severity_then_phase_then_how_often_a_place_runs() -> None:
    shown = [
        found("XLA001", severity="error", frequency="step"),
        found("XLA002", severity="error"),
        found("XLA401", severity="error", phase="correct", frequency="step"),
        found("XLA101", severity="warning", frequency="step"),
        found("XLA102", severity="warning", frequency="once"),
        found("XLA905", severity="info", frequency="step"),
    ]
    assert in_order(report(*reversed(shown)), "severity") == shown
    assert in_order(report(*reversed(shown)), "path") == shown[::-1]


def test_equal_findings_stay_in_the_order_of_their_places() -> None:
    same = [found("XLA001", filename=name, row=row) for name in ("a.py", "b.py") for row in "xyz"]
    assert in_order(report(*same), "severity") == same


def test_a_format_for_machines_keeps_the_order_of_places() -> None:
    mixed = report(found("XLA905", severity="info"), found("XLA001", severity="error", row="y"))
    codes = [line for line in render("json-lines", mixed, Context()) if "XLA" in line]
    assert "XLA905" in codes[0] and "XLA001" in codes[1]


@pytest.mark.parametrize("name", ["concise", "grouped"])
def test_one_line_formats_show_the_severity(name: str) -> None:
    text = "\n".join(render(name, report(found("XLA001", severity="error")), Context()))
    assert " error XLA001 " in text


def test_the_hardest_errors_decide_a_port() -> None:
    easy = [found("XLA001", "device-placement", "trivial", severity="error")] * 30
    hard = found("XLA603", "kernels", "redesign", severity="error")
    steps = found("XLA401", "step-boundary", severity="error", frequency="step")
    slow = found("XLA101", "host-reads", "complex", severity="warning", frequency="step")
    info = found("XLA905", "data-loading", severity="info")
    order = [job.group for job in jobs(report(*easy, info, slow, steps, hard))]
    assert order == ["kernels", "step-boundary", "device-placement", "host-reads"]


def test_a_job_names_the_command_that_does_it() -> None:
    edit = an_edit(place=span_of(TEXT, "x"))
    safe = found("XLA001", "g", severity="error", fix=a_fix("safe", edit))
    unsafe = found("XLA002", "g", severity="error", fix=a_fix("unsafe", edit))
    by_hand = found("XLA003", "g", severity="error")
    (one,), (two,), (three,) = (jobs(report(*group)) for group in ([safe], [safe, unsafe], [by_hand]))
    assert one.command == "--select XLA001 --fix"
    assert two.command == "--select XLA001,XLA002 --diff --unsafe-fixes"
    assert three.command == "--select XLA003"


def test_the_command_of_a_job_names_the_rules_of_all_its_places() -> None:
    edit = an_edit(place=span_of(TEXT, "x"))
    info = found("XLA103", "g", severity="info")
    other = found("XLA102", "g", severity="warning", fix=a_fix("safe", edit))
    apart = found("XLA307", "h", severity="warning")
    (one,) = jobs(report(found("XLA101", "g", severity="warning", also=(other, info, apart))))
    assert one.command == "--select XLA101,XLA102 --fix"


def test_only_a_long_report_names_its_jobs() -> None:
    error = found("XLA001", "device-placement", severity="error")
    assert not list(lines(report(*[error] * (FROM - 1)), "xlamig check ."))
    _, line = lines(report(*[error] * FROM), "xlamig check .")
    assert line == "  1. device placement  21 errors  xlamig check . --select XLA001"


def test_a_listing_ends_after_a_screenful_but_never_before_the_first_finding() -> None:
    many = report(*(found(code, row=row) for code in ("XLA001", "XLA101", "XLA102") for row in "xyz"))
    shown = [*screenful(blocks("concise", many, Context()), 15, "xlamig check .")]
    assert len(shown) == 4 and shown[-1] == "... 6 more: `--all`, or `xlamig check . --select XLA1`"
    assert len([*screenful(blocks("concise", many, Context()), 1, "xlamig check .")]) == 2
    assert len([*screenful(blocks("concise", many, Context()), 90, "xlamig check .")]) == 9


def test_a_piped_listing_is_whole(tmp_path: Path) -> None:
    functions = (f"def f{i}(x{i}):\n    x{i}.data_ptr()\n" for i in range(60))
    (tmp_path / "a.py").write_text("import torch\n" + "".join(functions))
    words = ["check", "--isolated", "-n", "-j1", "--output-format", "concise", str(tmp_path)]
    run = CliRunner().invoke(xlamig, words)
    assert run.stdout.count("XLA016") == 60 and "more:" not in run.stdout
    assert "What decides this port, in this order:" in run.stderr


def test_a_line_of_the_concise_format_counts_the_places_of_the_job(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n" + "torch.cuda.synchronize()\n" * 3)
    words = ["check", "--isolated", "-n", "-j1", str(tmp_path), "--output-format"]
    (line,) = CliRunner().invoke(xlamig, [*words, "concise"]).stdout.splitlines()
    assert line.endswith("on a TPU host (2 more places)")
    assert len(CliRunner().invoke(xlamig, [*words, "github"]).stdout.splitlines()) == 3
