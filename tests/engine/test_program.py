"""Rules about a program as a whole: what other files use, and what is said once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_project import PAGE, check, codes, write

from xlamig import engine
from xlamig.engine import Options, run
from xlamig.engine.analyse import analyse
from xlamig.engine.jobs import Analysed, AnalyseJob

SEED = "import torch\n\ntorch.zeros(1)\n"
COMMENT = SEED.replace("(1)", "(1)  # xlamig: ignore[XLA777]")
FILES = {"a.py": SEED, "b.py": SEED, "c.py": "import torch\n", "d.py": "print(1)\n"}
FAR = '[[match]]\nfact = "api-use"\nname = "torch.zeros"\n'
USES = PAGE.replace(FAR, FAR + 'program = { uses = ["torch.dist.init", "torch.ring.*"] }\n')
ABSENT = PAGE.replace(FAR, FAR + 'unless_program = { uses = ["torch.manual_seed"] }\n')
NOT_IMPORTED = ABSENT.replace('manual_seed"] }', 'manual_seed"], imported = true }')
ONCE = PAGE.replace('status = "stable"', 'status = "stable"\nonce = "program"')
FIX = """[[fix]]
strategy = "rename-api"
applicability = "safe"
replace = { torch_xla = "torch.manual_seed" }
"""
OPTIONS: dict[str, Any] = {"rules": ["ours"], "select": ["XLA777"], "exclude": ["ours"]}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(FILES, tmp_path)
    return tmp_path


def reported(root: Path, page: str, files: dict[str, str] | None = None, **options: Any) -> list[str]:
    write({"ours/XLA777-no-zeros.md": page, **(files or {})}, root)
    report = engine.check([Path()], Options(OPTIONS, jobs=1, cache=False, **options))
    return [finding.filename for finding in report.findings]


@pytest.mark.parametrize(
    ("page", "text", "names"),
    [
        (USES, "import torch\ntorch.dist.other()\n", []),
        (USES, "# torch.dist.init\n", []),
        (USES, "import torch.dist as d\nd.init()\n", ["a.py", "b.py"]),
        (USES, "from torch.ring import anything\n", ["a.py", "b.py"]),
        (ABSENT, "import torch\ntorch.manual_seed(1)\n", []),
        (ABSENT, "import torch_xla\ntorch_xla.sync()\n", ["a.py", "b.py"]),
        (ABSENT, "x = (torch.manual_seed\n", []),
        (ABSENT, "x = (\n", ["a.py", "b.py"]),
    ],
)
def test_a_file_decides_for_another(program: Path, page: str, text: str, names: list[str]) -> None:
    assert reported(program, page, {"z.py": text}) == names


def test_a_name_that_another_module_hands_on(program: Path) -> None:
    files = {"compat.py": "import torch.dist as dist\n", "z.py": "from compat import dist\ndist.init()\n"}
    assert reported(program, USES, files) == ["a.py", "b.py"]
    assert reported(program, USES, {"compat.py": "import other as dist\n"}) == []


@pytest.mark.parametrize(
    ("compat", "names"),
    [
        ("import torch as t\n", ["a.py", "b.py"]),
        ("from torch import ring\nimport torch as t\n", ["a.py", "b.py"]),
        ("import other as t\n", []),
        ("class t:\n    ring = None\n", []),
    ],
)
def test_a_name_below_another_that_a_star_import_hands_on(
    program: Path, compat: str, names: list[str]
) -> None:
    files = {"compat.py": compat, "between.py": "from compat import *\n"}
    asks = "from between import *\nt.ring.start(1)\n"
    assert reported(program, USES, {**files, "z.py": asks}) == names


def test_another_name_of_the_api_counts(program: Path) -> None:
    table = '[row."torch.dist.init"]\nalias = ["torch.deep.dist.init"]\n'
    files = {"ours/api/zeros.toml": table, "z.py": "from torch.deep.dist import init\n"}
    assert reported(program, USES, files) == ["a.py", "b.py"]


@pytest.mark.parametrize("whole", [None, True, False])
def test_absence_is_told_of_a_whole_program_only(program: Path, whole: bool | None) -> None:
    write({"ours/XLA777-no-zeros.md": ABSENT}, program)
    options = Options(OPTIONS, jobs=1, cache=False, whole=whole)
    for paths, is_whole in (
        ([Path()], True),
        ([Path("a.py"), Path("b.py")], False),
        ([Path(), Path("a.py")], False),
    ):
        found = engine.check(paths, options).findings
        assert bool(found) == (is_whole if whole is None else whole)


def test_a_file_that_cannot_be_read_may_use_anything(program: Path) -> None:
    assert reported(program, ABSENT) == ["a.py", "b.py"]
    (program / "e.py").write_bytes(b"\xff\xfe\x00bad")
    assert reported(program, ABSENT) == []


def test_code_on_stdin_is_no_whole_program(program: Path) -> None:
    write({"ours/XLA777-no-zeros.md": ABSENT}, program)
    options = Options(OPTIONS, jobs=1, stdin=("a.py", SEED.encode()))
    assert not engine.check([Path("a.py")], options).findings
    write({"ours/XLA777-no-zeros.md": USES}, program)
    options = Options(
        {**OPTIONS, "rules": ["ours"]}, jobs=1, stdin=("a.py", (SEED + "torch.dist.init()").encode())
    )
    assert engine.check([Path("a.py")], options).findings


# ----------------------------------------------------------------------------- remembered


def test_only_what_rules_ask_of_the_program_makes_a_difference(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"ours/XLA777-no-zeros.md": ABSENT}, program)
    worked: list[str] = []

    def analysing(job: AnalyseJob) -> Analysed:
        worked.append(job.source.filename)
        return analyse(job)

    def checked(**files: str) -> tuple[list[str], list[str]]:
        write({f"{name}.py": text for name, text in files.items()}, program)
        worked.clear()
        report = check(**OPTIONS)
        return sorted(worked), codes(report, "a.py")

    check(**OPTIONS)
    monkeypatch.setattr(run, "analyse", analysing)
    assert checked(d="import torch_xla\ntorch_xla.sync()\n") == (["d.py"], ["XLA777"])
    assert checked(d="import torch\ntorch.manual_seed()\n") == (["a.py", "b.py", "c.py", "d.py"], [])
    assert checked(c="import torch, os\n") == (["c.py"], [])


# ------------------------------------------------------------------------------------ once


def test_a_rule_that_reports_once_reports_the_first(program: Path) -> None:
    assert reported(program, PAGE) == ["a.py", "b.py"]
    assert reported(program, ONCE) == ["a.py"]
    assert reported(program, ONCE, {"a.py": SEED + "torch.zeros(2)\n"}) == ["a.py"]
    assert reported(program, ONCE, {"a.py": ""}) == ["b.py"]


def test_other_rules_report_as_ever(program: Path) -> None:
    other = PAGE.replace("XLA777", "XLA778").replace("no-zeros", "other")
    files = {"ours/XLA778-other.md": other, "ours/XLA777-no-zeros.md": ONCE}
    write(files, program)
    report = check(**{**OPTIONS, "select": ["XLA777", "XLA778"]})
    assert [f.code for f in report.findings] == ["XLA777", "XLA778", "XLA778"]


def test_files_that_ignore_the_rule_are_passed_over(program: Path) -> None:
    write({"ours/XLA777-no-zeros.md": ONCE}, program)
    report = check(**OPTIONS, **{"per-file-ignores": {"a.py": ["XLA777"]}})
    assert [finding.filename for finding in report.findings] == ["b.py"]


@pytest.mark.parametrize("name", ["a.py", "b.py"])
def test_a_comment_on_any_of_them_is_for_all(program: Path, name: str) -> None:
    assert reported(program, ONCE, {name: COMMENT}) == []
    assert reported(program, PAGE, {name: COMMENT}) != []


# ----------------------------------------------------------------------------------- fixing


def fixed(root: Path, page: str, write_them: bool = True) -> tuple[list[str], list[str]]:
    write({"ours/XLA777-no-zeros.md": page}, root)
    outcome = engine.fix([Path()], Options(OPTIONS, jobs=1), {"safe"}, write_them)
    return [file.filename for file in outcome.files], [f.filename for f in outcome.after.findings]


def with_fix(page: str) -> str:
    return page.replace('mechanism = "error"\n', 'mechanism = "error"\n' + FIX)


def test_a_fix_that_changes_the_program_is_the_last_one(program: Path) -> None:
    assert fixed(program, with_fix(PAGE)) == (["a.py", "b.py"], [])
    write(FILES, program)
    for written in (False, True):
        assert fixed(program, with_fix(ABSENT), written) == (["a.py"], [])
    assert fixed(program, with_fix(ABSENT)) == ([], [])
    assert (program / "b.py").read_text() == SEED


def test_what_is_reported_once_is_fixed_until_nothing_is_left(program: Path) -> None:
    assert fixed(program, with_fix(ONCE)) == (["a.py", "b.py"], [])


def test_what_a_comment_keeps_still_is_not_fixed(program: Path) -> None:
    write({"b.py": COMMENT}, program)
    assert fixed(program, with_fix(ONCE)) == ([], [])


def test_a_fix_can_bring_a_finding_elsewhere(program: Path) -> None:
    page = USES.replace("torch.dist.init", "torch.manual_seed").replace('"torch.zeros"', '"torch.ones"')
    other = with_fix(PAGE).replace("XLA777", "XLA778").replace("no-zeros", "other")
    write({"ours/XLA777-no-zeros.md": page, "ours/XLA778-other.md": other}, program)
    write({"0.py": "import torch\ntorch.ones(1)\n"}, program)
    options = Options({**OPTIONS, "select": ["XLA777", "XLA778"]}, jobs=1)
    for _ in ("parsed", "cached"):
        outcome = engine.fix([Path()], options, {"safe"}, write=False)
        assert [f.filename for f in outcome.after.findings] == ["0.py"]


# --------------------------------------------------------------------------------- scripts


MAIN = '\nif __name__ == "__main__":\n    print()\n'


def test_each_script_reports_once(program: Path) -> None:
    scripts = {"a.py": SEED + MAIN, "b.py": SEED + "for i in range(3):\n    print(i)\n", "e.py": SEED}
    assert reported(program, ONCE, scripts) == ["a.py", "b.py", "e.py"]


def test_a_script_is_not_asked_what_another_does(program: Path) -> None:
    other = {"a.py": "import torch\ntorch.manual_seed(1)\n" + SEED + MAIN, "b.py": SEED + MAIN}
    assert reported(program, ABSENT, other) == ["b.py"]
    assert reported(program, ABSENT, {"z.py": "import torch\ntorch.manual_seed(1)\n"}) == []


def test_a_module_is_part_of_all_scripts(program: Path) -> None:
    files = {"a.py": SEED, "b.py": "import torch\n\ntorch.manual_seed(1)\n" + MAIN}
    assert reported(program, ABSENT, files) == []


def test_a_script_is_asked_what_it_imports_alone(program: Path) -> None:
    scripts = {"a.py": "import seeds\n" + SEED + MAIN, "b.py": SEED + MAIN, "seeds.py": SEED}
    other = {**scripts, "seeds.py": "import torch\ntorch.manual_seed(1)\n" + SEED}
    assert reported(program, ABSENT, other) == []
    assert reported(program, NOT_IMPORTED, other) == ["b.py"]
    computed = {"b.py": "import importlib\nimportlib.import_module(__name__)\n" + SEED + MAIN}
    assert reported(program, NOT_IMPORTED, {**other, **computed}) == []


def test_a_module_is_asked_what_each_of_its_scripts_imports(program: Path) -> None:
    shared = {"a.py": "import c\nimport torch\n" + MAIN, "b.py": "import c\n" + MAIN, "c.py": SEED}
    assert reported(program, NOT_IMPORTED, shared) == ["c.py"]
    seeded = {"a.py": "import c\nimport torch\ntorch.manual_seed(1)\n" + MAIN}
    assert reported(program, NOT_IMPORTED, {**shared, **seeded}) == []


def test_a_script_that_is_imported_is_a_module(program: Path) -> None:
    files = {"a.py": "import torch\ntorch.manual_seed(1)\n" + MAIN, "b.py": "import a\n" + SEED + MAIN}
    assert reported(program, ABSENT, files) == []


def test_scripts_are_fixed_one_by_one(program: Path) -> None:
    write({"a.py": SEED + MAIN, "b.py": SEED + MAIN}, program)
    assert fixed(program, with_fix(ABSENT)) == (["a.py", "b.py"], [])


ON_ONE_RANK = """\
import torch
from torch import nn
IMPORT

model = nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
PREPARED
for epoch in range(3):
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        INSIDE
    if rank == 0:
        for y in val_loader:
            print(model(y).sum())
"""
PREPARED = "model, optimizer, loader = Accelerator().prepare(model, optimizer, loader)"
INSIDE = "if rank == 0:\n            print(model(y))"


@pytest.mark.parametrize(
    ("parts", "severities"),
    [
        (("from accelerate import Accelerator", PREPARED, "pass"), ["info"]),
        (("from accelerate import Accelerator", PREPARED, INSIDE), ["warning", "info"]),
        (("", "model = model.cuda()", "pass"), ["warning"]),
    ],
)
def test_a_prepared_loader_ends_the_last_step(
    tmp_path: Path, parts: tuple[str, str, str], severities: list[str]
) -> None:
    text = ON_ONE_RANK
    for name, part in zip(("IMPORT", "PREPARED", "INSIDE"), parts, strict=True):
        text = text.replace(name, part)
    (tmp_path / "train.py").write_text(text)
    options = engine.Options({"select": ["XLA710"]}, isolated=True, jobs=1, cache=False)
    assert [f.severity for f in engine.check([tmp_path], options).findings] == severities


GLOW = """\
import torch
from torch import nn


class Glow(nn.Module):
    def forward(self, x):
        return x

    def NAME(self, x):
        return torch.cuda.FloatTensor(3).normal_() + torch.randn(3, device=x.device)
