from __future__ import annotations

import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlamig.config.settings import Settings
from xlamig.fix.context import FixContext
from xlamig.fix.edits import apply_edits
from xlamig.fix.imports import Imported, ensure_module, ensure_name
from xlamig.source.text import SourceText
from xlamig.syntax import module_from_text


def ask(text: str, module: str, name: str | None = None, use: str = "USE") -> tuple[Imported | None, str]:
    page = FixContext(SourceText("a.py", text), module_from_text(text), Settings())
    at = text.index(use)
    span = (at, at + len(use))
    found = ensure_name(page, module, name, span) if name else ensure_module(page, module, span)
    return found, apply_edits(text, found.edits) if found else text


@pytest.mark.parametrize(
    "text",
    [
        "torch_xla = None\nUSE\n",
        "def torch_xla(): pass\nUSE\n",
        "def f(torch_xla):\n    USE\n",
        "from mine import torch_xla\nUSE\n",
        "import mine as torch_xla\nUSE\n",
        "try:\n    import torch_xla\nexcept ImportError:\n    torch_xla = None\nUSE\n",
        "def f():\n    USE\n    import torch_xla\n",
    ],
)
def test_a_name_that_may_mean_something_else_is_refused(text: str) -> None:
    assert ask(text, "torch_xla")[0] is None


@pytest.mark.parametrize(
    "text",
    [
        "default_device = 1\nUSE\n",
        "def default_device(): ...\nUSE\n",
        "from other import default_device\nUSE\n",
        "from other import *\nUSE(default_device)\n",
        "def f(default_device):\n    USE\n",
    ],
)
def test_a_helper_name_that_is_taken_is_refused(text: str) -> None:
    assert ask(text, "xla_compat", "default_device")[0] is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import torch_xla\nUSE\n", "torch_xla"),
        ("import torch_xla as tx\nUSE\n", "tx"),
        ("import torch_xla.core.xla_model\nUSE\n", "torch_xla"),
        ("def f():\n    USE\nimport torch_xla\n", "torch_xla"),
    ],
)
def test_what_is_imported_is_used(text: str, name: str) -> None:
    assert ask(text, "torch_xla") == (Imported(name), text)


