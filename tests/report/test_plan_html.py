"""The page of a plan: complete, on its own, nothing that it shows breaks out, and it works."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample import REPORT, text_of

from making import a_finding, a_reason, a_report
from xlamig.config.settings import EffortSettings
from xlamig.effort.comparison import Question
from xlamig.effort.economics import weigh
from xlamig.effort.estimate import estimate
from xlamig.effort.plan import Hours, Plan, Point
from xlamig.findings import FileReport, Part, Report
from xlamig.knowledge.hardware import load
from xlamig.report import plan_html
from xlamig.report.context import Context

PLAN = estimate(REPORT, EffortSettings())
POINTS = (
    Point("a1b2c3d", "2026-11-01", "<b>first</b>", PLAN.verdict, PLAN.hours),
    Point("d4e5f6a", "2026-11-21", "second", "ready", Hours()),
)
COSTS = weigh(Question("h100", 8, 2000, ("v5e", "v6e"), hourly_rate=100), PLAN, load())
VOID = {"meta", "br", "input", "rect", "line", "path", "circle", "polygon", "polyline"}
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Page(HTMLParser):
    """Checks that what is opened is closed, and collects what can load or run."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.shown: list[str] = []
        self.loads: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.loads += [(tag, name) for name in given if name in ("src", "srcset") or name.startswith("on")]
        self.links += [given["href"]] if "href" in given else []
        self.ids += [given["id"]] if "id" in given else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.shown.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.shown).split())


def page(plan: Plan | None = None, report: Report = REPORT) -> str:
    made = plan or replace(PLAN, economics=COSTS, history=POINTS)
    return "\n".join(plan_html.render(made, report, Context(text_of), explain=True))


def test_it_is_one_document_that_loads_nothing() -> None:
    text = page()
    found = Page(text)
    assert text.startswith("<!DOCTYPE html>")
    assert found.loads == []
    assert all(
        link.startswith(("https://xlamig.readthedocs.io/", "https://example.org/")) for link in found.links
    )
    assert len(found.ids) == len(set(found.ids))
    assert "url(" not in text
    assert "@import" not in text


def test_only_its_own_script_may_run() -> None:
    text = page()
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])  # type: ignore[index]
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


@pytest.mark.parametrize(
    "part",
    [
        "an estimate, not a promise",
        "CUDA and PyTorch site",
        "Effort by phase",
        "Share of the estimate by file",
        "Findings by family",
        "Coverage",
        "Left to do over time",
        "2026-11-01 a1b2c3d <b>first</b>",
        "Model core",
        "Sizes on a matrix unit",
        "Work, in order",
        "TPU v6e",
        "Assumptions, figures and sources",
        "torch.cuda.synchronize()",
        "this loop is a training step",
        "Terms of the estimate",
    ],
)
def test_it_says(part: str) -> None:
    assert part in Page(page()).text


def test_a_plan_of_nothing_is_a_page_too() -> None:
    empty = Report("torch_tpu")
    found = Page(page(estimate(empty, EffortSettings()), empty))
    assert "Migration to torch_tpu nothing" in found.text
    assert "Placement" not in found.text


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30))
@settings(max_examples=40)
def test_nothing_that_is_shown_breaks_out(text: str) -> None:
    nasty = f"</script><img src=x onerror=alert(1)>{text}"
    finding = a_finding(
        message=nasty, help=nasty, filename=nasty, statement=nasty, reasons=(a_reason(nasty),), name=nasty
    )
    part = Part(nasty, "class", ("torch.nn.Module",), (nasty,), (nasty,), ((nasty, 1),), 1, 2)
    report = a_report(finding)
    report = replace(report, files=(*report.files, FileReport(nasty, parts=(part,))))
    found = Page(page(estimate(report, EffortSettings()), report))
    assert found.loads == []


ACTIONS = """
<script>
const problems = [];
window.addEventListener("error", (event) => problems.push(event.message));
</script>
"""
CHECKS = """
<script>
const told = {problems};
const rows = (id) => [...document.querySelectorAll(`#${id} tbody tr`)].filter((row) => !row.hidden);
const order = () => rows("work").map((row) => Number(row.cells[3].dataset.sort));
const button = document.querySelectorAll("#work th button")[3];
button.click(); told.up = order();
button.click(); told.down = order();
told.sorted = button.closest("th").getAttribute("aria-sort");
const form = document.querySelector("form[data-for=findings]");
const change = (name, value) => {
  const field = form.querySelector(name);
  field.value = value;
  field.dispatchEvent(new Event("input", {bubbles: true}));
};
told.all = rows("findings").length;
change("select", "error"); told.errors = rows("findings").map((row) => row.dataset.severity);
change("input", "no such word"); told.none = rows("findings").length;
told.said = form.querySelector("output").textContent;
told.wide = document.documentElement.scrollWidth - window.innerWidth;
document.body.innerHTML = "";
document.body.textContent = JSON.stringify(told);
</script>
"""


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
@pytest.mark.parametrize("width", [1200, 400])
def test_sorting_and_filters_work_in_a_browser(tmp_path: Path, width: int) -> None:
    text = re.sub(r"<meta http-equiv[^>]*>", ACTIONS, page()).replace("</body>", f"{CHECKS}</body>")
    told = in_browser(tmp_path, text, width)
    assert told["problems"] == []
    assert told["up"] == sorted(told["up"])
    assert told["down"] == sorted(told["up"], reverse=True)
    assert told["sorted"] == "descending"
    assert told["all"] == len(REPORT.findings)
    assert set(told["errors"]) == {"error"}
    assert len(told["errors"]) < told["all"]
    assert (told["none"], told["said"]) == (0, f"0 of {told['all']}")
    assert told["wide"] <= 0


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_the_page_as_it_is_says_nothing_on_the_console(tmp_path: Path) -> None:
    path = tmp_path / "plan.html"
    path.write_text(page(), "utf-8")
    run = chromium(path, "--enable-logging=stderr", "--dump-dom")
    assert "CONSOLE" not in run.stderr
    assert " of 4</output>" in run.stdout  # its own script has run


def in_browser(folder: Path, text: str, width: int) -> dict[str, object]:
    path = folder / "plan.html"
    path.write_text(text, "utf-8")
    run = chromium(path, f"--window-size={width},900", "--dump-dom")
    found: dict[str, object] = json.loads(
        unescape(re.search(r"<body>(.*?)</body>", run.stdout, re.DOTALL)[1])
    )  # type: ignore[index]
    return found


def chromium(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(BROWSER), "--headless=new", "--no-sandbox", "--disable-gpu", *options]
    profile = f"--user-data-dir={path.parent / 'profile'}"
    return subprocess.run([*command, profile, path.as_uri()], capture_output=True, text=True, timeout=60)
