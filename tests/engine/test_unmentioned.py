"""Functions that nothing in a program mentions: counted and not listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine
from xlamig.findings import Report

NET = """import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return x
    def sample(self, x):
        return x.cuda()
def build(x):
    return x.cuda()
"""
TRAIN = 'import torch\nfrom net import Net\nif __name__ == "__main__":\n    Net()(torch.ones(2).cuda())\n'


CHOSEN = "if new:\n    from b import build\nelse:\n    from net import build\n"
TABLE = "    import table\n    getattr(table, name)(1)\n"


def check(folder: Path, files: dict[str, str], **settings: object) -> Report:
    write({"net.py": NET, "train.py": TRAIN, **files}, folder)
    options = engine.Options({"select": ["XLA002"], **settings}, isolated=True, jobs=1, cache=False)
    return engine.check([folder], options)


def rows(report: Report) -> list[int]:
    return [f.place.location.row for f in report.findings if f.filename.endswith("net.py")]


def test_counts_what_nothing_mentions(tmp_path: Path) -> None:
    report = check(tmp_path, {})
    assert rows(report) == []
    assert [f.aside for f in report.aside] == ["unused", "unused"]
    assert rows(check(tmp_path, {}, **{"include-unused": True})) == [6, 8]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("train.py", TRAIN + "    Net().sample(1)\n"),
        ("train.py", TRAIN + "    # Net().sample(1)\n"),
        ("run.sh", "python -c 'import net; net.Net().sample(1)'\n"),
        ("notes.md", "Call `Net().sample(1)`.\n"),
    ],
)
def test_kept_answers_follow_each_mention(tmp_path: Path, name: str, text: str) -> None:
    """The second run has the first one's answer, and finds what a run without it finds."""
    write({"net.py": NET, "train.py": TRAIN}, tmp_path)
    kept = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1)
    assert rows(engine.check([tmp_path], kept)) == []
    write({"train.py": TRAIN.replace("ones(2)", "ones(3)")}, tmp_path)
    assert rows(engine.check([tmp_path], kept)) == []
    write({name: text}, tmp_path)
    assert rows(engine.check([tmp_path], kept)) == [6]