NEW = "import torch_xla"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("USE\n", f"{NEW}\nUSE\n"),
        ("USE", f"{NEW}\nUSE"),
        ("#!/usr/bin/env python\nUSE\n", f"#!/usr/bin/env python\n{NEW}\nUSE\n"),
        ('"""Doc."""\nUSE\n', f'"""Doc."""\n{NEW}\nUSE\n'),
        ('"""Doc."""\nfrom __future__ import annotations\nUSE\n',
         f'"""Doc."""\nfrom __future__ import annotations\n{NEW}\nUSE\n'),
        ("from __future__ import annotations\n\nimport os\n\nUSE\n",
         f"from __future__ import annotations\n\nimport os\n{NEW}\n\nUSE\n"),
        ("import os\nimport torch_xla.core.xla_model as xm\nUSE\n",
         f"import os\nimport torch_xla.core.xla_model as xm\n{NEW}\nUSE\n"),
        ("import os  # for paths\nUSE\n", f"import os  # for paths\n{NEW}\nUSE\n"),
        ("from os import (\n    path,\n)\nUSE\n", f"from os import (\n    path,\n)\n{NEW}\nUSE\n"),
        ("from os import path, \\\n    sep\nUSE\n", f"from os import path, \\\n    sep\n{NEW}\nUSE\n"),
        ("import os; import sys; x = 1\nUSE\n", f"import os; import sys; x = 1\n{NEW}\nUSE\n"),
        ("import os; x = [\n    1,\n]\nUSE\n", f"import os; x = [\n    1,\n]\n{NEW}\nUSE\n"),
        ("import os\r\nUSE\r\n", f"import os\r\n{NEW}\r\nUSE\r\n"),
        ("import os; USE", f"{NEW}\nimport os; USE"),
        ("def f():\n    USE\nimport os", f"{NEW}\ndef f():\n    USE\nimport os"),
        ("try:\n    import numpy\nexcept ImportError:\n    pass\nUSE\n",
         f"{NEW}\ntry:\n    import numpy\nexcept ImportError:\n    pass\nUSE\n"),
        ("if TYPE_CHECKING:\n    import torch_xla\nUSE\n",
         f"{NEW}\nif TYPE_CHECKING:\n    import torch_xla\nUSE\n"),
        ("import os\nif TYPE_CHECKING:\n    import numpy\nimport sys\nUSE\n",
         f"import os\nif TYPE_CHECKING:\n    import numpy\nimport sys\n{NEW}\nUSE\n"),
        ("import os\nos.environ['A'] = '1'\nimport torch\nUSE\n",
         f"import os\nos.environ['A'] = '1'\nimport torch\n{NEW}\nUSE\n"),
        ("import os\nos.environ['A'] = '1'\nUSE\n", f"import os\nos.environ['A'] = '1'\n{NEW}\nUSE\n"),
        ("import os\nos.environ.setdefault('A', '1')\nUSE\n",
         f"import os\nos.environ.setdefault('A', '1')\n{NEW}\nUSE\n"),
        ("import os\nrank = os.environ.get('RANK')\nif rank:\n    x = os.environ['A']\nUSE\n",
         f"import os\n{NEW}\nrank = os.environ.get('RANK')\nif rank:\n    x = os.environ['A']\nUSE\n"),
        ("import os\nimport torch\nx = 1\nos.environ['A'] = '1'\nUSE\n",
         f"import os\nimport torch\n{NEW}\nx = 1\nos.environ['A'] = '1'\nUSE\n"),
        ("import os\nif x:\n    os.environ['A'] = '1'\ndef f():\n    USE\nimport sys\n",
         f"import os\nif x:\n    os.environ['A'] = '1'\n{NEW}\ndef f():\n    USE\nimport sys\n"),
        ("USE\nimport os\n", f"{NEW}\nUSE\nimport os\n"),
    ],
)  # fmt: skip
def test_place_of_a_new_import(before: str, after: str) -> None:
    assert ask(before, "torch_xla")[1] == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from pkg.h import a\nUSE\n", "from pkg.h import a, b\nUSE\n"),
        ("from pkg.h import a as c  # why\nUSE\n", "from pkg.h import a as c, b  # why\nUSE\n"),
        ("from pkg.h import (\n    a,  # why\n)\nUSE\n", "from pkg.h import (\n    a, b,  # why\n)\nUSE\n"),
        ("from pkg.h import b\nUSE\n", "from pkg.h import b\nUSE\n"),
        ("from .h import a\nUSE\n", "from .h import a\nfrom pkg.h import b\nUSE\n"),
        ("USE\nfrom pkg.h import a\n", "from pkg.h import b\nUSE\nfrom pkg.h import a\n"),
        (
            "if x:\n    from pkg.h import a\nUSE\n",
            "from pkg.h import b\nif x:\n    from pkg.h import a\nUSE\n",
        ),
    ],
)
def test_a_name_joins_an_import_of_its_module(before: str, after: str) -> None:
    assert ask(before, "pkg.h", "b")[1] == after


def test_an_alias_of_the_helper_is_used() -> None:
    assert ask("from pkg.h import b as bb\nUSE\n", "pkg.h", "b")[0] == Imported("bb")


heads = st.lists(
    st.sampled_from(
        ['"""Doc."""', "import os", "import sys; import re", "from os import (\n  path,\n)", "x = 1  # one",
         "import a, \\\n  b", "try:\n\timport c\nexcept E:\n\tpass", "", "# comment", "import d;"]
    ),
    max_size=6,
)  # fmt: skip


@given(heads, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_one_line_is_added_and_asking_again_adds_none(parts: list[str], newline: str, final: bool) -> None:
    text = "\n".join([*parts, "def f():", "    USE"]) + ("\n" if final else "")
    text = text.replace("\n", newline)
    found, after = ask(text, "torch_xla")
    assert found is not None
    module_from_text(after)
    assert after.replace(f"import torch_xla{newline}", "", 1) == text or (
        after.replace(f"{newline}import torch_xla", "", 1) == text
    )
    assert ask(after, "torch_xla") == (Imported("torch_xla"), after)


def test_the_fixes_of_a_file_look_for_its_imports_once() -> None:
    def calls(count: int) -> int:
        """How many functions of `fix` are entered for as many uses as lines."""
        text = "import os\nimport m.n\n" + "".join(f"a{i}\n" for i in range(1000, 1000 + count))
        page = FixContext(SourceText("a.py", text), module_from_text(text), Settings())
        entered = 0

        def note(frame: FrameType, event: str, _: object) -> None:
            nonlocal entered
            entered += event == "call" and "/fix/" in frame.f_code.co_filename

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            for i in range(count):
                at = text.index(f"a{1000 + i}")
                assert ensure_name(page, "helper", "f", (at, at + 5))
                assert ensure_module(page, "m", (at, at + 5))
        finally:
            sys.setprofile(before)
        return entered

    assert calls(200) < 2.2 * calls(100)
