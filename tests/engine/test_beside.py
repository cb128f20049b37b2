"""Findings that are counted and not listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xlamig import engine
from xlamig.engine import Options
from xlamig.findings import Report
from xlamig.report.summary import summary

CUDA = "import torch\nx = torch.ones(2).cuda()\n"
UNIT_TEST = "import torch\nimport pytest\ndef test_x(): torch.ones(2).cuda()\n"
EVALUATES = """import torch
def test_net(net, x):
    return net(x.cuda())
if __name__ == "__main__":
    test_net(1, 2)
"""
TIMES = "import time, torch\nstart = time.perf_counter()\nx = torch.ones(2).cuda()\n"
CONVERTS = """import torch
def main(path):
    old = torch.load(path, map_location="cpu")["state_dict"]
    print(sum(value.half().norm() for value in old.values()))
    torch.save(old, "new.pt")
if __name__ == "__main__":
    main("old.pt")
"""
CALLS = CONVERTS.replace("    torch.save", "    print(model(torch.ones(2)))\n    torch.save")
EXPORTS = """import torch
from nets.plain import Net
def main():
    net = Net()
    net(torch.ones(2).half())
    torch.onnx.export(net, torch.ones(2), "net.onnx")
if __name__ == "__main__":
    main()
"""
NET = """import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return x.half()
"""
FLAG = "import torch\ntorch.backends.cudnn.benchmark = True\n"


def check(root: Path, files: dict[str, str], *paths: str, **settings: Any) -> Report:
    for name, text in {"train.py": CUDA, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    options = Options(settings, isolated=True, jobs=1, cache=False)
    return engine.check([Path(path) for path in paths or (".",)], options)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def listed(report: Report) -> set[str]:
    return {finding.filename for finding in report.findings}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("test_net.py", EVALUATES),
        ("test/run.py", EVALUATES),
        ("testing.py", CUDA),
        ("benchmarks/train.py", CUDA + "torch.save(x, 'x.pt')\n"),
        ("benchmarks/train_net.py", CUDA),
        ("benchmarks/bench_save.py", CUDA + "torch.save(x, 'x.pt')\n"),
        ("bench_graph.py", CUDA),
        ("latest/main.py", CUDA),
    ],
)
def test_lists_what_only_sounds_like_a_test(here: Path, name: str, text: str) -> None:
    assert listed(check(here, {name: text})) == {"train.py", name}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tests/helpers.py", CUDA),
        ("test/helpers.py", CUDA),
        ("pkg/test_x.py", UNIT_TEST),
        ("conftest.py", CUDA),
        ("benchmark_speed.py", TIMES),
        ("generation_benchmarks.py", TIMES),
        ("benchmarks/speed.py", TIMES),
        ("benchmarks/bench_graph.py", CUDA),
        ("tools/benchmark/net_benchmark.py", CUDA),
    ],
)
def test_counts_findings_in_tests_and_benchmarks(here: Path, name: str, text: str) -> None:
    report = check(here, {name: text})
    assert listed(report) == {"train.py"}
    assert [(f.filename, f.aside) for f in report.aside] == [(name, "tests")]
    assert "Tests and benchmarks: 1 finding, --include-tests shows them." in list(summary(report))


def test_the_setting_lists_them(here: Path) -> None:
    report = check(here, {"tests/a.py": CUDA}, **{"include-tests": True})
    assert (listed(report), report.aside) == ({"train.py", "tests/a.py"}, ())


def test_a_run_over_nothing_but_tests_lists_them(here: Path) -> None:
    assert listed(check(here, {"tests/a.py": CUDA}, "tests")) == {"tests/a.py"}


def test_a_test_that_cannot_be_read_is_reported(here: Path) -> None:
    assert "tests/a.py" in listed(check(here, {"tests/a.py": "x = (\n"}))


def test_a_finding_in_a_test_does_not_stand_for_one_in_the_program(here: Path) -> None:
    seeds = "import torch\ntorch.cuda.manual_seed_all(1)\n"
    report = check(here, {"a/tests/x.py": seeds, "main.py": seeds}, select=["XLA408"])
    assert listed(report) == {"main.py"}


def test_a_fix_leaves_tests_alone(here: Path) -> None:
    check(here, {"tests/a.py": CUDA})
    engine.fix([Path()], Options({}, isolated=True, jobs=1, cache=False), {"safe"}, write=True)
    assert (here / "tests/a.py").read_text() == CUDA != (here / "train.py").read_text()


@pytest.mark.parametrize("text", [CALLS, CONVERTS.replace("if __name__ == ", "if "), CONVERTS + CUDA])
def test_a_script_that_computes_is_no_converter(here: Path, text: str) -> None:
    assert not [f for f in check(here, {"convert.py": text}).aside if f.aside == "converters"]


def test_counts_what_matters_on_a_device_in_converters(here: Path) -> None:
    report = check(here, {"convert.py": CONVERTS})
    assert ("XLA802", "converters") in [(f.code, f.aside) for f in report.aside]
    assert "convert.py" in listed(check(here, {}, **{"include-converters": True}))


UNPACKS = """import torch
def main(path):
    net = torch.jit.load(path, map_location="cpu")
    torch.save(net.state_dict(), "new.pt")
