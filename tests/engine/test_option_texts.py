"""Branches for strings that nothing in the project gives an option are reported as such."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

SOLVER = """import torch
class Solver:
    def __init__(self, schedule="cosine"):
        self.schedule = schedule
    def times(self, kind, n):
        if {test}:
            return torch.ones(n).cuda()
        return torch.ones(n)
    def sample(self, n=3, kind="uniform"):
        return self.times(kind, n)
"""
RUN = "import torch\nfrom solver import Solver\nsolver = Solver(schedule='discrete')\n"
PARSED = (
    RUN + "import argparse\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--kind', {how})\nargs = parser.parse_args()\nsolver.sample(kind=args.kind)\n"
)
FREE = {"run.py": PARSED.format(how="default='uniform'")}


def severities(folder: Path, files: dict[str, str]) -> list[str]:
    """Return the severities of the findings about `.cuda()`, in the order of the lines."""
    write(files, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    found = sorted(engine.check([folder], options).findings, key=lambda f: f.place.start)
    return [finding.severity for finding in found]


@pytest.mark.parametrize(
    ("test", "call"),
    [
        ("kind == 'log'", "solver.sample(kind='log')"),
        ("kind == 'log'", "solver.sample(3, 'log')"),
        ("kind == 'log'", "solver.sample(kind=name.lower())"),
        ("kind == 'log'", "for k in ('log', 'uniform'): solver.sample(kind=k)"),
        ("kind == 'log'", "settings = {'kind': 'log'}; solver.sample(**settings)"),
        ("kind == 'uniform'", "solver.sample()"),
        ("kind != 'log'", "solver.sample()"),
        ("kind in ('log', 'uniform')", "solver.sample()"),
        ("kind not in ('log', 'karras')", "solver.sample()"),
        ("'uni' in kind", "solver.sample()"),
        ("kind", "solver.sample()"),
        ("kind is not None", "solver.sample()"),
        ("kind == other", "solver.sample()"),
        ("kind == 'log' or n > 3", "solver.sample()"),
        ("kind is None", "solver.sample(kind=None)"),
        ("self.schedule == 'linear'", "solver.sample(); Solver('linear')"),
        ("self.schedule == 'linear'", "solver.schedule = 'linear'; solver.sample()"),
    ],
)
def test_lists_branches_for_strings_that_something_passes(tmp_path: Path, test: str, call: str) -> None:
    files = {"solver.py": SOLVER.format(test=test), "run.py": f"{RUN}{call}\n"}
    assert severities(tmp_path, files) == ["error"]


@pytest.mark.parametrize(
    ("test", "call"),
    [
        ("kind == 'log'", "solver.sample()"),
        ("kind == 'log'", "solver.sample(); solver.sample(kind='karras')"),
        ("kind == 'log'", "solver.sample(); solver.sample(kind=None)"),
        ("'log' == kind", "solver.sample()"),
        ("kind in ('log', 'karras')", "solver.sample()"),
        ("kind in ['log']", "solver.sample()"),
        ("kind not in ('karras', 'uniform')", "solver.sample()"),
        ("'log' in kind", "solver.sample()"),
        ("kind != 'uniform'", "solver.sample()"),
        ("kind is None", "solver.sample()"),
        ("not kind", "solver.sample()"),
        ("kind == 'log' and n > 3", "solver.sample()"),
        ("self.schedule == 'linear'", "solver.sample()"),
    ],
)
def test_lowers_branches_for_strings_that_nothing_passes(tmp_path: Path, test: str, call: str) -> None:
    files = {"solver.py": SOLVER.format(test=test), "run.py": f"{RUN}{call}\n"}
    assert severities(tmp_path, files) == ["info"]


@pytest.mark.parametrize(
    "files",
    [
        {"run.py": PARSED.format(how="default='uniform', choices=['log', 'uniform']")},
        {"run.py": PARSED.format(how="type=str")},
        {**FREE, "a.sh": "python run.py --kind log\n"},
        {**FREE, "a.sh": "python run.py --kind $KIND\n"},
        {**FREE, "a.sh": 'python run.py --kind="${KIND}"\n'},
        {**FREE, "a.yaml": "kind: log\n"},
        {**FREE, "a.yaml": "kind: ${other.kind}\n"},
        {**FREE, "README.md": "Run `python run.py --kind log`\n"},
        {},  # a library: what calls it is not known
    ],
)
def test_lists_branches_for_strings_that_a_user_may_pass(tmp_path: Path, files: dict[str, str]) -> None:
    assert severities(tmp_path, {"solver.py": SOLVER.format(test="kind == 'log'"), **files}) == ["error"]


@pytest.mark.parametrize(
    "files",
    [
        FREE,
        {**FREE, "a.sh": "python run.py --kind uniform\n"},
        {**FREE, "a.yaml": "kind: 'uniform'  # or another\n"},
        {**FREE, "a.json": '{"kind": "karras"}\n'},
    ],
)
def test_lowers_branches_for_strings_that_settings_leave(tmp_path: Path, files: dict[str, str]) -> None:
    assert severities(tmp_path, {"solver.py": SOLVER.format(test="kind == 'log'"), **files}) == ["info"]


@pytest.mark.parametrize("name", ["arch", "model_type", "dataset", "mode", "stage", "device", "dtype"])
def test_lists_branches_for_what_users_choose_between(tmp_path: Path, name: str) -> None:
    text = SOLVER.format(test="kind == 'log'").replace("kind", name)
    assert severities(tmp_path, {"solver.py": text, "run.py": RUN + "solver.sample()\n"}) == ["error"]


SPLIT = """import torch
class Solver:
    def times(self, kind):
        lower = kind.lower()
        if {first}:
            return torch.ones(2).cuda()
        parts = lower.split("_")
        lower = parts[-1]
        if {second}:
            return torch.zeros(2).cuda()
        return torch.ones(2)
