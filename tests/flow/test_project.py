"""Names that lead through other files of the project."""

from __future__ import annotations

import pytest
from reading import argument, facts_in, guards, identity, uses

from xlamig.facts import ApiUse
from xlamig.flow import ProjectIndex, summary_of
from xlamig.syntax import module_from_text

SYNC = "torch.cuda.synchronize"
RENAMED = "from torch.cuda import synchronize as sync"


@pytest.mark.parametrize(
    ("source", "project"),
    [
        ("import cuda\ncuda.synchronize()", {"cuda.py": "def synchronize(): pass"}),
        ("from . import cuda\ncuda.synchronize()", {"cuda.py": "def synchronize(): pass"}),
        ("import util\nutil.sync()", {"util.py": "def sync(): pass"}),
        ("from util import autocast\nautocast('cuda')", {"util.py": "def autocast(x): pass"}),
        ("from util import torch\ntorch.cuda.synchronize()", {"util.py": "class torch: pass"}),
        ("from util import torch\ntorch.cuda.synchronize()", {"util.py": "import fake as torch"}),
        ("from a import sync\nsync()", {"a.py": "from b import sync", "b.py": "from a import sync"}),
        ("from a import *\nsync()", {"a.py": "from b import *", "b.py": "from a import *"}),
        ("from a import sync\nsync()", {"a.py": "from a import sync"}),
        ("from util import Unit\nUnit.cuda()", {"util.py": "class Unit:\n def cuda(): pass"}),
        ("import pkg.a\npkg.a.sync()", {"pkg/a.py": "def sync(): pass"}),
        ("import pkg.b\npkg.a.sync()", {"pkg/a.py": RENAMED, "pkg/b.py": ""}),  # nobody imported it
    ],
)
def test_a_project_module_of_that_name_is_no_torch(source: str, project: dict[str, str]) -> None:
    assert uses(source, filename="main.py", project=project) == []


def test_a_relative_import_never_means_torch() -> None:
    source = "from . import torch\ntorch.cuda.synchronize()"
    assert uses(source, filename="pkg/a.py") == []
    assert uses(source, filename="pkg/a.py", project={"pkg/torch.py": ""}) == []


def test_too_many_dots_lead_nowhere() -> None:
    assert uses("from ....torch import cuda\ncuda.synchronize()", filename="pkg/a.py") == []


def test_the_nearest_module_is_meant() -> None:
    project = {"scripts/a.py": "def sync(): pass", "a.py": RENAMED}
    source = "from a import sync\nsync()"
    assert uses(source, filename="scripts/b.py", project=project) == []
    assert uses(source, filename="b.py", project=project) == [SYNC, SYNC]  # the import and the call


def test_a_script_named_like_its_folder_hides_no_module_in_it() -> None:
    project = {"train/train.py": "import nets", "train/nets/net.py": RENAMED}
    assert (
        uses("from .net import sync\nsync()", filename="train/nets/__init__.py", project=project)
        == [SYNC] * 2
    )


def test_a_script_named_like_its_folder_is_the_nearest_module_of_that_name() -> None:
    project = {"train/train.py": "def sync(): pass", "train/__init__.py": RENAMED}
    assert uses("from train import sync\nsync()", filename="train/nets.py", project=project) == []


@pytest.mark.parametrize("source", ["import nets\nnets.sync()", "from nets import sync\nsync()"])
def test_a_module_named_like_its_package_imports_the_package(source: str) -> None:
    project = {"nets/__init__.py": f"{RENAMED}\nfrom nets.nets import *"}
    assert SYNC in uses(source, filename="nets/nets.py", project=project)
    assert uses(source, filename="nets/nets.py", project={"nets/__init__.py": "def sync(): pass"}) == []


def test_a_module_named_torch_does_not_hide_torch_from_itself() -> None:
    source = "import torch\ntorch.cuda.synchronize()\ndef synchronize(): pass"
    assert uses(source, filename="lib/torch.py") == [SYNC]


