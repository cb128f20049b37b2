"""JUnit XML: a suite per file and a case per finding; errors and warnings fail, information passes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from xml.etree import ElementTree as xml

from xlamig.findings import FileReport, Finding, Report
from xlamig.report.context import Context, one_line, where


def render(report: Report, context: Context) -> Iterator[str]:
    broken = defaultdict(list)
    for error in report.rule_errors:
        broken[error.filename].append(f"rule {error.code} failed: {error.message}")
    for skipped in report.skipped:
        broken[skipped.filename].append(f"skipped: {skipped.reason}")
    root = xml.Element("testsuites", name="xlamig")
    for file in report.files:
        _suite(root, file, broken[file.filename])
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.get(key, 0)) for suite in root)))
    xml.indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield xml.tostring(root, encoding="unicode")


def _suite(root: xml.Element, file: FileReport, broken: list[str]) -> None:
    suite = xml.SubElement(root, "testsuite", name=one_line(file.filename))
    failures = sum(_case(suite, finding) for finding in file.findings)
    for message in broken:
        case = xml.SubElement(suite, "testcase", name="xlamig", classname=one_line(file.filename))
        xml.SubElement(case, "error", message=one_line(message))
    if not len(suite):
        xml.SubElement(suite, "testcase", name="xlamig", classname=one_line(file.filename))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(failures))
    suite.set("errors", str(len(broken)))


def _case(suite: xml.Element, finding: Finding) -> bool:
    """Return whether the case counts as failed."""
    at = finding.place.location
    case = xml.SubElement(
        suite,
        "testcase",
        name=f"{finding.code} {finding.name}",
        classname=one_line(finding.filename),
        file=one_line(finding.filename),
        line=str(at.row),
    )
    message = one_line(finding.message)
    lines = [f"{where(finding)}: {message}", *(f"because {one_line(r.message)}" for r in finding.reasons)]
    if finding.help:
        lines.append(f"help: {one_line(finding.help)}")
    if finding.severity == "info":
        xml.SubElement(case, "system-out").text = "\n".join(lines)
        return False
    failure = xml.SubElement(case, "failure", message=message, type=finding.severity)
    failure.text = "\n".join(lines)
    return True
