"""A fix that lets a program choose XLA is safe only where nothing that gets the device raises for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine
from xlamig.engine.fixing import FixOutcome

PICK = "import torch\n\n\ndef pick():\n    return 'cuda' if torch.cuda.is_available() else 'cpu'\n"
USE = "import torch\nfrom pick import pick\n\n\ndef use(path, device, flag=False):\n    "


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fix(*select: str, unsafe: bool = False) -> FixOutcome:
    options = engine.Options({"select": list(select)}, isolated=True, jobs=1, cache=False)
    grades = frozenset({"safe", "unsafe"} if unsafe else {"safe"})
    return engine.fix([Path()], options, grades, write=True)  # type: ignore[arg-type]


def chooses_xla() -> bool:
    return "default_device" in Path("pick.py").read_text()


CHAIN = "if device == 'cuda':\n        x = 1\n    elif device == 'cpu':\n        x = 2\n    else:\n        "
RAISES = [
    "assert device in ('cuda', 'cpu')",
    "assert device.type in ['cuda', 'mps', 'cpu'], device",
    "if device not in {'cuda', 'cpu'}:\n        raise ValueError(device)",
    "return {'cuda': 1, 'cpu': 2}[device]",
    "table = {'cuda': 1, 'cpu': 2}\n    return table[device]",
    f"{CHAIN}raise ValueError",
]
SAVES = "torch.jit.trace(model.to(device), x.to(device)).save('model.pt')"


@pytest.mark.parametrize("line", RAISES)
@pytest.mark.parametrize("another_file", [False, True])
def test_what_would_raise_is_reported_before_and_holds_the_fix(
    tmp_path: Path, line: str, another_file: bool
) -> None:
    if another_file:
        write(
            {"pick.py": PICK, "use.py": f"{USE}{line}\n", "main.py": "import torch\nimport pick, use\n"},
            tmp_path,
        )
    else:
        write({"pick.py": f"{PICK}\n\ndef use(device):\n    {line}\n"}, tmp_path)
    outcome = fix("XLA003", "XLA013")
    assert {f.code for f in outcome.before.findings} == {"XLA003", "XLA013"}
    assert not chooses_xla()
    [held] = [f for f in outcome.after.findings if f.code == "XLA003"]
    assert held.fix is not None and held.fix.applicability == "unsafe" and "which raises" in held.fix.message
    fix("XLA003", unsafe=True)
    assert chooses_xla()


@pytest.mark.parametrize(
    "line",
    [
        "assert device in ('cuda', 'xla', 'cpu')",
        "assert path in ('cuda', 'cpu')",
        "assert device in ('fast', 'cuda')",
        "return {'cuda': 1, 'cpu': 2}.get(device)",
        "return {'cuda': 1, 'cpu': 2}['cpu']",
        "if device not in ('cuda', 'cpu'):\n        print(device)",
        f"{CHAIN}x = 3",
        "torch.load(path, map_location='cpu')",
        "torch.load(path, map_location='cpu' if str(device).startswith('xla') else device)",
        "torch.Generator()",
        "torch.jit.load('model.pt').to(device)",
        "return torch.autocast(device_type=device)",
    ],
)
def test_what_takes_any_device_holds_nothing(tmp_path: Path, line: str) -> None:
    write({"pick.py": PICK, "use.py": f"{USE}{line}\n"}, tmp_path)
    fix("XLA003", "XLA013")
    assert chooses_xla()


def test_a_program_that_saves_a_traced_model_holds_the_fix(tmp_path: Path) -> None:
    write({"pick.py": f"{PICK}\n\ndef use(model, x, device):\n    {SAVES}\n"}, tmp_path)
    fix("XLA003")
    assert not chooses_xla()
    fix("XLA003", unsafe=True)
    assert chooses_xla()


def test_a_program_that_shares_no_module_holds_nothing(tmp_path: Path) -> None:
    other = f"import torch\n\n\ndef f(device):\n    {RAISES[0]}\n"
    write({"one/pick.py": PICK, "two/use.py": other, "tests/test_use.py": other}, tmp_path)
    fix("XLA003")
    assert "default_device" in Path("one/pick.py").read_text()


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        ("torch.load(path, map_location={0})", "XLA907"),
        ("torch.Generator(device={0})", "XLA513"),
    ],
)
def test_a_place_that_a_safe_fix_mends_holds_nothing_once_it_is_mended(
    tmp_path: Path, call: str, rule: str
) -> None:
    write({"pick.py": PICK, "use.py": f"{USE}return {call.format('device')}\n"}, tmp_path)
    fix("XLA003")
    assert not chooses_xla()
    outcome = fix("XLA003", rule)
    assert chooses_xla()
    new = '"cpu" if str(device).startswith("xla") else device'
    assert call.format(new) in Path("use.py").read_text()
    assert not outcome.after.findings and not fix("XLA003", rule).files


def test_a_device_as_text_is_equal_to_its_type(tmp_path: Path) -> None:
    write({"pick.py": PICK, "one.py": PICK.replace("'cuda'", "'cuda:0'")}, tmp_path)
    fix("XLA003")
    assert "return default_device().type\n" in Path("pick.py").read_text()
    assert "return str(default_device(0))\n" in Path("one.py").read_text()
