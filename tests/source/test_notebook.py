from __future__ import annotations

import ast
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from xlamig.source.magics import put_aside, put_back
from xlamig.source.notebook import NotANotebook, NotebookText, read_notebook


def code(*lines: str, **more: Any) -> dict[str, Any]:
    source = "\n".join(lines).splitlines(keepends=True)
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "outputs": [],
        "source": source,
        **more,
    }


def notebook(*cells: dict[str, Any], **metadata: Any) -> bytes:
    document = {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"


TEXT = {"cell_type": "markdown", "metadata": {}, "source": ["# torch.cuda\n", "text"]}


def read(data: bytes) -> NotebookText:
    return read_notebook(data, "a.ipynb")


# -------------------------------------------------------------- what is no code


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"{}", b'{"cells": 1}', b'{"cells": [1]}', b'\xff{"cells": []}', b"[" * 100_000],
)
def test_what_is_no_notebook_is_said(data: bytes) -> None:
    with pytest.raises(NotANotebook):
        read(data)


@pytest.mark.parametrize(
    "data",
    [
        notebook(),
        notebook(TEXT),
        notebook(code("%%bash", "echo 1")),
        notebook(code("%%writefile a.py", "x = 1")),
        notebook(code("x <- 1"), language_info={"name": "R"}),
        notebook(code("x"), kernelspec={"language": "julia"}),
        notebook(dict(TEXT, cell_type="raw")),
        notebook({"cell_type": "code", "source": 1}),
        notebook({"cell_type": "code"}),
    ],
)
def test_what_has_no_python_is_an_empty_module(data: bytes) -> None:
    found = read(data)
    assert found.text == "" and found.encode() == data


# ------------------------------------------------------------------- the module


def test_cells_follow_each_other_and_places_lie_in_them() -> None:
    found = read(notebook(code("import torch"), TEXT, code("x = 1", "torch.cuda.synchronize()")))
    ast.parse(found.text)
    start = found.text.index("torch.cuda")
    place = found.range(start, start + 10)
    assert (found.cell_at(start), place.location.row, place.location.column) == (3, 2, 1)
    assert found.cell_at(found.text.index("import")) == 1


def test_source_may_be_one_string() -> None:
    assert "y = 1" in read(notebook(code("x", source="x = 0\ny = 1"))).text


@pytest.mark.parametrize("first", ["%%time", "%%capture out", "%%timeit -n 1"])
def test_a_cell_magic_over_python_leaves_the_rest(first: str) -> None:
    found = read(notebook(code(first, "import torch")))
    ast.parse(found.text)
    assert "import torch" in found.text


# --------------------------------------------------------------------- magics

PYTHON = [
    "x = 1 % 2",
    "x = (a\n% b)",
    "x = '''\n%matplotlib\n!ls\n'''",
    "x %= 3",
    "assert a != b",
    "f'{x!r}'",
    "print('what?')",
    "# !ls",
    "cd = 1\nls - 1",
    "run in (1,\n 2)",
]
MAGIC = [
    "%matplotlib inline",
    "!pip install torch \\\n  torch_xla",
    "if True:\n    !ls",
    "?torch",
    "torch.cuda?",
    "torch.nn??",
    "files = !ls *.py",
    "r = %timeit -o f()",
    "%time x = 'it\\'s'",
    "!echo \"it's (\nx = 1",
    "x = '''\n%no magic\n'''\n%magic",
    "y = f(1,\n  2)\n!ls",
    "%%time\nx = 1",
    "# don't\n!ls",
    "cd folder/",
    "cd content/data\nx = 1",
    "pip install torch_xla",
    "if True:\n    mkdir -p a/b",
    "time model(x)",
    "run in (1,\n 2)\ncat file.txt",
]
WRONG = ["cdr folder/", "x y", "print 'a'", "run = (1\ny", "x = [cd folder/]"]


@pytest.mark.parametrize("cell", PYTHON)
def test_python_stays_as_it_is(cell: str) -> None:
    kept: list[str] = []
    assert put_aside(cell, kept) == cell and not kept


@pytest.mark.parametrize("cell", MAGIC)
def test_a_cell_with_magics_becomes_python_of_as_many_lines(cell: str) -> None:
    kept: list[str] = []
    aside = put_aside(cell, kept)
    ast.parse(aside)
    assert kept and aside.count("\n") == cell.count("\n")
    assert put_back(aside, kept) == cell


@pytest.mark.parametrize("cell", WRONG)
def test_what_ipython_does_not_run_either_stays_as_it_is(cell: str) -> None:
    assert put_aside(cell, []) == cell


@given(st.lists(st.sampled_from([*PYTHON, *MAGIC, "", "\tx", "é = '", "'''", "\\"])).map("\n".join))
@example("x = 1\r\n!ls\r\n")
def test_putting_back_is_the_inverse(cell: str) -> None:
    kept: list[str] = []
    assert put_back(put_aside(cell, kept), kept) == cell


# -------------------------------------------------------------------- writing

CELLS = st.lists(
    st.one_of(
        st.just(TEXT),
        st.lists(st.sampled_from([*MAGIC, *PYTHON, "π = 'π'", "x = 1\r\ny = 2"]), max_size=3).map(
            lambda lines: code(*lines)
        ),
        st.text(max_size=20).map(lambda text: code(source=text)),
    ),
    max_size=4,
)


@given(CELLS, st.sampled_from([None, 1, 4, "\t"]), st.booleans())
def test_unchanged_text_gives_the_same_bytes(cells: list[Any], indent: Any, ascii_only: bool) -> None:
    document = {"nbformat": 4, "cells": cells, "metadata": {"a": [1.0, 1e5, "\u4f8b"]}}
    data = json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert read(data).encode() == data


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("one_string", [False, True])
def test_only_the_changed_cell_is_written(indent: int | None, one_string: bool) -> None:
    output = {"output_type": "stream", "name": "stdout", "text": ["a = 1\n", "\u4f8b"]}
    cells = [code("!ls", "a = 1"), TEXT, code("a = 1", "b = 2", outputs=[output]), code("a = 1")]
    if one_string:
        cells = [dict(cell, source="".join(cell["source"])) for cell in cells]
    document = {"cells": cells, "metadata": {}}
    data = json.dumps(document, indent=indent, ensure_ascii=False).encode()
    found = read(data)
    at = found.text.index("b = 2")
    new = replace(found, text=found.text[:at] + "import c\nb = 3" + found.text[at + 5 :])
    written = json.loads(new.encode())
    source = written["cells"][2]["source"]
    assert "".join(source) == "a = 1\nimport c\nb = 3"
    cells[2]["source"] = source
    assert new.encode() == json.dumps(document, indent=indent, ensure_ascii=False).encode()


def test_what_is_put_above_everything_goes_to_the_first_cell_below_its_magic() -> None:
    for first, expected in ((["x = 1"], "import c\nx = 1"), (["%%time", "x = 1"], "%%time\nimport c\nx = 1")):
        found = read(notebook(TEXT, code(*first)))
        new = replace(found, text="import c\n" + found.text)
        assert "".join(json.loads(new.encode())["cells"][1]["source"]) == expected
        assert new.cell_at(0) == 2


def test_a_notebook_that_holds_our_marks_is_read_only() -> None:
    assert not read(notebook(code("# %% [xlamig cell 1]"))).exact
