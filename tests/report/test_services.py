"""The contracts of the formats for other programs."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import pytest
from sample import REPORT, TEXT, text_of
from sarif.loader import load_sarif_file
from sarif_pydantic import Sarif

from making import a_finding, a_fix, a_report
from xlamig.findings import Create, FileReport, Fix, Report
from xlamig.report import FORMATS, render
from xlamig.report.context import Context

HOSTILE = "a|b: 100%, `x|y` <b>\n::error::*no*, [link](x) \x1b[31m"


def rendered(name: str, report: Report, **context: Any) -> str:
    return "\n".join(render(name, report, Context(text_of, **context)))


def hostile() -> Report:
    return a_report(a_finding(message=HOSTILE, help=HOSTILE, filename="a,b:c%.py"))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("report", [REPORT, Report("torch_tpu"), hostile()], ids=["full", "empty", "hostile"])
def test_no_format_lets_text_steer_a_terminal(name: str, report: Report) -> None:
    assert "\x1b" not in rendered(name, report)


# ---------------------------------------------------------------------- SARIF


def sarif(report: Report, **context: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(rendered("sarif", report, **context))
    return document


@pytest.mark.parametrize("report", [REPORT, Report("torch_tpu"), hostile()], ids=["full", "empty", "hostile"])
def test_sarif_is_read_by_public_readers(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.sarif"
    path.write_text(rendered("sarif", report), encoding="utf-8")
    Sarif.model_validate_json(path.read_text(encoding="utf-8"))
    read = load_sarif_file(str(path))
    assert read.get_distinct_tool_names() == ["xlamig"]
    assert len(read.get_records()) == len(report.findings)


def test_sarif_fix_gives_the_text_that_fix_writes() -> None:
    [change] = sarif(REPORT)["runs"][0]["results"][0]["fixes"][0]["artifactChanges"]
    lines = TEXT.splitlines(keepends=True)
    for replacement in reversed(change["replacements"]):
        region = replacement["deletedRegion"]
        assert region["startLine"] == region["endLine"]
        line = lines[region["startLine"] - 1]
        inserted = replacement["insertedContent"]["text"]
        lines[region["startLine"] - 1] = (
            line[: region["startColumn"] - 1] + inserted + line[region["endColumn"] - 1 :]
        )
    text = "".join(lines)
    assert text.startswith("import torch\nimport torch_xla\n")
    assert "    torch_xla.sync(wait=True)\n" in text


def test_sarif_display_fix_is_no_fix() -> None:
    shown = replace(a_fix("display"), edits=())
    assert "fixes" not in sarif(a_report(a_finding(fix=shown)))["runs"][0]["results"][0]


def test_sarif_cell_is_no_region_of_the_file() -> None:
    [*_, result] = sarif(REPORT)["runs"][0]["results"]
    [location] = result["locations"]
    assert "region" not in location["physicalLocation"]
    assert location["logicalLocations"] == [{"name": "cell 2", "kind": "module"}]
    assert result["message"]["text"].startswith("cell 2, row 1: ")


def test_sarif_failed_rule_is_a_failed_run() -> None:
    [invocation] = sarif(REPORT)["runs"][0]["invocations"]
    assert not invocation["executionSuccessful"]
    assert [note["level"] for note in invocation["toolExecutionNotifications"]] == ["warning", "error"]


def test_sarif_carries_the_pages_of_its_rules() -> None:
    first, *_ = sarif(REPORT, page_of={"XLA005": "# cuda-synchronize"}.get)["runs"][0]["tool"]["driver"][
        "rules"
    ]
    assert first["help"]["markdown"] == "# cuda-synchronize"


def test_sarif_paths_are_uris() -> None:
    document = sarif(a_report(a_finding(filename="/tmp/x.py"), a_finding(filename="a b/\u4f8b#1.py")))
    uris = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in document["runs"][0]["results"]
    ]
    assert uris == ["file:///tmp/x.py", "a%20b/%E4%BE%8B%231.py"]


# --------------------------------------------------------------------- GitHub


def test_github_text_cannot_end_a_property_or_start_a_command() -> None:
    [line] = rendered("github", hostile()).splitlines()
    properties, _, message = line.removeprefix("::error ").partition("::")
    assert "file=a%2Cb%3Ac%25.py" in properties.split(",")
    assert len(re.findall("%0A", message)) == 1  # before the help


def test_github_columns_only_within_a_line() -> None:
    lines = rendered("github", REPORT).splitlines()
    assert "col=" in lines[0]
    assert "endLine=9" in lines[2] and "col=" not in lines[2]


def test_paths_start_where_the_service_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    report = a_report(a_finding())
    assert "file=sub/train.py" in rendered("github", report, project=tmp_path)
    assert json.loads(rendered("gitlab", report, project=tmp_path))[0]["location"]["path"] == "sub/train.py"
    assert "file=train.py" in rendered("github", report, project=tmp_path / "elsewhere")


# --------------------------------------------------------------------- GitLab


def test_gitlab_issue_has_what_is_documented() -> None:
    issues = json.loads(rendered("gitlab", REPORT))
    assert len(issues) == len(REPORT.findings)
    for issue in issues:
        assert {"description", "check_name", "fingerprint", "severity", "location"} <= issue.keys()
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert issue["location"]["positions"]["begin"]["line"] > 0
        assert not issue["location"]["path"].startswith("./")


def test_gitlab_fingerprints_differ() -> None:
    same = a_finding(fingerprint="f")
    report = a_report(same, same, replace(same, filename="other.py"))
    assert len({issue["fingerprint"] for issue in json.loads(rendered("gitlab", report))}) == 3


def test_gitlab_fingerprint_outlives_a_moved_line() -> None:
    before, after = a_report(a_finding(fingerprint="f")), a_report(a_finding(row=9, fingerprint="f"))
    one, other = (json.loads(rendered("gitlab", report))[0] for report in (before, after))
    assert one["fingerprint"] == other["fingerprint"] and one["location"] != other["location"]


# ---------------------------------------------------------------------- JUnit


def test_junit_counts_what_it_holds() -> None:
    root = xml.fromstring(rendered("junit", REPORT).encode())
    assert int(root.get("tests", "")) == len(root.findall(".//testcase"))
    assert int(root.get("failures", "")) == len(root.findall(".//failure")) == 3  # one of four is information
    assert int(root.get("errors", "")) == len(root.findall(".//error")) == 2


def test_junit_clean_file_is_a_passed_case() -> None:
    root = xml.fromstring(rendered("junit", Report("torch_xla", (FileReport("a.py"),))).encode())
    [case] = root.findall(".//testcase")
    assert not len(case) and root.get("failures") == "0"


# ------------------------------------------------------------------- Markdown


def test_markdown_row_has_four_cells_whatever_is_said() -> None:
    row = next(line for line in rendered("markdown", hostile()).splitlines() if line.startswith("| 1 |"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 5


def test_markdown_code_stays_code() -> None:
    text = rendered("markdown", a_report(a_finding(message="`a_b_c` is *not* b")))
    assert "`a_b_c` is \\*not\\* b" in text


# ----------------------------------------------------------- json-lines, grouped


def test_json_lines_are_the_findings_of_json() -> None:
    lines = [json.loads(line) for line in rendered("json-lines", REPORT).splitlines()]
    document = json.loads(rendered("json", REPORT))
    for create in [c for f in document["findings"] if f["fix"] for c in f["fix"]["creates"]]:
        create["content"] = document["created_files"][create["filename"]]
    assert lines == document["findings"]


def test_json_holds_the_content_of_a_created_file_once() -> None:
    fixes = [Fix("", "safe", creates=(Create("helper.py", text),)) for text in ("a = 1", "a = 1", "a = 2")]
    inner = a_finding(fix=fixes[1])
    report = a_report(a_finding(fix=fixes[0], also=(inner,)), a_finding(fix=fixes[2]))
    document = json.loads(rendered("json", report))
    first, second = (f["fix"]["creates"] for f in document["findings"])
    assert document["created_files"] == {"helper.py": "a = 1"}
    assert first == document["findings"][0]["also"][0]["fix"]["creates"] == [{"filename": "helper.py"}]
    assert second == [{"filename": "helper.py", "content": "a = 2"}]


def test_grouped_names_no_file_without_findings() -> None:
    text = rendered("grouped", REPORT)
    assert "big.py" not in text and text.count("train.py") == 1
