"""A file that cannot be read costs itself, says why, and the rest of the run goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from runs import GOOD, Check, report_of

from xlamig import engine
from xlamig.engine import Options, UsageError

UNPARSABLE = {
    "never closed": (b"x = (\n" + GOOD, (1, 5), "never closed"),
    "two expressions": (b"a b\n", (1, 3), "syntax"),
    "no block": (b"if a:\nb\n", (2, 1), "indented block"),
    "python 2": (b"print 'a'\n", (1, 1), "print"),
    "python 2's raise": (b"raise ValueError, 'a'\n", (1, 17), "Python 2"),
    "async before it was a keyword": (b"x = y.cuda(async=True)\n", (1, 12), "write `non_blocking=`"),
    "async, a name": (b"def f(a, async=True):\n    pass\n", (1, 10), "rename it, here and at its callers"),
    "async, of another call": (b"x = make(y.cuda(), async=True)\n", (1, 20), "rename it, here and at"),
    "async after": (b"x = y.cuda(1 2, asyncs=True)\n", (1, 12), "syntax"),
    "tabs and spaces": (b"if a:\n\tb\n        c\n", (3, 1), "tabs"),
    "merge conflict": (b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", (1, 1), "syntax"),
    "nul": (b"x = 1\0\n", (1, 1), "NUL"),
    "binary": (bytes(range(256)), (1, 1), "NUL"),
    "utf-16": (b"\xff\xfe" + "x = 1\n".encode("utf-16-le"), (1, 1), "UTF-16"),
    "utf-32": ("x = 1\n".encode("utf-32"), (1, 1), "UTF-32"),
    "latin-1 without a cookie": (b"# caf\xe9\n", (1, 1), "0xe9"),
    "wrong cookie": (b"# coding: ascii\n# caf\xc3\xa9\n", (1, 1), "ascii"),
    "unknown cookie": (b"# coding: klingon\n", (1, 1), "klingon"),
    "cookie of no text": (b"# coding: rot13\nx\n", (1, 1), "rot13"),
    "lone surrogate": (b"# coding: utf-7\nx = '+2AA-'\n", (1, 1), "surrogate"),
}


@pytest.mark.parametrize("name", UNPARSABLE)
def test_what_cannot_be_read(check: Check, name: str) -> None:
    data, place, told = UNPARSABLE[name]
    report = check({"bad.py": data, "good.py": GOOD})
    (finding,) = report_of(report, "bad.py").findings
    assert (finding.code, finding.place.location.row, finding.place.location.column) == ("XLA000", *place)
    assert told in finding.message and "\n" not in finding.message
    assert [f.code for f in report_of(report, "good.py").findings] == ["XLA005"]


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("#!/usr/bin/env python2\nimport sys, codecs\nprint sys.argv\n", "info"),
        ("import numpy as np\nif __name__ == '__main__':\n    print np.ones(2)\n", "info"),
        ("import numpy as np\ndef f():\n    print np.ones(2)\n", "info"),
        ("import pandas as pd, networkx\nif pd:\nelse:\n    pass\n", "info"),
        ("import pandas as pd\nfrom model import Net\nx = (\n", "error"),
        ("import pandas as pd\nx = (torch\n", "error"),
        ("def f():\n    print 'a'\n", "info"),
        ("import math\ndef f(a, (b, c), n=4):\n    return math.exp(a)\n", "info"),
        ("import math\ndef f(a, b=(1, 2):\n    return math.exp(a)\n", "error"),
        ("#!/usr/bin/python2\nfrom torch import nn\nprint 'a'\n", "error"),
        ("#!/usr/bin/python2\nimport os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\nprint 'a'\n", "error"),
        ("#!/usr/bin/python2\nfrom model import Net\nprint Net()\n", "error"),
        ("#!/usr/bin/env python2.7\nfrom . import model\nprint model\n", "error"),
        ("import sys\nx = (\n", "error"),
    ],
)
def test_what_has_nothing_to_do_with_torch(check: Check, text: str, severity: str) -> None:
    (finding,) = report_of(check({"bad.py": text.encode()}), "bad.py").findings
    assert (finding.code, finding.severity) == ("XLA000", severity)


@pytest.mark.parametrize(
    "data",
    [
        "# -*- coding: latin-1 -*-\n# café\n".encode("latin-1") + GOOD,
        "# coding: cp1252\nx = '€'\n".encode("cp1252") + GOOD,
        "# coding: utf-8\nx = '𝔘'\n".encode() + GOOD,
        b"\xef\xbb\xbf" + GOOD,
        "# coding: shift_jis\nx = '表'\n".encode("shift_jis") + GOOD,
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"\n", b"\r"),
        GOOD.rstrip(b"\n"),
        b"\f\n" + GOOD,
    ],
)
def test_what_only_looks_unusual(check: Check, data: bytes) -> None:
    report = check({"a.py": data})
    assert [f.code for f in report.findings] == ["XLA005"]
    place = report.findings[0].place
    assert (place.location.row, place.location.column) == (len(data.splitlines()), 1)


@pytest.mark.parametrize("data", [b"", b"\n", b"# only a comment", b"\xef\xbb\xbf", b"\f", b" \n\t\n"])
def test_nothing_in_it(check: Check, data: bytes) -> None:
    report = check({"a.py": data, "b/__init__.py": data})
    assert not report.findings and not report.skipped


def test_a_generated_file_of_ten_megabytes_is_skipped_with_the_reason(check: Check) -> None:
    report = check({"big.py": b"x = 1\n" * 1_800_000, "good.py": GOOD})
    (skipped,) = report.skipped
    assert skipped.filename == "big.py" and "max-file-size" in skipped.reason
    assert [f.code for f in report.findings] == ["XLA005"]


def test_links_that_loop_and_folders_named_like_files(check: Check, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "self.py").symlink_to("self.py")
    (tmp_path / "gone.py").symlink_to("nowhere.py")
    (tmp_path / "folder.py").mkdir()
    report = check({"good.py": GOOD, "folder.py/inner.py": GOOD})
    assert [f.filename for f in report.findings] == ["folder.py/inner.py", "good.py"]


def test_a_file_that_cannot_be_opened_is_a_finding(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "secret.py":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    report = check({"secret.py": GOOD, "good.py": GOOD})
    assert [(f.filename, f.code) for f in report.findings if f.filename == "secret.py"] == [
        ("secret.py", "XLA000")
    ]
    assert [f.filename for f in report.findings if f.code != "XLA000"] == ["good.py"]


def test_a_file_that_vanishes_meanwhile_is_skipped(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Path.read_bytes

    def vanish(path: Path) -> bytes:
        if path.name == "here.py":
            path.unlink()
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", vanish)
    assert [s.filename for s in check({"here.py": GOOD}).skipped] == ["here.py"]


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("[tool.xlamig\n", "pyproject.toml"),
        ("[tool.xlamig]\ntarget = 'tpu'\n", "target"),
        ("[tool.xlamig]\nselekt = ['XLA']\n", 'did you mean "select"'),
        ("[tool.xlamig]\nrules = ['nowhere/']\n", "nowhere"),
        ("[tool.xlamig]\nselect = 1\n", "select"),
        ("# xlamig \udcff", "not UTF-8"),
    ],
)
def test_broken_configuration_is_the_callers_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_bytes(GOOD)
    (tmp_path / "pyproject.toml").write_text(config, errors="surrogateescape")
    with pytest.raises(UsageError) as caught:
        engine.check([Path()], Options(cache=False))
    assert told in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("no head\n", "XLA777-mine.md"),
        ("+++\ncode = \n+++\n# mine\n", "XLA777-mine.md"),
        ("+++\ncode = 'XLA777'\nname = 'mine'\nstatus = 'stable'\n+++\n# mine\n", "XLA777-mine.md"),
    ],
)
def test_a_broken_rule_page_is_the_callers_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_bytes(GOOD)
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours/XLA777-mine.md").write_text(page)
    (tmp_path / "pyproject.toml").write_text("[tool.xlamig]\nrules = ['ours']\n")
    with pytest.raises(UsageError) as caught:
        engine.check([Path()], Options(cache=False))
    assert told in str(caught.value)


def command(*args: str) -> subprocess.CompletedProcess[str]:
    code = "from xlamig.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *args, "--no-cache"], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["check", "nowhere"], "no such file or folder: nowhere"),
        (["check", "--select", "XLA998"], 'unknown rule "XLA998"'),
        (["check", "--ignore", "torch"], 'unknown rule "torch"'),
        (["check", "--config", "target = 1"], "target"),
        (["check", "--config", "nowhere.toml"], "nowhere.toml"),
        (["plan", "nowhere"], "no such file or folder: nowhere"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_bytes(GOOD)
    result = command(*args)
    assert result.returncode == 2
    assert told in result.stderr and "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1 and not result.stdout


def test_an_unparsable_file_fails_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_bytes(b"x = (\n")
    result = command("check", "--output-format", "json", "--fail-on", "error")
    assert result.returncode == 1
    assert [f["code"] for f in json.loads(result.stdout)["findings"]] == ["XLA000"]


@pytest.mark.parametrize(
    ("name", "text", "severity"),
    [
        ("a.py", "x = 'hello {% if x %}\n", "error"),
        ("a.py", "x = (\n", "error"),
        ("a.py", "{%- if x %}\nimport a\n{%- endif %}\n", "info"),
        ("modeling_{{name}}.py", "class {{Name}}:\n    pass\n", "info"),
    ],
)
def test_a_template_of_a_module_is_no_broken_module(
    check: Check, name: str, text: str, severity: str
) -> None:
    (finding,) = check({name: text.encode()}).findings
    assert (finding.code, finding.severity) == ("XLA000", severity)