if __name__ == "__main__":
    main("old.pt")
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (UNPACKS, ["converters"]),
        (UNPACKS.replace("    torch.save", "    print(net(torch.ones(2)))\n    torch.save"), []),
        (UNPACKS.replace("    torch.save", "    net.cuda()\n    torch.save"), []),
        (UNPACKS.replace('"cpu"', '"cuda"'), []),
    ],
)
def test_a_converter_saves_what_the_host_has(here: Path, text: str, expected: list[str]) -> None:
    report = check(here, {"convert.py": text, "move.py": CUDA}, select=["XLA906"], confidence="possible")
    assert [f.aside for f in report.aside] == expected
    assert ("convert.py" in listed(report)) is not bool(expected)


RENAMES = """import torch
from options import ckpt_path
states = torch.load(ckpt_path{place})
for name in list(states):
    states[name.replace("module.", "")] = states.pop(name)
torch.save({saved}, "new.pth")
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (RENAMES.format(place="", saved="states"), ["info"]),
        (
            RENAMES.format(place="", saved="states").replace("\ntorch.save", "\ndef f():\n    torch.save"),
            ["warning"],
        ),
        (RENAMES.format(place="", saved="states") + "net = Net()\nnet.cuda()\n", ["warning"]),
        (RENAMES.format(place=", map_location='cuda'", saved="states"), ["error"]),
        (UNPACKS.replace('jit.load(path, map_location="cpu")', "load(path + '.ckpt')"), ["info"]),
    ],
)
def test_a_converter_may_load_its_file_anywhere(here: Path, text: str, expected: list[str]) -> None:
    report = check(here, {"convert.py": text, "move.py": CUDA}, select=["XLA907"])
    assert [f.severity for f in report.findings if f.filename == "convert.py"] == expected


@pytest.mark.parametrize(
    ("saved", "beside"), [("states", True), ("{'state_dict': states}", True), ("net(states)", False)]
)
def test_a_script_without_a_main_block_may_be_a_converter(here: Path, saved: str, beside: bool) -> None:
    text = RENAMES.format(place="", saved=saved) + "half = torch.ones(1).to(torch.float16)\n"
    report = check(here, {"convert.py": text, "move.py": CUDA}, select=["XLA802"], confidence="possible")
    assert [f.aside for f in report.aside] == ["converters"] * beside


@pytest.mark.parametrize(
    "text",
    [
        EXPORTS.replace("torch.onnx.export(net", "print(net"),
        EXPORTS.replace("    net(", "    loss = net(1); loss.backward(); net("),
    ],
)
def test_a_script_that_does_more_than_export_is_listed(here: Path, text: str) -> None:
    report = check(here, {"export.py": text, "nets/__init__.py": "", "nets/plain.py": NET})
    assert not [f for f in report.aside if f.aside == "converters"]


def test_a_module_of_a_package_that_can_export_is_listed(here: Path) -> None:
    module = EXPORTS[: EXPORTS.index("if __name__")]
    files = {"nets/__init__.py": "", "nets/plain.py": NET, "nets/export.py": module}
    assert not [f for f in check(here, files).aside if f.aside == "converters"]


def test_a_module_that_the_program_imports_too_is_listed(here: Path) -> None:
    files = {
        "nets/__init__.py": "",
        "nets/plain.py": NET,
        "serve.py": "from nets.plain import Net\nNet()(1)\n",
    }
    report = check(here, {"export.py": EXPORTS, **files})
    assert "nets/plain.py" in listed(report)


def test_an_exporter_on_its_own_is_the_program(here: Path) -> None:
    check(here, {"only/export.py": EXPORTS})
    assert listed(check(here, {}, "only")) == {"only/export.py"}


def test_counts_what_only_exporters_run(here: Path) -> None:
    files = {"export.py": EXPORTS, "nets/__init__.py": "", "nets/plain.py": NET}
    aside = [(f.filename, f.aside) for f in check(here, files).aside]
    assert set(aside) >= {("export.py", "converters"), ("nets/plain.py", "converters")}


def test_counts_findings_that_ask_for_no_change(here: Path) -> None:
    report = check(here, {"flag.py": FLAG})
    assert [(f.code, f.aside) for f in report.aside] == [("XLA010", "no-action")]
    assert "No change needed: 1 finding, --include-no-action shows them." in list(summary(report))
    assert "flag.py" in listed(check(here, {}, **{"include-no-action": True}))


def test_a_rule_that_is_selected_by_its_code_is_listed(here: Path) -> None:
    assert listed(check(here, {"flag.py": FLAG}, select=["XLA010"])) == {"flag.py"}
    assert listed(check(here, {"flag.py": FLAG}, select=["XLA0"])) == {"train.py"}


MERGES = """import torch
from transformers import AutoModelForCausalLM
def main(base, target):
    net = AutoModelForCausalLM.from_pretrained(base, torch_dtype=torch.float16)
    net.save_pretrained(target)