"""


@pytest.mark.parametrize(
    ("first", "second", "passed", "expected"),
    [
        ("'fast' in lower", "lower == 'fastlog'", "Uni_Log", ["info", "info"]),
        ("kind.lower() == 'fast'", "lower in ('fast', 'slow')", "Uni_Log", ["info", "info"]),
        ("kind[:4].upper() == 'FAST'", "'fast' in parts", "Uni_Log", ["info", "info"]),
        ("'log' in lower", "lower == 'log'", "Uni_Log", ["error", "error"]),
        ("kind.lower() == 'uni_log'", "lower != 'uni'", "Uni_Log", ["error", "error"]),
        ("'fast' not in lower", "lower != 'fastlog'", "Uni_Log", ["error", "info"]),  # the first returns
        ("lower", "parts[0] == 'uni'", "Uni_Log", ["error", "error"]),
        ("lower.replace('u', 'f') == 'fni_log'", "lower == other", "Uni_Log", ["error", "error"]),
        ("'fast' in lower", "lower == 'fastlog'", "FastLog", ["error", "error"]),
    ],
)
def test_knows_the_parts_of_strings(
    tmp_path: Path, first: str, second: str, passed: str, expected: list[str]
) -> None:
    text = SPLIT.format(first=first, second=second)
    run = f"import torch\nfrom solver import Solver\nSolver().times('{passed}')\n"
    assert severities(tmp_path, {"solver.py": text, "run.py": run}) == expected


@pytest.mark.parametrize("lines", ["kind = kind.lower()", "kind = kind.strip()\n        kind = kind.lower()"])
def test_a_parameter_may_become_a_part_of_itself(tmp_path: Path, lines: str) -> None:
    text = SPLIT.format(first="kind == 'log'", second="kind == 'fast'").replace("lower = kind.lower()", lines)
    run = "import torch\nfrom solver import Solver\nSolver().times('Log')\n"
    assert severities(tmp_path, {"solver.py": text, "run.py": run}) == ["error", "info"]


def test_lowers_the_branches_after_the_one_that_is_taken(tmp_path: Path) -> None:
    text = SOLVER.format(test="kind == 'uniform'").replace(
        "        return torch.ones(n)\n    def",
        "        elif n:\n            return torch.ones(n).cuda()\n        return torch.ones(n)\n    def",
    )
    assert severities(tmp_path, {"solver.py": text, "run.py": RUN + "solver.sample()\n"}) == ["error", "info"]


SAMPLER = """import torch
class Clock:
    def __init__(self, kind="uniform"):
        self.kind = kind
        if {test}:
            torch.ones(2).cuda()
def draw(kind="uniform"):
    if kind == "log":
        return torch.ones(2).cuda()