@pytest.mark.parametrize(
    ("filename", "source", "project"),
    [
        ("b.py", "import a\na.sync()", {"a.py": RENAMED}),
        ("b.py", "import a as c\nc.sync()", {"a.py": RENAMED}),
        ("b.py", "import a\na.sync()", {"a.py": "import torch\nsync = torch.cuda.synchronize"}),
        ("b.py", "import a\na.torch.cuda.synchronize()", {"a.py": "import torch"}),
        ("b.py", "from a import *\nsync()", {"a.py": RENAMED}),
        ("b.py", "from p import *\nsync()", {"p/__init__.py": "from .a import *", "p/a.py": RENAMED}),
        (
            "b.py",
            "from p import *\nsync()",
            {"p/__init__.py": "from .a import *", "p/a.py": "from .c import *", "p/c.py": RENAMED},
        ),
        ("b.py", "import p\np.sync()", {"p/__init__.py": "from .a import sync", "p/a.py": RENAMED}),
        ("b.py", "import lib.a as a\na.sync()", {"lib/a.py": RENAMED}),  # a folder without __init__
        ("b.py", "import lib.a\nlib.a.sync()", {"lib/a.py": RENAMED}),
        ("b.py", "import p.q.a\np.q.a.sync()", {"p/__init__.py": "", "p/q/a.py": RENAMED}),
        ("b.py", "def f():\n import lib.a\n lib.a.sync()", {"lib/a.py": RENAMED}),
        ("p/b.py", "from . import a\na.sync()", {"p/__init__.py": "", "p/a.py": RENAMED}),
        ("p/q/b.py", "from .. import a\na.sync()", {"p/a.py": RENAMED}),
        ("p/__init__.py", "from . import a\na.sync()", {"p/a.py": RENAMED}),
        ("src/p/b.py", "from p import a\na.sync()", {"src/p/__init__.py": "", "src/p/a.py": RENAMED}),
        ("scripts/b.py", "import a\na.sync()", {"scripts/a.py": RENAMED}),
        ("b.py", "import a\na.sync()", {"a.py": f"try:\n {RENAMED}\nexcept ImportError:\n sync = None"}),
        ("b.py", "def f():\n import a\n a.sync()", {"a.py": RENAMED}),
    ],
)
def test_a_name_is_followed_through_files(filename: str, source: str, project: dict[str, str]) -> None:
    assert uses(source, filename=filename, project=project) == [SYNC]


@pytest.mark.parametrize(
    ("test", "kinds"),
    [("not use_cuda", ""), ("other", ""), ("no_cuda", ""), ("debug", ""), ("use_cuda", "cuda")],
)
def test_a_guard_variable_of_another_module(test: str, kinds: str) -> None:
    util = """
        import torch
        use_cuda = torch.cuda.is_available()
        no_cuda = not torch.cuda.is_available()
        debug = False
        def other(): pass
    """
    source = f"import torch\nfrom util import *\nif {test}: torch.cuda.synchronize()"
    imported = source.replace("*", "use_cuda, no_cuda, debug, other")
    assert guards(imported, project={"util.py": util}) == [kinds]


def test_a_constant_of_another_module_is_known_but_not_sure() -> None:
    source = "import torch\nfrom cfg import where, flag\ntorch.load(f, where, flag=flag)"
    project = {"cfg.py": "where = 'cuda'\nflag = True"}
    value = argument(source, project=project)
    assert value is not None
    assert (value.kind, value.value) == ("constant", "cuda")
    flag = argument(source, "flag", project=project)
    assert flag is not None
    assert flag.kind == "expression"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("sys.path.append('core')", [SYNC]),
        ("sys.path.insert(0, os.path.join(os.path.dirname(__file__), 'core'))", [SYNC]),
        ("sys.path.extend(['lib', '../core'])", [SYNC]),
        ("here = os.getcwd()\nfolder = os.path.join(here, 'core')\nsys.path.append(folder)", [SYNC]),
        ("def add(folder):\n    sys.path.insert(0, folder)\nadd('core')", [SYNC]),
        ("def add(here, sub):\n    sys.path.append(os.path.join(here, sub))\nadd(root, 'core')", [SYNC]),
        ("sys.path.append('lib')", []),
        ("def add(folder):\n    print(folder, sys.path)\nadd('core')", []),
        ("def add(folder):\n    sys.path.append('lib')\nadd('core')", []),
        ("folder = os.path.join(folder, 'core')\nsys.path.append('lib')", []),
        ("sys.path.append('..')", []),
        ("sys.path.remove('core')", []),
        ("sys.argv.append('core')", []),
    ],
)
def test_a_script_imports_from_the_folders_that_it_adds(line: str, names: list[str]) -> None:
    source = f"import os, sys\n{line}\nfrom net import sync\nsync()"
    project = {"src/core/net.py": RENAMED, "src/core/lib.py": "def sync(): pass"}
    assert set(uses(source, filename="train.py", project=project)) == set(names)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ("import sys\nsys.path.append('core')", [SYNC]),
        ("import sys\nsys.path.append('lib')", []),
        ("import sys", []),
    ],
)
def test_a_script_imports_from_the_folders_that_an_imported_module_adds(paths: str, names: list[str]) -> None:
    source = "import _init_paths\nfrom net import sync\nsync()"
    other = "import sys\nsys.path.append('core')"
    project = {"src/core/net.py": RENAMED, "src/_init_paths.py": paths, "src/other.py": other}
    assert set(uses(source, filename="src/train.py", project=project)) == set(names)


