"""Functions and classes that reach their callers through a registry."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options
from xlamig.flow.interp.program import ModulesRun

REGISTRY = """class Registry:
    def __init__(self):
        self._held = {}
    def register(self, name=None):
        def put(held):
            self._put(name or held.__name__, held)
            return held
        return put
    def _put(self, name, held):
        self._held[name] = held
    def describe(self, name):
        return name
    def get(self, name):
        return self._held[name]
    def build(self, settings):
        return self._held[settings["type"]]()
LOSSES = Registry()
STEPS = {}
def step(name):
    def put(function):
        STEPS[name] = function
        return function
    return put
def noted(name):
    def put(function):
        print(name, function)
        return function
    return put
"""
HEAD = "import torch\nfrom registry import LOSSES, STEPS, noted, step\n"
FUNCTION = "def read(y):\n    return y.sum().item()\n"
CLASS = "class Loss:\n    def compute(self, y):\n        return y.sum().item()\n"
OTHER = "@LOSSES.register('b')\nclass Other:\n    def compute(self, y):\n        return y\n"
MAIN = """import torch
import losses
from registry import LOSSES, STEPS
def train(model, loader, name, settings):
    {made}
    for x in loader:
        y = model(x.to("xla"))
        {used}
"""


ONE_OF_TWO = """import torch
class A: pass
class B: pass
def f(x, flag):
    C = A if flag else B
    {use}
"""


@pytest.mark.parametrize(
    "use", ["if isinstance(x, C): return x.y", "class D(C): pass", "return C.z", "def g(x: C): return x.y"]
)
def test_one_of_two_classes_may_stand_wherever_a_class_does(use: str) -> None:
    text = ONE_OF_TWO.format(use=use).encode()
    report = engine.check([Path("a.py")], Options({}, isolated=True, stdin=("a.py", text)))
    assert report.rule_errors == () and report.skipped == ()


def found(tmp_path: Path, losses: str, made: str, used: str) -> list[tuple[str, str]]:
    files = {"registry": REGISTRY, "losses": HEAD + losses, "main": MAIN.format(made=made, used=used)}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    report = engine.check([tmp_path], Options({"select": ["XLA101"]}, isolated=True))
    return [(Path(f.filename).name, f.severity) for f in report.findings]


@pytest.mark.parametrize(
    ("losses", "made", "used"),
    [
        (f"@noted('a')\n{FUNCTION}", "read = STEPS[name]", "read(y)"),
        (f"@step('a')\n{FUNCTION}", "read = STEPS['b']", "read(y)"),
        (f"@LOSSES.describe('a')\n{CLASS}", "loss = LOSSES.build(settings)", "loss.compute(y)"),
        (f"{FUNCTION}STEPS['a'] = read", "read = STEPS['b']", "read(y)"),
        (f"{FUNCTION}HELD = {{}}\nHELD['a'] = read", "read = STEPS[name]", "read(y)"),
    ],
)
def test_what_no_registry_gives_has_no_step(tmp_path: Path, losses: str, made: str, used: str) -> None:
    assert found(tmp_path, losses, made, used) in ([], [("losses.py", "info")])


@pytest.mark.parametrize(
    ("losses", "made", "used"),
    [
        (f"@step('a')\n{FUNCTION}", "read = STEPS[name]", "read(y)"),
        (f"@step('a')\n{FUNCTION}", "read = STEPS['a']", "read(y)"),
        (f"@step('a')\n{FUNCTION}", "read = STEPS.get(name)", "read(y)"),
        (f"{FUNCTION}STEPS_HERE = {{'a': read}}", "read = losses.STEPS_HERE[name]", "read(y)"),
        (f"{FUNCTION}HELD = {{}}\nHELD['a'] = read", "read = losses.HELD[name]", "read(y)"),
        (f"{FUNCTION}STEPS['a'] = read", "read = STEPS[name]", "read(y)"),
        (f"{FUNCTION}STEPS.update({{'a': read}})", "read = STEPS[name]", "read(y)"),
        (f"{CLASS}STEPS['a'] = Loss", "loss = STEPS[name]()", "loss.compute(y)"),
        (f"@LOSSES.register('a')\n{CLASS}", "loss = LOSSES.build(settings)", "loss.compute(y)"),
        (f"@LOSSES.register()\n{CLASS}", "loss = LOSSES.get(name)()", "loss.compute(y)"),
        (f"@LOSSES.register('a')\n{CLASS}{OTHER}", "loss = LOSSES.build(settings)", "loss.compute(y)"),
    ],
)
def test_what_a_registry_gives_runs_where_it_is_called(
    tmp_path: Path, losses: str, made: str, used: str
) -> None:
    assert found(tmp_path, losses, made, used) == [("losses.py", "warning")]


def test_runs_no_module_of_a_registry_that_holds_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of sixty files registers a class, more than an analysis has in reach."""
    for i in range(60):
        (tmp_path / f"losses{i}.py").write_text(HEAD + f"@LOSSES.register('a')\n{CLASS}", encoding="utf-8")
    (tmp_path / "registry.py").write_text(REGISTRY, encoding="utf-8")
    main = MAIN.format(made="loss = LOSSES.get(name)", used="loss.compute(y)").replace("import losses\n", "")
    (tmp_path / "main.py").write_text(main, encoding="utf-8")
    started: list[str] = []
    run = ModulesRun._machine
    monkeypatch.setattr(ModulesRun, "_machine", lambda self, name: started.append(name) or run(self, name))
    report = engine.check([tmp_path], Options({"select": ["XLA101"]}, isolated=True, jobs=1, cache=False))
    assert [f.filename for f in report.findings if not f.filename.startswith("losses")] == []
    assert not any(".losses" in name for name in started)