def test_counts_what_a_registry_holds_under_a_name_that_nothing_asks_for(tmp_path: Path) -> None:
    registered = NET.replace("def build", "@NETS.register()\ndef build")
    report = check(tmp_path, {"net.py": registered, "a.yaml": "type: Net\n"})
    assert rows(report) == []
    assert [f.aside for f in report.aside] == ["unused", "unused"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"train.py": TRAIN + "    Net().sample(1)\n"}, [6]),
        ({"train.py": TRAIN + "    import net\n    net.build(1)\n"}, [8]),
        ({"train.py": TRAIN.replace("import Net", "import Net, build") + "    eval(name)(1)\n"}, [8]),
        ({"train.py": TRAIN.replace("import Net", "import Net, build as b") + "    b(1)\n"}, [8]),
        ({"net.py": NET + "made = getattr(sys.modules[__name__], name)\n"}, [8]),
        ({"net.py": NET + "def unused(x):\n    build(x)\n", "a.yaml": "target: unused\n"}, [8]),
        ({"net.py": NET + "@register\ndef kept(x):\n    build(x)\n"}, [8]),
        ({"train.py": TRAIN + "    getattr(Net(), 'sample')(1)\n"}, [6]),
        ({"train.py": TRAIN + "    getattr(Net(), f'sam{x}')(1)\n"}, [6]),
        ({"train.py": TRAIN + "    import net\n    net.__dict__[name](1)\n"}, [8]),
        ({"train.py": TRAIN + "    import net\n    getattr(net, name)(1)\n"}, [8]),
        ({"train.py": TRAIN + "    Net().run('sample')\n"}, [6]),
        ({"train.py": TRAIN + "    import net\n    run(net, 'build')\n"}, [8]),
        ({"train.py": TRAIN + "    Net().run('net.build')\n"}, [8]),
        ({"net.py": NET + "table = globals()[name]\n"}, [8]),
        ({"net.py": NET.replace("def build", "@register\ndef build")}, [9]),
        ({"net.py": NET.replace("def build", "@NETS.register('b')\ndef build")}, [9]),
        ({"net.py": NET.replace("def build", "@NETS.register()\ndef build"), "a.yaml": "type: build\n"}, [9]),
        ({"net.py": NET.replace("def build", "@NETS.register()\ndef build") + "f(type='build')\n"}, [9]),
        ({"net.py": NET.replace("class Net", "@register\nclass Net")}, [7]),
        ({"net.py": NET.replace("class Net", "@NETS.register()\nclass Net")}, [7]),
        ({"net.py": NET.replace("(torch.nn.Module)", "(lib.Base)")}, [6]),
        ({"a.yaml": "target: net.build\n"}, [8]),
        ({"README.md": "Call `net.sample(x)`\n"}, [6]),
        ({"train.py": TRAIN + "    # Net().sample(1)\n"}, [6]),
        ({"table.py": "from net import build\n", "train.py": TRAIN + TABLE}, [8]),
        ({"table.py": "from net import *\n", "train.py": TRAIN + TABLE}, [8]),
        ({"table.py": "from a import *\n", "a.py": "from net import *\n", "train.py": TRAIN + TABLE}, [8]),
        (
            {"table.py": "from a import *\n", "a.py": "from net import build\n", "train.py": TRAIN + TABLE},
            [8],
        ),
        ({"table.py": "from net import *\nglobals()[name](1)\n"}, [8]),
        ({"train.py": TRAIN + "    import net\n    [getattr(net, name) for name in net.__all__]\n"}, [8]),
        ({"net.py": NET + "NAMES = ['sample']\n"}, [6]),
        ({"net.py": NET + "NAMES = ['build']\n", "train.py": TRAIN + "    import net\n    run(net)\n"}, [8]),
        ({"net.py": NET + "NAMES = 'build, other(1)'\n"}, [8]),
        ({"table.py": "from net import *\nbuild(1)\n"}, [8]),
        (
            {"parts/__init__.py": "from net import build\n", "a.py": "from parts import build\nbuild(1)\n"},
            [8],
        ),
        ({"parts/__init__.py": "from net import *\n", "a.py": "import parts\nparts.build(1)\n"}, [8]),
        (
            {
                "parts/__init__.py": CHOSEN,
                "b.py": "def build(x): ...\n",
                "a.py": "import parts\nparts.build(1)\n",
            },
            [8],
        ),
        ({"a.py": "import net as n\nn.build(1)\n"}, [8]),
        ({"a.py": "import net\nrun(net)\n"}, [8]),
        ({"parts/net.py": "X = 1\n", "a.py": "import net, parts.net\nrun(parts.net, net)\n"}, [8]),
        (
            {
                "parts/net.py": "X = 1\n",
                "parts/a.py": "import lost.net as n\ngetattr(n, x)\n",
                "lost/b.py": "",
            },
            [8],
        ),
        ({"a.py": "import net\nclass A:\n    def __init__(self):\n        self.net = net\n"}, [8]),
        ({"a.py": "from importlib import import_module\nimport_module(x)\nload(x).build(1)\n"}, [8]),
        (
            {"a.py": "try:\n    from fast import build\nexcept:\n    from net import build\nbuild(1)\n"},
            [8],
        ),
        ({"net.py": NET + "class Wide(Net):\n    build = build\n    build(1)\nWide()\n"}, [8]),
        ({"setup.py": "from setuptools import setup\nsetup(name='net', author='A')\n"}, [6, 8]),
        ({"setup.py": "from setuptools import setup\nsetup(**told())\n"}, [6, 8]),
        ({"setup.cfg": "[metadata]\nname = net\nlong_description = file: README.md\n"}, [6, 8]),
        ({"setup.py": "setup()\n", "setup.cfg": "[metadata]\nlicense = MIT\n"}, [6, 8]),
        ({"pyproject.toml": "[build-system]\n[project]\nreadme = 'README.md'\n"}, [6, 8]),
        ({"train.py": "from net import Net\n"}, [6, 8]),  # no script
    ],
)
def test_lists_what_something_may_run(tmp_path: Path, files: dict[str, str], expected: list[int]) -> None:
    assert rows(check(tmp_path, files)) == expected