"""
SEEDED = """\
import torch
from glow import Glow


def main():
    torch.manual_seed(1)
    model = Glow().cuda()
"""
RUN = "\n\nif __name__ == '__main__':\n    main()\n"


@pytest.mark.parametrize(
    ("name", "severities"),
    [
        ("infer", {"train.py": "info", "show.py": "warning"}),
        ("noisy", {"train.py": "warning", "show.py": "warning"}),
    ],
)
def test_training_draws_nothing_that_only_inference_draws(
    tmp_path: Path, name: str, severities: dict[str, str]
) -> None:
    train = "    optimizer = torch.optim.Adam(model.parameters())\n    optimizer.step()\n"
    (tmp_path / "glow.py").write_text(GLOW.replace("NAME", name))
    (tmp_path / "train.py").write_text(SEEDED + train + RUN)
    (tmp_path / "show.py").write_text(SEEDED + f"    print(model.{name}(x))\n" + RUN)
    options = engine.Options({"select": ["XLA408"]}, isolated=True, jobs=1, cache=False)
    places = [one for f in engine.check([tmp_path], options).findings for one in (f, *f.also)]
    assert {Path(f.filename).name: f.severity for f in places} == severities


NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 3), LAYER)
"""
TRAIN = """\
import torch
from pk.MODULE import Net


def train():
    torch.manual_seed(1)
    model = Net().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.step()
"""
MODELS = {
    "pk/__init__.py": "",
    "pk/quiet.py": NET.replace("LAYER", "nn.ReLU()"),
    "pk/noisy.py": NET.replace("LAYER", "nn.Dropout()"),
}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"quiet.py": TRAIN.replace("MODULE", "quiet") + RUN.replace("main()", "train()")}, set()),
        (
            {
                "quiet.py": TRAIN.replace("MODULE", "quiet") + RUN.replace("main()", "train()"),
                "noisy.py": TRAIN.replace("MODULE", "noisy") + RUN.replace("main()", "train()"),
            },
            {"noisy.py"},
        ),
        # handed on by the package it is in
        (
            {
                "pk/__init__.py": "from pk.a import train\nfrom pk.b import train as other\n",
                "pk/a.py": TRAIN.replace("MODULE", "quiet") + RUN.replace("main()", "train()"),
                "pk/b.py": TRAIN.replace("MODULE", "noisy") + RUN.replace("main()", "train()"),
            },
            {"b.py"},
        ),
        # what another script runs is part of it
        (
            {
                "pk/loop.py": TRAIN.replace("MODULE", "quiet") + RUN.replace("main()", "train()"),
                "run.py": "import pk.noisy\nfrom pk.loop import train\n" + RUN.replace("main()", "train()"),
            },
            {"loop.py"},
        ),
        # a program that computes the names of modules may import any
        (
            {
                "quiet.py": "import importlib\nimportlib.import_module(name)\n"
                + TRAIN.replace("MODULE", "quiet")
                + RUN.replace("main()", "train()"),
            },
            {"quiet.py"},
        ),
        # a module that is not found where it is looked for
        (
            {
                "quiet.py": "import noisy\n"
                + TRAIN.replace("MODULE", "quiet")
                + RUN.replace("main()", "train()"),
            },
            {"quiet.py"},
        ),
        # a module that no script imports, as far as is known
        (
            {"seeds.py": "import torch\n\n\ndef seed():\n    torch.manual_seed(1)\n" + "", "t.py": TRAIN},
            {"seeds.py"},
        ),
    ],
)
def test_a_script_draws_what_it_imports(tmp_path: Path, more: dict[str, str], expected: set[str]) -> None:
    write({**MODELS, **more}, tmp_path)
    options = engine.Options({"select": ["XLA4"]}, isolated=True, jobs=1, cache=False)
    found = [f for f in engine.check([tmp_path], options).findings if f.code == "XLA408"]
    assert {Path(f.filename).name for f in found} == expected
