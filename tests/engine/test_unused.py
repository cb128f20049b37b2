"""Copies of libraries, and modules that no script of the program imports: counted and not listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xlamig import engine
from xlamig.engine import Options
from xlamig.findings import Report
from xlamig.report.summary import summary

CUDA = "import torch\ndef f():\n    return torch.ones(2).cuda()\n"
MADE = CUDA.replace("def", "made = torch.ones(2).cuda()\ndef")  # also for who only imports it
SCRIPT = 'import torch\nfrom net import model\nif __name__ == "__main__":\n    model.f().cuda()\n'
MMCV = dict.fromkeys(("__init__.py", "cnn/__init__.py", "image/__init__.py", "ops/points.py"), CUDA)
NET = {"net/__init__.py": "", "net/model.py": CUDA, "net/old.py": MADE}
BUILD = "setup(url='https://net')\n"
LIBRARY = {"README.md": "Run `pip install net`.\n"}  # beside a build file


def check(root: Path, files: dict[str, str], **settings: Any) -> Report:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return engine.check([Path()], Options(settings, isolated=True, jobs=1, cache=False))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def listed(report: Report) -> set[str]:
    return {finding.filename for finding in report.findings}


def below(folder: str, files: dict[str, str]) -> dict[str, str]:
    return {f"{folder}/{name}": text for name, text in files.items()}


# ------------------------------------------------------------------ copies of libraries


@pytest.mark.parametrize(
    "files",
    [
        {**below("mmcv", MMCV), "setup.py": "", "tools/train.py": CUDA},  # the library itself
        {**below("src/mmcv", MMCV), "setup.py": "", "tools/train.py": CUDA},
        {**below("mmcv", MMCV), "train.py": CUDA},  # a fork that was given its own scripts
        below("thirdparty/mmcv", MMCV),  # nothing else to check
        {**below("thirdparty/mmcv", MMCV), "tests/test_x.py": CUDA},
    ],
)
def test_lists_a_package_that_is_the_program(here: Path, files: dict[str, str]) -> None:
    assert any(name.endswith("ops/points.py") for name in listed(check(here, files)))


def test_lists_a_folder_that_only_has_the_name_of_a_library(here: Path) -> None:
    files = {"models/transformers/__init__.py": "", "models/transformers/block.py": CUDA, "train.py": CUDA}
    assert listed(check(here, files)) == {"models/transformers/block.py", "train.py"}


def test_counts_the_findings_in_a_copy_of_a_library(here: Path) -> None:
    report = check(here, {**below("annotator/mmcv", MMCV), "train.py": CUDA})
    assert listed(report) == {"train.py"}
    assert {finding.aside for finding in report.aside} == {"unused"}
    text = "\n".join(summary(report, None))
    assert "Copies of libraries and unused modules: 4 findings, --include-unused shows them." in text


@pytest.mark.parametrize("folder", ["third_party/any", "torchhub/a_b_main", "net/vendor", "Submodules/x"])
def test_counts_the_findings_in_what_others_wrote(here: Path, folder: str) -> None:
    report = check(here, {f"{folder}/net.py": CUDA, "train.py": CUDA})
    assert listed(report) == {"train.py"}
    assert {finding.aside for finding in report.aside} == {"unused"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"third_party/net.py": CUDA}, "third_party/net.py"),  # nothing else to check
        ({"vendors.py": CUDA, "train.py": CUDA}, "vendors.py"),
        ({"models/external/net.py": CUDA, "train.py": CUDA}, "models/external/net.py"),
        ({"submodules/k/a.cu": "__global__ void f() {}", "train.py": CUDA}, "submodules/k/a.cu"),
    ],
)
def test_lists_what_the_program_brings(here: Path, files: dict[str, str], expected: str) -> None:
    assert expected in listed(check(here, files))


STARTED = {"third_party/train.py": CUDA, "third_party/nets/net.py": CUDA, "evaluate.py": CUDA}


def test_lists_a_program_that_a_script_runs_in_a_folder_of_others(here: Path) -> None:
    report = check(here, {**STARTED, "run.sh": "python $PWD/third_party/train.py \\\n  --epochs 3\n"})
    assert listed(report) == STARTED.keys()


def test_lists_the_same_program_from_the_folder_above(here: Path) -> None:
    inside = check(here, below("project", {**STARTED, "run.sh": "python third_party/train.py\n"}))
    assert listed(inside) == below("project", STARTED).keys()


@pytest.mark.parametrize(
    "script",
    [
        "python train.py\n",  # one of the project's own
        "cd third_party && python setup.py install\n",
        "python third_party/nets/setup.py install\n",
        "python other_party/train.py\n",
        "cp third_party/readme.txt .\n",
    ],
)
def test_counts_the_findings_in_a_folder_of_others_that_no_script_runs(here: Path, script: str) -> None:
    report = check(here, {**STARTED, "third_party/nets/setup.py": "", "run.sh": script})
    assert listed(report) == {"evaluate.py"}


def test_counts_the_findings_in_a_copied_project(here: Path) -> None:
    apex = {"apex/__init__.py": "", "apex/amp/__init__.py": "", "apex/multi_tensor_apply/__init__.py": ""}
    copied = below("apex", {**apex, "setup.py": "", "examples/main.py": CUDA})
    report = check(here, {**copied, "setup.py": "", "net/__init__.py": "", "net/train.py": CUDA})
    assert listed(report) == {"net/train.py"}


def test_lists_the_findings_in_a_copy_when_asked(here: Path) -> None:
    files = {**below("annotator/mmcv", MMCV), "train.py": CUDA}
    assert "annotator/mmcv/ops/points.py" in listed(check(here, files, **{"include-unused": True}))


# ------------------------------------------------------------------ modules that no script imports


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"setup.py": "setup(author='A')\n"},  # it can be installed, and no page says that others do
        {"setup.py": "setup(author='A')\n", "README.md": "    from net.model import f\n"},
    ],
)
def test_counts_the_findings_in_a_module_that_no_script_imports(here: Path, more: dict[str, str]) -> None:
    report = check(here, {**NET, "train.py": SCRIPT, **more})
    assert listed(report) == {"net/model.py", "train.py"}
    assert {finding.filename for finding in report.aside} == {"net/old.py"}


@pytest.mark.parametrize(
    "more",
    [
        {"setup.py": "setup(author='A')\n", **LIBRARY},  # others may import any module
        {"setup.py": "setup(author='A')\n", "README.md": ">>> import net\n"},
        {"setup.py": "setup(author='A')\n", "docs/conf.py": "project = 'net'\n"},
        {"setup.py": "setup(author='A')\n", "README.md": "from net.old import f\n"},
        {"train.py": SCRIPT.replace("model\nif", "model, old\nif")},
        {"net/model.py": CUDA + "    from net import old\n"},
        {"config.yaml": "_target_: net.old.f\n"},
        {"net/model.py": CUDA + "CLASS = 'net.old.f'\n"},
        {"net/model.py": "from importlib import import_module\ndef get(name='old'):\n"
         "    return import_module(f'net.{name}')\n" + CUDA},
        {"net/__init__.py": "from importlib import import_module\n"
         "for name in found:\n    import_module(f'net.{name}')\n"},
        {"net/old.py": MADE + 'if __name__ == "__main__":\n    f()\n'},
        {"train.py": "from net import model\n"},  # no script: a library
        {"run.py": "from net.old import f\nf()\n"},  # a script without a test for its name
        {"run.py": "import sys\nsys.path.append('net')\nfrom old import f\nf()\n"},
    ],
)  # fmt: skip
def test_lists_a_module_that_may_be_imported(here: Path, more: dict[str, str]) -> None:
    assert "net/old.py" in listed(check(here, {**NET, "train.py": SCRIPT, **more}))


@pytest.mark.parametrize(
    ("name", "text", "more", "expected"),
    [
        ("nets/old.py", MADE, {}, False),
        ("nets/old.py", MADE + "f()\n", {}, True),
        ("nets/old.py", MADE + 'if __name__ == "__main__":\n    f()\n', {}, True),
        ("nets/old.py", MADE, {"a.yaml": "target: nets.old.f\n"}, True),
        ("nets/old.py", MADE, {"setup.py": "setup(url='https://nets')\n"}, True),
        ("nets/old.py", MADE, {"setup.py": "setup(name='nets', packages=['nets'])\n"}, False),
        ("lib/nets/old.py", MADE, {"lib/nets/new.py": CUDA, "lib/run.py": "import nets.new\n"}, False),
        ("lib/nets/old.py", MADE, {"lib/nets/new.py": CUDA, "run/a.py": "import nets.new, nets.old\n"}, True),
        ("old.py", MADE, {}, True),
        ("other/old.py", MADE, {}, True),
    ],
)
def test_counts_a_module_in_a_folder_that_modules_are_imported_from(
    here: Path, name: str, text: str, more: dict[str, str], expected: bool
) -> None:
    files = {"nets/model.py": CUDA, "train.py": SCRIPT.replace("from net", "from nets")}
    assert (name in listed(check(here, {**files, name: text, **more}))) is expected


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"net/setup.py": BUILD, **LIBRARY}, False),  # run from the folder above
        ({"setup.py": BUILD, "net/setup.py": BUILD, **LIBRARY}, True),
        ({"setup.py": BUILD, "net/setup.py": BUILD}, False),
        ({"net/setup.py": BUILD, "train.py": SCRIPT.replace("net", "lib.net"), **LIBRARY}, True),
    ],
)
def test_counts_a_module_of_a_package_that_holds_its_own_build_file(
    here: Path, more: dict[str, str], expected: bool
) -> None:
    lib = {f"lib/{name}": text for name, text in NET.items()}
    report = check(
        here, {**NET, **lib, "train.py": SCRIPT, "run.py": SCRIPT.replace("net", "lib.net"), **more}
    )
    assert ("net/old.py" in listed(report)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CUDA, set()),
        (CUDA + "f()\n", {"net/more/old.py"}),
        ("import torch\nold = torch.ones(2).cuda()\n", {"net/more/old.py"}),
        (CUDA + "for x in y:\n    f()\n", {"net/more/old.py"}),
    ],
)
def test_counts_a_module_in_a_folder_of_a_package(here: Path, text: str, expected: set[str]) -> None:
    files = {"net/__init__.py": "", "net/model.py": CUDA, "net/more/old.py": text, "train.py": SCRIPT}
    assert listed(check(here, files)) == {"net/model.py", "train.py"} | expected


NO_PROGRAM = "import torch\nfrom net import model\n\n\ndef main():\n    model.f()\n"


@pytest.mark.parametrize(
    ("block", "more", "expected"),
    [
        ("x = torch.rand(2)\n    print(f(x).shape)\n", {}, False),
        ("net = Net()\n    out = net(torch.ones(2))\n    print(out)\n", {}, False),
        ("f()\n", {}, True),  # its work may be any
        ("print(f(torch.load('a')) + torch.ones(1))\n", {}, True),
        ("torch.save(f(torch.rand(2)), 'a')\n", {}, True),
        ("x = torch.rand(2)\n    for i in range(9):\n        f(x)\n", {}, True),
        ("x = torch.rand(2, requires_grad=True)\n    f(x).sum().backward()\n", {}, True),
        ("main(torch.rand(2))\n", {}, True),
        (
            "x = torch.rand(2)\n    print(f(x))\n",
            {"train.py": SCRIPT.replace("model\nif", "model, old\nif")},
            True,
        ),
        ("x = torch.rand(2)\n    print(f(x))\n", {"a.yaml": "target: net.old.f\n"}, True),
        ("x = torch.rand(2)\n    print(f(x))\n", {"setup.py": "setup(author='A')\n", **LIBRARY}, True),
        ("x = torch.rand(2)\n    print(f(x))\n", {"train.py": NO_PROGRAM}, True),  # no other script
        ("x = torch.rand(2)\n    print(f(x))\n", {"net/old.sh": "python net/old.py\n"}, True),
    ],
)
def test_counts_a_module_that_no_script_imports_and_that_only_tries_itself_out(
    here: Path, block: str, more: dict[str, str], expected: bool
) -> None:
    old = f'{MADE}if __name__ == "__main__":\n    {block}'
    assert (
        "net/old.py" in listed(check(here, {**NET, "net/old.py": old, "train.py": SCRIPT, **more}))
    ) is expected


TASKS = "from importlib import import_module\nfor name in found:\n    import_module({})\nold = 1\n"


@pytest.mark.parametrize(
    ("computed", "expected"),
    [
        ("'tasks.' + name", False),
        ("f'tasks.{name}'", False),
        ("f'{__name__}.{name}'", False),
        ("name", True),
        ("f'{top}.{name}'", True),
        ("'net.' + name)\n    import_module('tasks.' + name", True),
        ("'tasks.' + name)\n    __import__(name", True),
        ("'tasks.' + name)\n    find_spec(name", True),
    ],
)
def test_a_package_that_imports_its_own_modules_by_name_names_no_others(
    here: Path, computed: str, expected: bool
) -> None:
    tasks = {"tasks/__init__.py": TASKS.format(computed), "tasks/one.py": CUDA}
    files = {**NET, "train.py": "import tasks\n" + SCRIPT, **tasks}
    assert ("net/old.py" in listed(check(here, files))) is expected


LOST = "from net.parts.lost import Lost\n"
PARTS = {"net/parts/__init__.py": "", "setup.py": "setup(author='A')\n", **LIBRARY}


@pytest.mark.parametrize(
    ("old", "more", "expected"),
    [
        (LOST, {}, False),
        (LOST.replace(" Lost", " Lost as L, one"), {"net/other.py": "fid = 1\n"}, False),
        (LOST, {"net/parts/__init__.py": "found = [import_module(f'net.parts.{n}') for n in ns]\n"}, False),
        (LOST, {"net/parts/lost.py": "class Lost: ...\n"}, True),
        (LOST, {"net/parts/lost.cpython-311.so": ""}, True),
        (LOST, {"net/parts/lost/data.txt": ""}, True),
        (LOST, {"net/parts/__init__.py": "from . import *\n"}, True),
        (LOST, {"net/parts/__init__.py": "def __getattr__(name): ...\n"}, True),
        (LOST, {"net/parts/__init__.py": "from outside import lost\n"}, True),
        (LOST, {"setup.py": "setup(author='A', ext_modules=[Extension('net.parts.lost')])\n"}, True),
        (LOST.replace("lost", "_lost"), {}, True),
        (LOST.replace("lost", "version"), {}, True),
        (f"try:\n    {LOST}except ImportError:\n    pass\n", {}, True),
        (f"def g():\n    {LOST}", {}, True),
        ("from net.parts import Lost\n", {}, True),
        ("from outside.parts.lost import Lost\n", {}, True),
        (LOST, {"train.py": SCRIPT.replace("model\nif", "model, old\nif")}, True),
    ],
)
def test_counts_a_module_that_cannot_be_loaded(
    here: Path, old: str, more: dict[str, str], expected: bool
) -> None:
    files = {**NET, **PARTS, "net/old.py": old + MADE, "train.py": SCRIPT, **more}
    assert ("net/old.py" in listed(check(here, files))) is expected


def test_lists_a_module_of_a_package_named_like_its_folder(here: Path) -> None:
    files = {"net/net/__init__.py": "", "net/net/model.py": "from net.old import f\n" + CUDA}
    script = SCRIPT.replace("from net", "from net.net")
    report = check(here, {**files, "net/net/old.py": MADE, "net/__init__.py": "", "train.py": script})
    assert "net/net/old.py" in listed(report)


def test_lists_a_module_of_a_package_that_holds_one_of_its_name(here: Path) -> None:
    files = {
        "net/__init__.py": "",
        "net/models/__init__.py": "",
        "net/models/net/__init__.py": "from .parts import *\n",
        "net/models/net/parts.py": "from net.models.layers import act\n" + CUDA,
        "net/models/layers.py": "from net.models.acts import act\n",
        "net/models/acts.py": "import torch\nact = torch.ones(2).cuda()\n",
        "train.py": "import torch\nfrom net.models.net import f\n" + 'if __name__ == "__main__":\n    f()\n',
    }
    assert "net/models/acts.py" in listed(check(here, files))


def test_takes_a_name_that_a_star_import_brings_from_the_nearest_module(here: Path) -> None:
    files = {
        "net/__init__.py": "",
        "net/tools/__init__.py": "",
        "net/tools/net.py": "from net.tools.acts import *\n",
        "net/tools/acts.py": "import torch\nact = torch.ones(2).cuda()\n",
        "net/tools/run.py": 'import torch\nfrom net import act\nif __name__ == "__main__":\n    print(act)\n',
    }
    assert "net/tools/acts.py" in listed(check(here, files))


# ------------------------------------------------------------------ requirements of the documentation

PIN = "torch==1.13.0\n"


@pytest.mark.parametrize(
    "files",
    [
        {"docs/requirements.txt": PIN, "train.py": CUDA},
        {"docs/requirements.txt": PIN, "train.py": CUDA, ".readthedocs.yaml": "- docs/requirements.txt\n"},
        {"docs/source/requirements.txt": PIN, "train.py": CUDA},
    ],
)
def test_counts_requirements_of_the_documentation(here: Path, files: dict[str, str]) -> None:
    assert listed(check(here, files)) == {"train.py"}


@pytest.mark.parametrize(
    "files",
    [
        {"docs/requirements.txt": PIN, "train.py": CUDA, "run.sh": "pip install -r docs/requirements.txt\n"},
        {"docs/requirements.txt": PIN, "train.py": CUDA, "Dockerfile": "COPY docs/requirements.txt .\n"},
        {"docs/requirements.txt": PIN, "train.py": CUDA, "setup.py": 'open("docs/requirements.txt")\n'},
    ],
)
def test_lists_requirements_of_the_documentation_that_the_program_installs(
    here: Path, files: dict[str, str]
) -> None:
    assert "docs/requirements.txt" in listed(check(here, files))


@pytest.mark.parametrize("name", ["requirements.txt", "requirements/docs.txt", "doctor/requirements.txt"])
def test_lists_other_requirements(here: Path, name: str) -> None:
    assert name in listed(check(here, {name: PIN, "train.py": CUDA}))