@pytest.mark.parametrize(
    "files",
    [
        {"setup.py": "from setuptools import setup\nsetup(name='net', install_requires=['x'])\n"},
        {"setup.cfg": "[metadata]\nname = net\n"},
        {"pyproject.toml": "[project]\nname = 'net'\n[tool.setuptools]\n"},
    ],
)
def test_a_build_file_without_a_word_for_others_is_for_the_projects_scripts(
    tmp_path: Path, files: dict[str, str]
) -> None:
    assert rows(check(tmp_path, files)) == []


LIGHTNING = """import lightning.pytorch as pl
class Task(pl.LightningModule):
    def training_step(self, x):
        return x.cuda()
"""


def test_a_command_line_may_load_a_class_derived_from_a_librarys(tmp_path: Path) -> None:
    found = check(tmp_path, {"task.py": LIGHTNING}).findings
    assert "task.py" in {Path(f.filename).name for f in found}


TRAINER = "import lightning.pytorch as pl\npl.Trainer().fit(load())\n"


@pytest.mark.parametrize(
    ("files", "listed"),
    [
        ({"run.py": TRAINER}, False),
        ({"run.py": TRAINER, "wide.py": "from task import Task\nclass Wide(Task):\n    pass\n"}, False),
        ({"run.py": TRAINER + "from task import Task\nTask()\n"}, True),
        ({"run.py": TRAINER, "conf.yaml": "target: task.Task\n"}, True),
        ({"run.py": TRAINER + "from lightning.pytorch.cli import LightningCLI\nLightningCLI()\n"}, True),
        (
            {"run.py": "from jsonargparse import CLI\nfrom lightning.pytorch import Trainer\nCLI(Trainer)\n"},
            True,
        ),
        ({"run.py": TRAINER + "import models\ngetattr(models, name)()\n"}, False),
        ({"run.py": TRAINER + "import task\ngetattr(task, name)()\n"}, True),
    ],
)
def test_a_trainer_is_given_the_class_of_its_model(
    tmp_path: Path, files: dict[str, str], listed: bool
) -> None:
    found = check(tmp_path, {"task.py": LIGHTNING, **files}).findings
    assert ("task.py" in {Path(f.filename).name for f in found}) == listed


@pytest.mark.parametrize(
    "rest",
    [
        "__all__ = ['Net', 'build']\n",
        "__all__ = []\n__all__ += ['build']\n",
        "class Base:\n    def f(self):\n        build(1)\nclass Wide(Base):\n    pass\n",
        "def even(n):\n    odd(build(n))\ndef odd(n):\n    even(n)\n",
    ],
)
def test_a_list_of_exports_and_an_unused_class_use_nothing(tmp_path: Path, rest: str) -> None:
    assert rows(check(tmp_path, {"net.py": NET + rest})) == []


def test_a_class_uses_its_base(tmp_path: Path) -> None:
    rest = "class Base:\n    def f(self):\n        build(1)\nclass Wide(Base):\n    pass\nWide().f()\n"
    assert rows(check(tmp_path, {"net.py": NET + rest})) == [8]


def test_a_function_uses_the_method_that_is_called_like_it(tmp_path: Path) -> None:
    head, _, tail = TRAIN.partition("if __name__")
    used = f"{head}def sample(net):\n    net.sample(1)\nif __name__{tail}    sample(Net())\n"
    assert rows(check(tmp_path, {"train.py": used})) == [6]
    unused = f"{head}def sample(net):\n    net.sample(1)\nif __name__{tail}"
    assert rows(check(tmp_path, {"train.py": unused})) == []