def test_a_folder_that_a_script_adds_hides_no_module_beside_it() -> None:
    source = "import sys\nsys.path.append('core')\nfrom net import sync\nsync()"
    project = {"core/net.py": RENAMED, "net.py": "def sync(): pass"}
    assert uses(source, filename="train.py", project=project) == []


BASE = """
import torch
class Net(torch.nn.Module): pass
class Own(Net):
    def cuda(self): pass
class Last(Own): pass
"""


@pytest.mark.parametrize(
    ("receiver", "names"),
    [
        ("Own()", []),
        ("Last()", []),
        ("Net()", ["Module.cuda"]),
        ("Net", []),
    ],
)
def test_a_class_of_another_module(receiver: str, names: list[str]) -> None:
    source = f"from base import Net, Own, Last\n{receiver}.cuda()"
    assert uses(source, project={"base.py": BASE}) == names


@pytest.mark.parametrize(("base", "names"), [("Own", []), ("Last", []), ("Net", ["Module.cuda"])])
def test_inheritance_across_modules(base: str, names: list[str]) -> None:
    source = f"from base import {base}\nclass Mine({base}): pass\nMine().cuda()"
    assert uses(source, project={"base.py": BASE}) == names


def test_a_use_says_how_its_name_was_found() -> None:
    (use,) = facts_in("import util\nutil.sync()", ApiUse, project={"util.py": RENAMED})
    assert [why.message for why in use.reasons] == ["`util.sync` is `torch.cuda.synchronize`"]


def called_from_main(files: dict[str, str]) -> tuple[str, ...]:
    """Return the modules that `main.py` may run functions of, the nearest first."""
    interfaces = {}
    for name, text in files.items():
        module, package = identity(name)
        interfaces[module] = summary_of(module_from_text(text), text, module, package).interface
    return ProjectIndex(interfaces).called_from("main")


def test_what_defines_an_imported_name_is_nearer_than_what_its_package_collects() -> None:
    collected = "".join(f"from .part{i} import f as f{i}\n" for i in range(60))
    files = {f"lib/part{i}.py": "def f(x): return x" for i in range(60)} | {
        "lib/__init__.py": collected + "from .last import *\n",
        "lib/last.py": "from .deep import apply\n",
        "lib/deep.py": "from .inner import again\ndef apply(f, x): return f(x)\n",
        "lib/inner.py": "def again(x): return x\n",
        "main.py": "from lib import apply\n",
    }
    found = called_from_main(files)
    assert found[:3] == ("lib.deep", "lib", "lib.inner")
    assert len(found) == 40


def test_a_package_that_is_imported_whole_is_followed_in_order() -> None:
    files = {
        "lib/__init__.py": "from .a import f\nfrom .b import g\n",
        "lib/a.py": "f = 1\n",
        "lib/b.py": "def g(): pass\n",
        "main.py": "import lib\n",
    }
    assert called_from_main(files) == ("lib", "lib.a", "lib.b")
