"""Arguments that are entries of settings which the program writes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

TRAINER = "import lightning\n{head}\ndef f({given}):\n    lightning.Trainer(precision={value})\n"
CONFIG = (
    "from sacred import Experiment\nex = Experiment('x')\n@ex.{method}\ndef c():\n    precision = {value}\n"
)
MAIN = "import lightning\nfrom settings import ex\n@ex.automain\ndef main(_config):\n{head}{end}"
END = "    lightning.Trainer(precision=_config['precision'])\n"


def reported(folder: Path, **files: str) -> bool:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    options = engine.Options({"select": ["XLA802"]}, isolated=True, cache=False, jobs=1)
    return bool(engine.check([folder], options).findings)


@pytest.mark.parametrize(
    ("head", "given", "value", "expected"),
    [
        ("S = {'precision': 16}", "", "S['precision']", True),
        ("S = {'precision': 32}", "", "S['precision']", False),
        ("S = {'precision': 16}", "", "S['other']", False),
        ("S = {'precision': 16}", "S", "S['precision']", False),
        ("S = {'precision': 16}\nS['precision'] = 32", "", "S['precision']", False),
        ("S = {'precision': 16}\nif x: S = {'precision': 32}", "", "S['precision']", False),
    ],
)
def test_an_entry_of_a_dictionary(tmp_path: Path, head: str, given: str, value: str, expected: bool) -> None:
    assert reported(tmp_path, train=TRAINER.format(head=head, given=given, value=value)) is expected


@pytest.mark.parametrize(
    ("method", "value", "head", "expected"),
    [
        ("config", "16", "", True),
        ("config", "16", "    _config = dict(_config)\n", True),
        ("config", "32", "", False),
        ("named_config", "16", "", False),
        ("config", "16", "    _config = load('x')\n", False),
    ],
)
def test_a_setting_of_a_configuration_function_in_another_file(
    tmp_path: Path, method: str, value: str, head: str, expected: bool
) -> None:
    settings, main = CONFIG.format(method=method, value=value), MAIN.format(head=head, end=END)
    assert reported(tmp_path, settings=settings, run=main) is expected