def test_a_function_that_calls_itself_is_not_used(tmp_path: Path) -> None:
    text = NET.replace("return x.cuda()\ndef", "return self.inner.sample(x.cuda())\ndef")
    assert rows(check(tmp_path, {"net.py": text})) == []


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": TRAIN.replace("import Net", "import Net, build")},
        {"models/__init__.py": "from net import build\n", "train.py": f"import models\n{TRAIN}"},
        {"net.py": NET + "def unused(x):\n    build(x)\n"},
        {"table.py": "def other(x):\n    pass\n", "train.py": TRAIN + TABLE},
        {"parts/net.py": "X = 1\n", "a.py": "import parts.net as n\nprint(getattr(n, x))\n"},
        {"parts/net.py": "X = 1\n", "parts/a.py": "from . import net\nrun(net)\n"},
        {"table.py": "from a import *\n", "a.py": "def other(x): ...\n", "train.py": TRAIN + TABLE},
        {"table.py": "from torch.nn import *\n", "train.py": TRAIN + TABLE},
        {"table.py": "from a import *\n", "a.py": "", "train.py": "from net import *\n" + TRAIN + TABLE},
        {"pyproject.toml": "[tool.black]\nline-length = 100\n"},
        {"setup.cfg": "[flake8]\nmax-line-length = 100\n"},
        {"net.py": NET + "class Unused:\n    def run(self, x):\n        return Net().sample(build(x))\n"},
        {"train.py": TRAIN + "    build = 1\n    print(build)\n"},
        {"train.py": TRAIN + "def run(build):\n    build(1)\nrun(1)\n"},
        {"train.py": TRAIN + "    Net().build(1)\n"},
        {"train.py": TRAIN + "from outside.parts import build\nbuild(1)\n"},
        {"b.py": "def build(x): ...\nbuild(1)\n"},
        {"b.py": "def build(x): ...\n", "a.py": "from b import build\nbuild(1)\n"},
        {"train.py": TRAIN + "    print('build and sample nothing')\n"},
        {"train.py": TRAIN + "    print('build nothing (or one)')\n"},
        {"train.py": TRAIN + "    Net().run('build')\n"},
        {"train.py": TRAIN + "    if Net().mode == 'build': print(1)\n"},
        {"net.py": NET + "NAMES = {'build': 0}\n"},
    ],
)
def test_an_import_and_unused_code_use_nothing(tmp_path: Path, files: dict[str, str]) -> None:
    assert rows(check(tmp_path, files)) == []


WIDE = "class Wide(torch.nn.Module):\n    def forward(self, x):\n        return x.cuda()\n"
ASKS = "from net import *\ndef run(x):\n    return isinstance(x, {})\nrun(1)\n"


@pytest.mark.parametrize(
    ("classes", "rest", "expected"),
    [
        ("Wide", "", []),
        ("(Net, Wide)", "", []),
        ("net.Wide", "", []),
        ("Wide", "from net import Wide\nWide()(1)\n", [11]),
        ("Wide", "from net import Wide\nclass Wider(Wide):\n    pass\nWider()(1)\n", [11]),
        ("Wide", "from net import Wide\nmade = [Wide]\n", [11]),
        ("Net", "from net import Wide\nsizes = {Wide: 1}\n", []),
        ("Net", "from net import Wide\nsizes = {1: Wide}\n", [11]),
        ("Net", "from net import Wide\nprint(type(run) == Wide)\n", []),
        ("Net", "from net import Wide\nprint(type(Wide(1)) == Net)\n", [11]),
        ("Wide) or run(Wide", "", [11]),
        ("find(Wide)", "", [11]),
    ],
)
def test_who_asks_for_a_class_makes_no_object(
    tmp_path: Path, classes: str, rest: str, expected: list[int]
) -> None:
    files = {"net.py": NET + WIDE, "other.py": ASKS.format(classes) + rest}
    assert rows(check(tmp_path, files)) == expected


@pytest.mark.parametrize("base", ["abc.ABC", "metaclass=abc.ABCMeta", "lib.Known", "metaclass=lib.Known"])
def test_an_abstract_class_is_known_by_no_library(tmp_path: Path, base: str) -> None:
    net = f"import abc, lib\n{NET}class Base(torch.nn.Module, {base}):\n    pass\n"
    report = check(tmp_path, {"net.py": net + WIDE.replace("torch.nn.Module", "Base")})
    assert rows(report) == ([] if "abc" in base else [14])


