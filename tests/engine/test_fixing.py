from __future__ import annotations

from pathlib import Path

import pytest
from small_project import snapshot, write

from xlamig import engine
from xlamig.engine import Options
from xlamig.engine.fixing import FixOutcome
from xlamig.fix.write import WriteError, write_files

SAFE = frozenset({"safe"})
ALL = frozenset({"safe", "unsafe"})


def fix(write: bool = True, grades: frozenset[str] = ALL, **overrides: object) -> FixOutcome:
    return engine.fix([Path()], Options(overrides, isolated=True, jobs=1, cache=False), grades, write)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_nested_findings_are_fixed_in_one_run_and_counted(tmp_path: Path) -> None:
    write(
        {"a.py": "import torch\n\n\ndef f(m, x, device):\n    return m.cuda()(x.cuda()).cuda()\n"}, tmp_path
    )
    outcome = fix()
    (file,) = outcome.files
    assert "cuda" not in file.new
    assert sum(file.applied.values()) == len(outcome.before.findings) == 3
    assert not outcome.after.findings and not outcome.problems
    assert (tmp_path / "a.py").read_text() == file.new


def test_a_second_run_has_nothing_to_do(project: Path) -> None:
    fix()
    after = snapshot(project)
    assert not fix().files
    assert snapshot(project) == after


def test_a_suppressed_finding_is_not_fixed(tmp_path: Path) -> None:
    text = "def f(x, y, device):\n    x.cuda()  # xlamig: ignore[XLA002] wanted\n    return y.cuda()\n"
    write({"a.py": "import torch\n\n\n" + text}, tmp_path)
    (file,) = fix().files
    assert "x.cuda()  # xlamig: ignore[XLA002] wanted" in file.new
    assert "y.cuda()" not in file.new and sum(file.applied.values()) == 1


def test_an_unfixable_rule_is_reported_and_not_fixed(project: Path) -> None:
    before = snapshot(project)
    outcome = fix(unfixable=["XLA0"])
    assert outcome.after.findings and not outcome.files
    assert snapshot(project) == before


@pytest.mark.parametrize("grades", [frozenset(), SAFE, ALL])
def test_only_the_asked_grades_are_applied(project: Path, grades: frozenset[str]) -> None:
    graded = {f.fix.applicability for f in fix(write=False, grades=grades).after.findings if f.fix}
    assert not graded & grades


def test_nothing_is_written_without_write(project: Path) -> None:
    before = snapshot(project)
    outcome = fix(write=False)
    assert outcome.files and outcome.after != outcome.before
    assert snapshot(project) == before


def test_check_writes_nothing_but_its_cache(project: Path) -> None:
    before = snapshot(project)
    engine.check([Path()], Options(jobs=2))
    assert snapshot(project) == before


def test_a_file_that_changes_nothing_is_not_touched(tmp_path: Path) -> None:
    write({"a.py": "import torch\n", "broken.py": "import torch\ntorch.cuda.synchronize(\n"}, tmp_path)
    before = snapshot(tmp_path)
    assert not fix().files
    assert snapshot(tmp_path) == before


def test_the_rest_of_the_bytes_stay(tmp_path: Path) -> None:
    head = "# coding: latin-1\r\n\f\r\n# café\tx \r\nimport torch\r\n"
    text = f"{head}def f(x, device):\r\n\treturn x.cuda()"
    (tmp_path / "a.py").write_bytes(text.encode("latin-1"))
    old = (tmp_path / "a.py").read_bytes()
    assert fix().files
    new = (tmp_path / "a.py").read_bytes()
    assert new.startswith(old[: old.index(b"x.cuda")]) and new != old


def test_a_deep_file_is_fixed_too(tmp_path: Path) -> None:
    deep = f"y = {'a + ' * 700}a\n"
    write({"a.py": f"import torch\n{deep}\n\ndef f(x, device):\n    return x.cuda()\n"}, tmp_path)
    (file,) = fix().files
    assert deep in file.new and "x.cuda()" not in file.new


def test_a_file_that_cannot_be_written_is_a_problem_and_the_rest_is_fixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import torch\n\n\ndef f(x, device):\n    return x.cuda()\n"
    write({"a.py": text, "b.py": text}, tmp_path)

    def refuse(changed: dict[Path, bytes], created: dict[Path, bytes]) -> None:
        if any(path.name == "a.py" for path in changed):
            raise WriteError("a.py: No space left on device")
        write_files(changed, created)

    monkeypatch.setattr("xlamig.engine.fixing.write_files", refuse)
    outcome = fix()
    assert outcome.problems == ("a.py: No space left on device",)
    assert (tmp_path / "a.py").read_text() == text
    assert [file.filename for file in outcome.files] == ["b.py"]
    assert [f.filename for f in outcome.after.findings] == ["a.py"]


MOVED_ELSEWHERE = {
    "main.py": """import torch
from torch import nn
from trainer import Trainer

net = nn.Linear(4, 4)
Trainer(net, torch.optim.SGD(net.parameters(), 0.1))
""",
    "trainer.py": """import torch


class Trainer:
    def __init__(self, net, optimizer):
        self.net, self.optimizer = net, optimizer
        self.prepare()

    def prepare(self):
        self.net.to("xla")
""",
}


def test_a_fix_beside_what_a_caller_elsewhere_finds_settles(tmp_path: Path) -> None:
    write(MOVED_ELSEWHERE, tmp_path)
    outcome = fix(select=["XLA405"])
    assert not outcome.problems and outcome.files[0].applied == {"XLA405": 1}
    assert not fix(select=["XLA405"]).files


def test_a_flag_of_another_move_is_none_of_this_one(tmp_path: Path) -> None:
    flag = "        torch.__future__.set_swap_module_params_on_conversion({})\n"
    elsewhere = (
        MOVED_ELSEWHERE["trainer.py"] + f"\n    def other(self):\n{flag.format(True)}{flag.format(False)}"
    )
    write({**MOVED_ELSEWHERE, "trainer.py": elsewhere}, tmp_path)
    outcome = fix(select=["XLA405"])
    assert not outcome.problems and outcome.files[0].applied == {"XLA405": 1}


ACCELERATED = """import torch

found = torch.accelerator.is_available()
device = torch.accelerator.current_accelerator() if found else torch.device("cpu")
print(torch.ones(2, device=device))
"""


def test_scripts_without_a_common_root_define_all_that_one_fix_needs(tmp_path: Path) -> None:
    write({f"part{n}/train.py": ACCELERATED for n in range(4)}, tmp_path)
    (tmp_path / ".git").mkdir()
    outcome = fix(grades=SAFE, select=["XLA003"])
    assert not outcome.problems and not outcome.created and len(outcome.files) == 4
    for file in outcome.files:
        assert file.new.count("def default_device(") == 1
        assert "found = accelerator_is_available()" in file.new and "= current_accelerator() if" in file.new
    assert not fix(grades=SAFE, select=["XLA003"]).files
