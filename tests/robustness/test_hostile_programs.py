"""Programs that could keep the analysis busy for ever: each ends, and says what it left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options, Report

TRAIN = "from library import f\nimport torch\nx = torch.ones(2).cuda()\n"
READS = "def f(x):\n    return x.item()\n"


def checked(folder: Path, files: dict[str, str]) -> Report:
    for name, text in files.items():
        (folder / name).write_text(text)
    settings = {"select": ["ALL"], "confidence": "possible"}
    return engine.check([folder], Options(settings, jobs=1, cache=False, isolated=True))


def codes(report: Report, name: str) -> set[str]:
    places = (place for finding in report.findings for place in finding.places)
    return {place.code for place in places if place.filename.endswith(name)}


@pytest.mark.slow
def test_a_huge_function_is_analysed(tmp_path: Path) -> None:
    body = "".join(f"    y{i} = x * {i} if x.sum() > {i} else x\n" for i in range(1000))
    report = checked(tmp_path, {"train.py": f"import torch\ndef f(x):\n{body}f(torch.ones(2).cuda())\n"})
    assert codes(report, "train.py") == {"XLA002"}


@pytest.mark.slow
def test_ten_thousand_callers_are_bounded(tmp_path: Path) -> None:
    calls = "".join(f"f(x, {i})\n" for i in range(10_000))
    library = "def f(x, n):\n    return x[:n].item()\n"
    report = checked(tmp_path, {"library.py": library, "train.py": TRAIN + calls})
    assert "XLA000" not in codes(report, ".py")


@pytest.mark.parametrize("library", ["torch_xla", "somewhere"])
def test_a_call_of_an_imported_module_is_analysed(tmp_path: Path, library: str) -> None:
    text = f"import torch\nimport {library}\ny = {library}(torch.ones(2)).pow(2).mean()\n"
    report = checked(tmp_path, {"train.py": text})
    assert not report.rule_errors and not report.skipped


@pytest.mark.parametrize("depth", [2, 40])
def test_mutual_recursion_over_files_ends(tmp_path: Path, depth: int) -> None:
    files = {}
    for i in range(depth):
        after = f"m{(i + 1) % depth}"
        files[f"m{i}.py"] = f"import {after}\ndef f(x):\n    x.item()\n    return {after}.f(x)\n"
    main = "import m0\nimport torch\nm0.f(torch.ones(1).cuda())\n"
    report = checked(tmp_path, {**files, "train.py": main})
    assert "XLA000" not in codes(report, ".py")


def test_calls_deeper_than_the_bound_are_told(tmp_path: Path) -> None:
    chain = "".join(f"def f{i}(x):\n    return f{i + 1}(x)\n" for i in range(60))
    text = f"import torch\n{chain}def f60(x):\n    return x.item()\nf0(torch.ones(1).cuda())\n"
    report = checked(tmp_path, {"train.py": text})
    assert [Path(file.filename).name for file in report.partly] == ["train.py"]


def test_files_that_import_each_other_are_analysed(tmp_path: Path) -> None:
    files = {
        "library.py": f"import train\n{READS}",
        "train.py": f"{TRAIN}for i in range(9):\n    print(f(x))\n",
    }
    assert "XLA000" not in codes(checked(tmp_path, files), ".py")


def test_a_syntax_error_in_a_callees_file_costs_that_file_alone(tmp_path: Path) -> None:
    report = checked(tmp_path, {"library.py": "def f(x:\n", "train.py": f"{TRAIN}f(x)\n"})
    assert codes(report, "library.py") == {"XLA000"}
    assert "XLA002" in codes(report, "train.py")


def test_a_default_that_calls_its_own_function_is_analysed(tmp_path: Path) -> None:
    text = "import torch\ndef f(x=(f(x=1), torch.ones(1).cuda())):\n    return x\n"
    assert codes(checked(tmp_path, {"train.py": text}), "train.py") == {"XLA002"}