MAIN = "if __name__ == '__main__':\n    "


@pytest.mark.parametrize(
    ("block", "files", "expected"),
    [
        ("print(build(torch.ones(2)))\n", {}, []),
        ("print(build(torch.ones(2)))\nelse:\n    build(1)\n", {}, [8]),
        ("print(build(torch.ones(2)))\nbuild(1)\n", {}, [8]),
        ("main(build)\n", {}, [8]),  # a program
        ("print(build(1))\n", {"train.py": TRAIN + "    from net import build\n    build(1)\n"}, [8]),
        ("print(build(1))\n", {"train.py": "import torch\n" + MAIN + "run()\n"}, [8]),
        ("print(build(1))\n", {"train.py": "from net import Net\n"}, [6, 8]),  # no script
    ],
)
def test_a_block_that_tries_out_a_module_uses_nothing(
    tmp_path: Path, block: str, files: dict[str, str], expected: list[int]
) -> None:
    assert rows(check(tmp_path, {"net.py": f"{NET}{MAIN}{block}", **files})) == expected


KERNEL = """class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.cuda()
"""


def test_torch_has_to_be_given_a_class_derived_from_its_function(tmp_path: Path) -> None:
    assert rows(check(tmp_path, {"net.py": NET + KERNEL})) == []


DERIVED = """from {package} import Tagger
class Loss(Tagger):
    def forward(self, x):
        return x.cuda()
"""


@pytest.mark.parametrize(
    ("package", "rest", "listed"),
    [
        ("transformers", "", False),
        ("transformers.models.bert.modeling_bert", "", False),
        ("fastNLP.core.metrics", "", False),
        ("transformers", "class Wide(Loss):\n    pass\nWide()\n", True),
        ("transformers", "from elsewhere import Tagger\nTagger()\n", True),  # which of them is not told
        ("transformers", "print(Loss.__subclasses__())\n", True),
        ("transformers", "models = {'loss': Loss}\n", True),
        ("elsewhere", "", True),  # it may know each class derived from its own
        ("datasets", "", True),  # it loads a class by the path of its file
    ],
)
def test_libraries_that_have_to_be_given_a_class(
    tmp_path: Path, package: str, rest: str, listed: bool
) -> None:
    found = check(tmp_path, {"loss.py": DERIVED.format(package=package) + rest}).findings
    assert ("loss.py" in {Path(f.filename).name for f in found}) == listed


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": TRAIN + "    from net import Loss\n    Loss.apply(torch.ones(2))\n"},
        {"other.py": "from net import Base\nprint(Base.__subclasses__())\n"},
        {"other.py": "class Base:\n    def __init_subclass__(cls):\n        known.append(cls)\n"},
        {"other.py": "class Base(metaclass=RegistryMeta):\n    pass\n"},
    ],
)
def test_a_class_that_may_be_found_is_listed(tmp_path: Path, files: dict[str, str]) -> None:
    assert 12 in rows(check(tmp_path, {"net.py": NET + KERNEL, **files}))


@pytest.mark.parametrize(
    ("base", "decorator", "listed"),
    [
        ("transformers.PreTrainedModel", "", []),
        ("transformers.BertPreTrainedModel", "@add_start_docstrings('Uses several devices.')\n", []),
        ("pytorch_lightning.LightningModule", "", []),
        ("torch.nn.Linear", "", []),
        ("elsewhere.Base", "", [7]),  # may call any method
        ("torch.nn.Module", "@offered\n", [8]),  # the decorator may keep the class
    ],
)
def test_methods_that_a_librarys_class_does_not_call(
    tmp_path: Path, base: str, decorator: str, listed: list[int]
) -> None:
    package = base.rpartition(".")[0]
    net = f"import {package}\nimport torch\n{decorator}class Net({base}):\n"
    net += "    def forward(self, x):\n        return x\n"
    net += "    def spread(self, x):\n        return x.cuda()\n"
    assert rows(check(tmp_path, {"net.py": net})) == listed