if __name__ == "__main__":
    main("a", "b")
"""
GENERATES = "    print(net.to(base).generate(1))\n    net.save"
CHECKS = """import torch
from torch.autograd import gradcheck
def check(n):
    return gradcheck(f, torch.ones(n).cuda())
if __name__ == "__main__":
    check(2)
"""
BUILDS = """import torch
from setuptools import setup
if not torch.cuda.is_available():
    raise NotImplementedError("CUDA is not available")
setup(name="ops")
"""


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"merge.py": MERGES}, {"converters"}),
        ({"merge.py": MERGES.replace("    net.save", GENERATES)}, set()),
        ({"export.py": EXPORTS.replace("Net()", "Net().cuda()")}, {"converters"}),
        ({"ops/test.py": CHECKS}, {"tests"}),
        ({"ops/test.py": CHECKS.replace("gradcheck", "evaluate")}, set()),
        ({"ops/model.py": CHECKS}, set()),
    ],
)
def test_counts_what_no_run_needs(here: Path, files: dict[str, str], expected: set[str]) -> None:
    report = check(here, {"nets/__init__.py": "", "nets/plain.py": NET, **files})
    assert {f.aside for f in report.aside if f.filename in files} == expected


@pytest.mark.parametrize(("name", "expected"), [("setup.py", False), ("main.py", True)])
def test_a_build_may_ask_for_cuda(here: Path, name: str, expected: bool) -> None:
    assert ("XLA003" in {f.code for f in check(here, {name: BUILDS}).findings}) is expected


CONVERTS_BY_HELPERS = CONVERTS.replace(
    "import torch\n", "import torch\nfrom helpers import prepare\nprepare()\n", 1
)


@pytest.mark.parametrize(
    ("helpers", "expected"),
    [
        ("def prepare():\n    return torch.load('a')\n", True),
        ("def prepare():\n    return 1\n\ndef other(loss):\n    loss.backward()\n", True),
        ("def prepare():\n    torch.zeros(1).sum().backward()\n", False),
        ("def prepare():\n    return step()\n\ndef step():\n    torch.zeros(1).sum().backward()\n", False),
    ],
)
def test_a_converter_calls_nothing_that_computes(here: Path, helpers: str, expected: bool) -> None:
    report = check(here, {"convert.py": CONVERTS_BY_HELPERS, "helpers.py": f"import torch\n\n{helpers}"})
    assert any(f.aside == "converters" for f in report.aside) is expected


def test_a_test_that_is_named_besides_its_folder_is_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "import torch\n\n\ndef test_run():\n    torch.ones(1).cuda()\n"
    for name in ("net.py", "tests/test_run.py", "tests/test_other.py"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    options = engine.Options(isolated=True, jobs=1, cache=False)
    shown = {
        paths: {f.filename for f in engine.check(list(map(Path, paths)), options).findings}
        for paths in [(".",), (".", "tests/test_run.py"), ("net.py", "tests/test_run.py")]
    }
    assert list(shown.values()) == [{"net.py"}, {"net.py", "tests/test_run.py"}, {"net.py"}]
