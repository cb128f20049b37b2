"""Source that overflows the stack of a recursive parser, or keeps it busy for hours."""

from __future__ import annotations

import pytest
from runs import GOOD, Check, report_of

from xlamig.engine import isolation, parser_limits

TAIL = GOOD.decode()

REFUSED = {
    "parentheses": "x = " + "(" * 10_000 + "1" + ")" * 10_000,
    "brackets": "x = " + "[" * 10_000 + "]" * 10_000,
    "open brackets": "x = " + "f([{" * 10_000,
    "calls": "x = " + "f(" * 3000 + ")" * 3000,
    "subscripts": "x = " + "a[" * 3000 + "0" + "]" * 3000,
    "patterns": "match a:\n  case " + "[" * 3000 + "]" * 3000 + ": pass",
    "sum": "x = " + "a + " * 20_000 + "a",
    "sum over lines": "x = (" + "a +\n" * 20_000 + "a)",
    "powers": "x = " + "a ** " * 10_000 + "a",
    "and": "x = " + "a and " * 20_000 + "a",
    "not": "x = " + "not " * 10_000 + "a",
    "minus": "x = " + "-" * 5000 + "a",
    "lambda": "x = " + "lambda: " * 10_000 + "a",
    "conditions": "x = " + "a if b else " * 10_000 + "a",
    "attributes": "x = a" + ".b" * 10_000,
    "chain of calls": "x = (a" + "\n.b()" * 5000 + ")",
    "called again and again": "x = a" + "()" * 5000,
    "elif": "if a: pass\n" + "elif a: pass\n" * 5000,
    "strings": "x = (" + "'a'\n" * 10_000 + ")",
    "f-strings": "x = (" + "f'{a}'\n" * 10_000 + ")",
    "dotted import": "import a" + ".b" * 5000,
    "comprehension": "x = [a " + "for a in b " * 10_000 + "]",
    "indentation": "".join(" " * i + "if a:\n" for i in range(500)) + " " * 500 + "pass",
}

DEEP_BUT_READ = {
    "sum": "x = " + "a + " * 600 + "a",
    "and": "x = " + "a and " * 900 + "a",
    "minus": "x = " + "-" * 600 + "a",
    "strings": "x = (" + "'a'\n" * 2500 + ")",
    "chain of calls": "x = (a" + "\n.b()" * 400 + ")",
    "calls": "x = " + "f(" * 80 + ")" * 80,
    "elif": "if a: pass\n" + "elif a: pass\n" * 600,
    "ifs": "".join(" " * i + "if a:\n" for i in range(90)) + " " * 90 + "pass",
    "functions": "".join(" " * i + "def f():\n" for i in range(90)) + " " * 90 + "pass",
    "table": "x = [" + "-0.1, a.b, (1, 2),\n" * 3000 + "]",
    "many statements": "x = a + b.c(d)\n" * 5000,
}
LONG = ("table", "many statements")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_too_deep_costs_its_file_alone(check: Check, name: str) -> None:
    report = check({"deep.py": f"import torch\n{REFUSED[name]}\n{TAIL}".encode(), "good.py": GOOD})
    (finding,) = report_of(report, "deep.py").findings
    assert finding.code == "XLA000" and "\n" not in finding.message
    assert [f.code for f in report_of(report, "good.py").findings] == ["XLA005"]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in DEEP_BUT_READ],
)
def test_what_is_only_deep_is_read(check: Check, name: str) -> None:
    report = check({"deep.py": f"import torch\n{DEEP_BUT_READ[name]}\n{TAIL}".encode()})
    assert [f.code for f in report.findings] == ["XLA005"] and not report.skipped


@pytest.mark.slow
def test_in_worker_processes_too(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_SMALL", 1)
    files = {f"{i}.py": f"{TAIL}{text}\n".encode() for i, text in enumerate(REFUSED.values())}
    files |= {f"good{i}.py": GOOD for i in range(20)}
    report = check(files, jobs=2)
    assert report == check(files, jobs=1)
    codes = [finding.code for finding in report.findings]
    assert (codes.count("XLA000"), codes.count("XLA005")) == (len(REFUSED), 20)


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_kill_a_parser_is_foreseen(name: str) -> None:
    """Strings, comprehensions and indentation have limits in LibCST itself."""
    limited = ("strings", "f-strings", "comprehension", "indentation")
    assert parser_limits.is_risky(REFUSED[name] + "\n") or name in limited


@pytest.mark.parametrize("name", ["calls", "ifs", "functions", "strings", "many statements"])
def test_ordinary_code_is_not_suspected(name: str) -> None:
    assert not parser_limits.is_risky(DEEP_BUT_READ[name] + "\n")