@pytest.mark.parametrize(
    "method", ["prepare_inputs_for_generation", "_reorder", "training_step", "on_fit_start"]
)
def test_hooks_of_a_librarys_class(tmp_path: Path, method: str) -> None:
    base = "LightningModule" if method in ("training_step", "on_fit_start") else "PreTrainedModel"
    net = f"import lib\nimport torch\nclass Net(lib.{base}):\n    def forward(self, x):\n        return x\n"
    net += f"    def {method}(self, x):\n        return x.cuda()\n"
    assert rows(check(tmp_path, {"net.py": net})) == [7]


PUBLISHED = "from setuptools import setup\nsetup(name='net', author='A')\n"
USED = NET + "def _made(x):\n    return x.cuda()\n"


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        (USED, [6, 8]),
        (USED + "def make(x):\n    return _made(x)\n", [6, 8, 10]),  # users may call what does
        (
            USED + "class Kept:\n    def run(self, mode):\n        return getattr(self, '_' + mode)(1)\n",
            [6, 8, 10],
        ),
        (USED + "class _Kept:\n    def one(self, x):\n        return x.cuda()\n", [6, 8]),
    ],
)
def test_what_is_private_in_a_package_for_others(tmp_path: Path, text: str, listed: list[int]) -> None:
    assert rows(check(tmp_path, {"net.py": text, "setup.py": PUBLISHED})) == listed


SPREAD = """import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model_parallel = False
    def parallelize(self):
        self.model_parallel = True
    def forward(self, x):
        if self.model_parallel:
            x = x.cuda()
        return x
"""


@pytest.mark.parametrize(
    ("train", "severities"),
    [
        (TRAIN, ["info"]),
        (TRAIN.replace("Net()(", "net = Net()\n    net.parallelize()\n    net("), ["error"]),
        (TRAIN + "    # net.parallelize()\n", ["error"]),
        (TRAIN.replace("Net()(", "net = Net()\n    net.model_parallel = True\n    net("), ["error"]),
        (TRAIN + "def never():\n    Net().parallelize()\n", ["info"]),
    ],
)
def test_what_only_idle_methods_assign_is_no_value(tmp_path: Path, train: str, severities: list[str]) -> None:
    report = check(tmp_path, {"net.py": SPREAD, "train.py": train})
    assert [f.severity for f in report.findings if f.filename.endswith("net.py")] == severities


ALIASED = """
class Kernel(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.cuda()
kernel = Kernel.apply
"""


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, []),
        ({"other.py": "from net import kernel\n"}, []),
        ({"net.py": NET + ALIASED + "def unused(x):\n    return kernel(x)\n"}, []),
        ({"net.py": NET + ALIASED + "again = kernel\n"}, []),
        ({"net.py": NET + ALIASED + "made = [kernel]\n"}, [13]),
        ({"train.py": TRAIN + "    import net\n    net.kernel(1)\n"}, [13]),
        ({"train.py": TRAIN + "    from net import kernel\n    kernel(1)\n"}, [13]),
        ({"train.py": TRAIN + "    from net import *\n    kernel(1)\n"}, [13]),
        ({"train.py": TRAIN + "    from net import kernel as k\n    k(1)\n"}, [13]),
        ({"net.py": NET + ALIASED + "again = kernel\n", "other.py": "import net\nnet.again(1)\n"}, [13]),
        ({"net.py": NET.replace("return x\n", "return kernel(x)\n") + ALIASED}, [13]),
        ({"net.py": NET + ALIASED.replace("kernel =", "if torch.x:\n    kernel =")}, [13]),
    ],
)
def test_a_name_for_a_class_uses_it_only_where_it_is_used(
    tmp_path: Path, files: dict[str, str], expected: list[int]
) -> None:
    report = check(tmp_path, {"net.py": NET + ALIASED, **files})
    assert [row for row in rows(report) if row == 13] == expected
