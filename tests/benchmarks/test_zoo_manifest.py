from pathlib import Path

import pytest

from benchmarks.zoo import manifest

PAGE = """
name = "some-package"
version = "1.0"
[cases]
"Layer(4)" = "m(randn(2, 4))"
[[group]]
label = "loss {}"
make = "{}Loss()"
call = "m(randn(2))"
steps = [3, 0]
names = ["A", "B"]
"""


def _written(folder: Path, text: str) -> Path:
    path = folder / "some-package.toml"
    path.write_text(text)
    return path


def test_reports_a_missing_key(tmp_path: Path) -> None:
    with pytest.raises(manifest.ManifestError, match="version"):
        manifest.read(_written(tmp_path, 'name = "x"'))


def test_refuses_two_cases_of_one_name(tmp_path: Path) -> None:
    twice = PAGE.replace('"B"', '"A"')
    with pytest.raises(manifest.ManifestError, match="loss A"):
        manifest.read(_written(tmp_path, twice))


def test_refuses_an_unknown_package(tmp_path: Path) -> None:
    _written(tmp_path, PAGE)
    with pytest.raises(manifest.ManifestError, match="other"):
        manifest.load(["other"], tmp_path)


def test_expands_groups(tmp_path: Path) -> None:
    _written(tmp_path, PAGE)
    (package,) = manifest.load(folder=tmp_path)
    assert package.setup == "import some_package"
    assert [case.name for case in package.cases] == ["Layer(4)", "loss A", "loss B"]
    assert package.cases[0].steps == (5, 5)
    assert package.cases[2] == manifest.Case("loss B", "BLoss()", "m(randn(2))", (3, 0))


def test_every_case_of_the_zoo_is_an_expression() -> None:
    for package in manifest.load():
        compile(package.setup, package.name, "exec")
        for case in package.cases:
            compile(case.make, case.name, "eval")
            compile(case.call, case.name, "eval")