"""


@pytest.mark.parametrize(
    ("test", "run", "expected"),
    [
        # Other functions and objects have options of the same name.
        ("kind == 'log'", "Clock()\ndraw(kind='log')\n", ["info", "error"]),
        ("self.kind == 'log'", "Clock()\ndraw(kind='log')\n", ["info", "error"]),
        ("kind == 'log'", "Clock(kind='log')\ndraw()\n", ["error", "info"]),
        ("kind == 'log'", "Clock()\nkind = input()\ndraw()\n", ["info", "info"]),
        # What nobody knows the function of may be any.
        ("kind == 'log'", "Clock()\ndraw()\nmake(kind='log')\n", ["error", "error"]),
        ("kind == 'log'", "Clock()\ndraw()\nmake(**{'kind': 'log'})\n", ["error", "error"]),
        ("self.kind == 'log'", "clock = Clock()\ndraw()\nclock.kind = 'log'\n", ["info", "info"]),  # too late
        # A function that is handed to others gets what they give it.
        ("kind == 'log'", "Clock()\ndraw()\nkind = input()\nbutton.click(fn=draw)\n", ["info", "error"]),
        ("kind == 'log'", "Clock()\ndraw()\nkind = input()\nmap(draw, kinds)\n", ["info", "error"]),
        # A class without a constructor has that of its base.
        ("kind == 'log'", "class Own(Clock): ...\nOwn('log')\ndraw()\n", ["error", "info"]),
        ("kind == 'log'", "class Own(Clock): ...\nOwn('log-normal')\ndraw()\n", ["info", "info"]),
    ],
)
def test_tells_options_of_the_same_name_apart(
    tmp_path: Path, test: str, run: str, expected: list[str]
) -> None:
    run = f"import torch\nfrom sampler import Clock, draw\n{run}"
    assert severities(tmp_path, {"sampler.py": SAMPLER.format(test=test), "run.py": run}) == expected


@pytest.mark.parametrize(("run", "expected"), [("", "info"), ("clock.kind = 'log'\n", "error")])
def test_an_object_may_be_given_an_option_before_its_methods_run(
    tmp_path: Path, run: str, expected: str
) -> None:
    method = SAMPLER.format(test="self.kind == 'log'").replace(
        "        if self", "    def tick(self):\n        if self"
    )
    run = f"import torch\nfrom sampler import Clock\nclock = Clock()\n{run}clock.tick()\n"
    found = severities(tmp_path, {"sampler.py": method.partition("def draw")[0], "run.py": run})
    assert found == [expected]


SAMPLE = """import torch
from steps import fast, slow
class Debugger:
    def __call__(self, x):
        return x.cuda()
def sample(x, kind="fast"):
    if kind == "slow":
        return slow(x)
    return fast(x)
"""
STEPS = """import torch
def both(x):
    return x.cuda()
def slow(x):
    return both(x)
def fast(x):
    return x
"""
PROGRAM = """import torch, argparse
from sample import Debugger, sample
if __name__ == "__main__":
    sample(torch.ones(2))
"""
DEBUG = (
    PROGRAM
    + """    parser = argparse.ArgumentParser()
    parser.add_argument("--debug_nan", action="store_true")
    args = parser.parse_args()
    if args.debug_nan:
        Debugger()(1)
"""
)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, ["info", "info"]),
        ({"steps.py": STEPS.replace("return x\n", "return both(x)\n")}, ["info", "error"]),
        ({"steps.py": STEPS + "table = {'both': both}\n"}, ["info", "error"]),
        ({"steps.py": STEPS + "def get(name):\n    return globals()[name]\n"}, ["info", "error"]),
        ({"more.py": PROGRAM.replace("ones(2)", "ones(2), kind='slow'")}, ["info", "error"]),
        ({"setup.py": "from setuptools import setup\nsetup(author='A')\n"}, ["error", "error"]),
        ({"README.md": "Call `steps.both(x)`\n"}, ["info", "error"]),
        ({"more.py": PROGRAM + "    Debugger()(1)\n"}, ["error", "info"]),
    ],
)
def test_lowers_what_only_such_branches_use(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    write({"sample.py": SAMPLE, "steps.py": STEPS, "run.py": DEBUG, **files}, tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    found = sorted(engine.check([tmp_path], options).findings, key=lambda f: f.filename)
    assert [finding.severity for finding in found] == expected


def test_what_the_cache_keeps_of_options_follows_settings_and_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1)

    def severities_now(files: dict[str, str]) -> list[str]:
        write(files, tmp_path)
        return [finding.severity for finding in engine.check([Path()], options).findings]

    assert severities_now({"solver.py": SOLVER.format(test="kind == 'log'"), **FREE}) == ["info"]
    assert severities_now({"a.json": '{"kind": "log"}\n'}) == ["error"]
    assert severities_now({"a.json": '{"kind": "karras"}\n'}) == ["info"]
    assert severities_now({"run.py": FREE["run.py"] + "solver.sample(kind='log')\n"}) == ["error"]
    assert severities_now({"run.py": FREE["run.py"] + "print()\n"}) == ["info"]


@pytest.mark.parametrize(
    ("page", "expected"),
    [("README.md", ["error"]), ("a/README.md", ["error"]), ("docs/README.md", ["info"])],
)
def test_reads_pages_of_the_folders_around_a_program(tmp_path: Path, page: str, expected: list[str]) -> None:
    text = PARSED.format(how="default='uniform'")
    files = {
        "a/b/solver.py": SOLVER.format(test="kind == 'log'"),
        "a/b/run.py": text,
        "c/other.py": "import torch\n",
        page: "Run `python a/b/run.py --kind log`\n",
    }
    assert severities(tmp_path, files) == expected
